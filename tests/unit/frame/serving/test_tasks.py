"""Calls that become tasks: the SDK's client, which takes tasks, and a server as a frame serves it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from pydantic import BaseModel

from mcpframe import FrameServer, Tasks
from mcpframe.frame.core.callers import CALLER_KEY
from mcpframe.frame.serving import kept_tasks
from mcpframe.frame.serving.server import equip, serve
from tests.support.polling import until
from tests.support.takes_tasks import Handle, TakesTasks, TaskClient, asks, cancelled, completed, failed

pytestmark = pytest.mark.anyio
SOON, PATIENCE = 0.05, 30.0
MODERN = "2026-07-28"


class World(TaskClient):
    """A server's tools, and a client."""

    def __init__(self, client: Client, server: FrameServer, gate: asyncio.Event, ended: list[str]) -> None:
        super().__init__(client)
        self.server = server
        self.gate = gate
        self.ended = ended


@asynccontextmanager
async def world(
    extension: Tasks | None = None, *, taking: bool = True, mode: str = MODERN, **more: Any
) -> AsyncIterator[World]:
    gate, ended = asyncio.Event(), []
    server = FrameServer("long", extensions=[extension or Tasks(after=SOON)])

    @server.tool()
    async def work(ctx: Context, fails: str = "", more: str = "") -> str:
        try:
            await gate.wait()
            if fails == "protocol":
                raise MCPError(code=-32000, message="no more" + more)
            if fails:
                raise ValueError(fails)
            return "done"
        finally:
            ended.append("work")

    @server.tool()
    async def report(ctx: Context) -> str:
        await ctx.report_progress(1, 3)
        await asyncio.sleep(SOON * 2)
        await ctx.report_progress(2, 3, "two of three")
        await gate.wait()
        return "done"

    @server.tool()
    async def ask(ctx: Context, first: bool = False) -> str:
        class Name(BaseModel):
            name: str

        if not first:
            await asyncio.sleep(SOON * 2)
        answers = [await ctx.elicit(f"{number}?", Name) for number in range(2)]
        return " ".join(answer.data.name if answer.action == "accept" else answer.action for answer in answers)

    @server.tool()
    async def large(size: int) -> str:
        await gate.wait()
        return "x" * (size // 2)  # as text and as structured content

    @server.tool()
    async def stubborn() -> None:
        with anyio.CancelScope(shield=True):
            await gate.wait()
        await asyncio.sleep(PATIENCE)

    equip(server)
    extensions = [TakesTasks()] if taking else []
    async with (
        asyncio.timeout(PATIENCE),
        Client(server, mode=mode, extensions=extensions, cache=None, **more) as client,
    ):
        yield World(client, server, gate, ended)


async def test_a_call_that_takes_long_is_a_task_that_outlives_its_request() -> None:
    async with world(mode="auto") as w:
        assert Tasks.identifier in (w.client.server_capabilities.extensions or {})
        handle = await w.begin("work")
        assert (handle["status"], handle["resultType"], handle["ttlMs"]) == ("working", "task", 3_600_000)
        id_ = handle["taskId"]
        assert len(id_) >= 32
        state = await w.ask("tasks/get", id_)
        assert (state["status"], state["resultType"], state["createdAt"]) == (
            "working",
            "complete",
            handle["createdAt"],
        )
        w.gate.set()
        state = await w.until(id_, completed)
        assert state["result"]["content"] == [{"type": "text", "text": "done"}]
        assert state["lastUpdatedAt"] >= state["createdAt"]
        assert (await w.ask("tasks/get", id_))["status"] == "completed"  # until it is forgotten


@pytest.mark.parametrize("times", [{"after": -1.0}, {"after": float("nan")}, {"kept": float("inf")}, {"kept": 0.0}])
def test_times_are_bounded(times: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="`kept`"):
        Tasks(**times)  # type: ignore[arg-type]


async def test_a_call_that_ends_soon_is_no_task() -> None:
    async with world(Tasks(after=PATIENCE)) as w:
        w.gate.set()
        assert (await w.client.call_tool("work", {})).content[0].text == "done"  # type: ignore[union-attr]


@pytest.mark.parametrize(("taking", "mode"), [(False, MODERN), (True, "legacy")])
async def test_a_client_that_takes_no_tasks_waits(taking: bool, mode: str) -> None:
    async with world(taking=taking, mode=mode) as w:
        call = asyncio.create_task(w.client.call_tool("work", {}))
        await asyncio.sleep(SOON * 3)
        assert not call.done()
        w.gate.set()
        assert (await call).content[0].text == "done"  # type: ignore[union-attr]
        for method in ("tasks/get", "tasks/cancel", "tasks/update"):
            with pytest.raises(MCPError) as refused:
                await w.ask(method, "x", inputResponses={})
            assert refused.value.error.code == (-32601 if mode == "legacy" else -32021)


async def test_a_tool_that_has_to_be_a_task_refuses_other_clients() -> None:
    async with world(Tasks(after=SOON, required=["work"]), taking=False) as w:
        with pytest.raises(MCPError) as refused:
            await w.client.call_tool("work", {})
        assert refused.value.error.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY
        assert refused.value.error.data == {"requiredCapabilities": {"extensions": {Tasks.identifier: {}}}}
        assert w.ended == []
    async with world(Tasks(after=SOON, required=["work"])) as w:
        await w.begin("work")


async def test_a_tools_error_is_a_result_and_an_error_of_the_protocol_none() -> None:
    async with world() as w:
        tool, protocol = await w.begin("work", fails="it broke"), await w.begin("work", fails="protocol")
        w.gate.set()
        state = await w.until(tool["taskId"], completed)
        assert state["result"]["isError"] is True
        assert "it broke" in state["result"]["content"][0]["text"]
        state = await w.until(protocol["taskId"], failed)
        assert (state["error"]["code"], state["error"]["message"], state["statusMessage"]) == (-32000, *["no more"] * 2)
        assert "result" not in state


async def test_a_task_is_cancelled_and_so_is_a_call_before_it_is_one() -> None:
    async with world() as w:
        handle = await w.begin("work")
        assert (await w.ask("tasks/cancel", handle["taskId"]))["resultType"] == "complete"
        await w.until(handle["taskId"], cancelled)
        assert w.ended == ["work"]
        await w.ask("tasks/cancel", handle["taskId"])  # once more changes nothing
        assert (await w.ask("tasks/get", handle["taskId"]))["status"] == "cancelled"
    async with world(Tasks(after=PATIENCE)) as w:
        call = asyncio.create_task(w.client.call_tool("work", {}))
        await asyncio.sleep(SOON)
        call.cancel()
        await until(lambda: w.ended)


async def test_progress_is_the_tasks_message() -> None:
    heard: list[Any] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with world() as w:
        found = await w.client.session.call_tool("report", {}, progress_callback=on_progress, allow_claimed=True)
        assert isinstance(found, Handle)
        state = await w.until(found.task_id, lambda state: "statusMessage" in state)
        assert (state["statusMessage"], state["status"]) == ("two of three", "working")
        assert heard == [(1, 3, None)]


NAME = {"action": "accept", "content": {"name": "Ada"}}


async def test_a_task_asks_by_its_state() -> None:
    async with world(elicitation_callback=_never) as w:
        id_ = (await w.begin("ask"))["taskId"]
        state = await w.until(id_, asks)
        [(first, request)] = state["inputRequests"].items()
        assert (request["method"], request["params"]["message"]) == ("elicitation/create", "0?")
        await w.ask("tasks/update", id_, inputResponses={"unknown": NAME})
        assert (await w.ask("tasks/get", id_))["status"] == "input_required"
        assert (await w.ask("tasks/update", id_, inputResponses={first: NAME}))["resultType"] == "complete"
        state = await w.until(id_, lambda state: asks(state) and first not in state["inputRequests"])
        [second] = state["inputRequests"]
        await w.ask("tasks/update", id_, inputResponses={first: NAME, second: {"action": "decline"}})
        state = await w.until(id_, completed)
        assert state["result"]["content"][0]["text"] == "Ada decline"


async def _never(*_: Any) -> types.ElicitResult:
    raise AssertionError("asked in place of a result")


async def test_while_a_client_is_asked_its_call_becomes_no_task() -> None:
    async def slowly(*_: Any) -> types.ElicitResult:
        await asyncio.sleep(SOON * 3)
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async with world(elicitation_callback=slowly) as w:
        answer = await w.client.call_tool("ask", {"first": True})
        assert answer.content[0].text == "Ada Ada"  # type: ignore[union-attr]


async def test_tasks_are_forgotten_after_their_time_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_tasks, "MOST", 2)
    async with world(Tasks(after=SOON, kept=SOON * 8)) as w:
        first, _ = await w.begin("work"), await w.begin("work", of="Bob")
        with pytest.raises(MCPError, match="2 calls"):
            await w.client.call_tool("work", {})
        assert w.ended == ["work"]  # the third
        await until(lambda: len(w.ended) == 3)
        with pytest.raises(MCPError, match="no such task") as unknown:
            await w.ask("tasks/get", first["taskId"])
        assert unknown.value.error.code == types.INVALID_PARAMS


async def test_a_task_answers_its_user_alone() -> None:
    async with world(elicitation_callback=_never) as w:
        id_ = (await w.begin("ask", of="Ada"))["taskId"]
        state = await w.until(id_, asks, of="Ada")
        [key] = state["inputRequests"]
        for other in ("Bob", "", "ada"):
            for method in ("tasks/get", "tasks/update", "tasks/cancel"):
                with pytest.raises(MCPError, match="no such task"):
                    await w.ask(method, id_, of=other, inputResponses={key: NAME})
        assert await w.ask("tasks/get", id_, of="Ada") == state


async def test_one_user_fills_the_place_of_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_tasks, "MOST_OF_USER", 2)
    async with world() as w:
        ids = [(await w.begin("work", of="Ada"))["taskId"] for _ in range(2)]
        with pytest.raises(MCPError, match="2 of your calls"):
            await w.begin("work", of="Ada")
        bobs = (await w.begin("work", of="Bob"))["taskId"]
        await w.ask("tasks/cancel", ids[0], of="Ada")
        await w.until(ids[0], cancelled, of="Ada")
        newest = (await w.begin("work", of="Ada"))["taskId"]  # in the place of one that has ended
        with pytest.raises(MCPError, match="newer ones"):
            await w.ask("tasks/get", ids[0], of="Ada")
        for id_, user in ((ids[1], "Ada"), (newest, "Ada"), (bobs, "Bob")):
            assert (await w.ask("tasks/get", id_, of=user))["status"] == "working"


async def test_results_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_tasks, "MOST_BYTES_OF_USER", 5000)
    monkeypatch.setattr(kept_tasks, "MOST_BYTES", 7000)
    async with world() as w:

        async def ended(size: int, user: str, condition: Any = completed) -> str:
            w.gate.clear()
            id_: str = (await w.begin("large", size=size, of=user))["taskId"]
            w.gate.set()
            await w.until(id_, condition, of=user)
            return id_

        async def is_kept(id_: str, user: str) -> bool:
            try:
                await w.ask("tasks/get", id_, of=user)
            except MCPError:
                return False
            return True

        too_large = await ended(5000, "Ada", failed)
        error = (await w.ask("tasks/get", too_large, of="Ada"))["error"]
        assert (error["code"], "at most 5,000" in error["message"]) == (types.INTERNAL_ERROR, True)
        first, second = await ended(1500, "Ada"), await ended(1500, "Ada")
        assert [await is_kept(id_, "Ada") for id_ in (too_large, first, second)] == [True, True, True]
        third = await ended(1500, "Ada")
        assert [await is_kept(id_, "Ada") for id_ in (too_large, first, second, third)] == [False, False, True, True]
        bobs = await ended(3600, "Bob")  # with Ada's two, more than all may have
        assert [await is_kept(second, "Ada"), await is_kept(third, "Ada")] == [False, True]
        assert await is_kept(bobs, "Bob")
        fourth = await ended(4500, "Ada")  # too much for her, and with Bob's for all
        assert [await is_kept(third, "Ada"), await is_kept(fourth, "Ada")] == [False, True]
        assert not await is_kept(bobs, "Bob")


async def test_an_error_is_bounded_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_tasks, "MOST_BYTES_OF_USER", 2000)
    async with world() as w:
        id_ = (await w.begin("work", fails="protocol", more="x" * 3000))["taskId"]
        w.gate.set()
        state = await w.until(id_, failed)
        assert (state["error"]["code"], len(state["error"]["message"])) == (-32000, 500)


async def test_a_task_that_is_cancelled_says_so_until_it_ends() -> None:
    async with world() as w:
        id_ = (await w.begin("stubborn"))["taskId"]
        await w.ask("tasks/cancel", id_)
        state = await w.ask("tasks/get", id_)
        assert (state["status"], "ends when its tool waits" in state["statusMessage"]) == ("working", True)
        w.gate.set()
        state = await w.until(id_, cancelled)
        assert state["statusMessage"] == "It was cancelled."


async def test_the_id_of_a_task_begins_with_the_name_of_who_has_passed_its_call_on() -> None:
    async with world() as w:
        for name, begins in (("b1", "b1-"), ("x" * 129, ""), (5, "")):
            meta: Any = {CALLER_KEY: {"by": name}}
            found = await w.client.session.call_tool("work", {}, allow_claimed=True, meta=meta)
            assert isinstance(found, Handle)
            assert found.task_id.startswith(begins)
            assert len(found.task_id) == len(begins) + 32


async def test_who_listens_gets_the_states_of_its_tasks() -> None:
    async with world() as w, listening(w.server) as listen:
        ids = [(await w.begin("report", of=user))["taskId"] for user in ("Ada", "Ada", "Bob")]
        await listen("Ada", [*ids, "unknown"])
        acknowledged = await listen.next()
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        assert acknowledged["params"]["notifications"] == {"toolsListChanged": True, "taskIds": ids[:2]}
        states = [await listen.next() for _ in range(2)]
        assert [each["method"] for each in states] == ["notifications/tasks"] * 2
        assert [each["params"]["taskId"] for each in states] == ids[:2]
        assert {each["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] for each in states} == {7}
        w.gate.set()
        ended: set[str] = set()
        while ended != set(ids[:2]):
            params = (await listen.next())["params"]
            assert params["taskId"] in ids[:2]
            if params["status"] == "completed":
                ended.add(params["taskId"])
                del params["_meta"]
                assert params == without_meta(await w.ask("tasks/get", params["taskId"], of="Ada"))
        await w.server.tools_changed()  # what the SDK sends continues
        assert (await listen.next())["method"] == "notifications/tools/list_changed"


@pytest.mark.parametrize(("ids", "takes", "code"), [(["x"], False, -32021), ("x", True, -32602), ([5], True, -32602)])
async def test_who_cannot_listen_to_tasks_gets_an_error(ids: Any, takes: bool, code: int) -> None:
    async with world() as w, listening(w.server) as listen:
        await listen("Ada", ids, takes=takes)
        assert (await listen.next())["error"]["code"] == code


def without_meta(state: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in state.items() if key not in ("_meta", "resultType")}


class Listen:
    """A client by hand, as the SDK's drops notifications of extensions."""

    def __init__(self, read: Any, write: Any) -> None:
        self._read = read
        self._write = write

    async def __call__(self, user: str, ids: Any, *, takes: bool = True) -> None:
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {Tasks.identifier: {}} if takes else {}},
            CALLER_KEY: {"user": user},
        }
        params = {"notifications": {"taskIds": ids, "toolsListChanged": True}, "_meta": meta}
        request = types.JSONRPCRequest(jsonrpc="2.0", id=7, method="subscriptions/listen", params=params)
        await self._write.send(SessionMessage(request))

    async def next(self) -> dict[str, Any]:
        message = (await self._read.receive()).message
        found: dict[str, Any] = message.model_dump(by_alias=True, mode="json", exclude_none=True)
        return found


@asynccontextmanager
async def listening(server: FrameServer) -> AsyncIterator[Listen]:
    async with create_client_server_memory_streams() as (client, (read, write)):
        serving = asyncio.create_task(serve(server, read, write))
        yield Listen(*client)
        serving.cancel()
        await asyncio.wait([serving])
