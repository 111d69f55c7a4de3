"""Several processes with one socket: values, questions and sessions, and what happens when one is killed."""

from __future__ import annotations

import os
import signal
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.server.subscriptions import ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPError

from tests.plain_python.programs import ERAS, FOLDER, KEY, PATIENCE, by_hand, connected, refused, served, value
from tests.support.takes_tasks import TakesTasks, TaskClient, cancelled

COUNTER = str(FOLDER / "counter.py")
SUBSCRIBE = types.SubscribeRequest(params=types.SubscribeRequestParams(uri="counter://n"))
WORKERS = (COUNTER, "--workers", "2", "--storage")


async def check_that_processes_answer_as_one(address: str) -> None:
    seen: Counter[int] = Counter()
    with anyio.fail_after(PATIENCE):
        while len(seen) < 2:  # until both accept
            async with connected(address) as client:
                seen[await value(client, "process")] += 1
    for era in ERAS:
        async with connected(address, era, answers={"age": 7}) as client:
            for _ in range(3):
                assert await value(client, "ask_twice") == "[7, 7] local"
                assert await value(client, "ask_before") == 7
            processes = {await value(client, "process") for _ in range(6)}
            assert len(processes) == 1 or era == ERAS[0]  # a session stays where it has begun
            assert await value(client, "variables") == []
    counted: list[int] = []

    async def count(client: Client) -> None:
        counted.append(await value(client, "count"))

    async with connected(address) as one, connected(address, "legacy") as other, anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(count, one)
            tasks.start_soon(count, other)
    assert sorted(counted) == list(range(1, 21))


async def check_that_handles_lead_to_their_process(address: str) -> None:
    async with connected(address, ERAS[0]) as client:
        handles: dict[str, str] = {}
        with anyio.fail_after(PATIENCE):
            while len(handles) < 2:  # until both keep something
                made = (await client.call_tool("keep", {})).structured_content
                assert made
                [page] = (await client.read_resource(made["uri"])).contents
                handles[getattr(page, "text", "")] = made["handle"]
        for process, handle in handles.items():
            for _ in range(4):
                assert await value(client, "kept_and_here", one=handle, other=handle) == [process] * 3
        one, other = handles.values()
        refused = await client.call_tool("kept_and_here", {"one": one, "other": other})
        assert refused.is_error
        assert "pass handles of one process in one call" in getattr(refused.content[0], "text", "")


async def check_that_tasks_lead_to_their_process(address: str) -> None:
    async with connected(address, ERAS[0], extensions=[TakesTasks()], cache=None) as client:
        tasks = TaskClient(client)
        ids = [(await tasks.begin("wait"))["taskId"] for _ in range(4)]
        for id_ in ids:
            for _ in range(4):
                state = await tasks.ask("tasks/get", id_)
                assert (state["taskId"], state["status"]) == (id_, "working")
        await tasks.ask("tasks/cancel", ids[0])
        await tasks.until(ids[0], cancelled)
        for unknown in (ids[1][:-1], ids[1].partition("-")[2], f"w{'0' * 12}-x", "../x-y"):
            with pytest.raises(MCPError, match="no such task"):
                await tasks.ask("tasks/get", unknown)


async def check_that_changes_reach_clients_of_other_processes(address: str) -> None:
    """Change something in each of both processes: a client with a session, and one that listens, learn of all."""
    sending, heard = anyio.create_memory_object_stream[type](100)

    async def hear(message: Any) -> None:
        sending.send_nowait(type(message))

    async with AsyncExitStack() as stack:
        stack.enter_context(sending)
        stack.enter_context(heard)
        session = await stack.enter_async_context(connected(address, "legacy", message_handler=hear))
        await session.session.send_request(SUBSCRIBE, types.EmptyResult)
        client = await stack.enter_async_context(connected(address, ERAS[0], cache=None))
        changes = client.listen(tools_list_changed=True, resource_subscriptions=["counter://n"])
        listening = await stack.enter_async_context(changes)
        processes: set[int] = set()
        with anyio.fail_after(PATIENCE):
            while len(processes) < 2:
                processes.add(await value(client, "change"))
                for stream, expected in (
                    (listening, {ResourceUpdated, ToolsListChanged}),
                    (heard, {types.ResourceUpdatedNotification, types.ToolListChangedNotification}),
                ):
                    while expected:
                        found = await anext(aiter(stream))
                        expected.discard(found if isinstance(found, type) else type(found))


async def test_processes_answer_as_one_and_lose_a_killed_ones_sessions_only(tmp_path: Path) -> None:
    with served(*WORKERS, f"sqlite:///{tmp_path}/values.db", MCPFRAME_STATE_KEYS=KEY) as address:
        await check_that_processes_answer_as_one(address)
        await check_that_handles_lead_to_their_process(address)
        await check_that_tasks_lead_to_their_process(address)
        await check_that_changes_reach_clients_of_other_processes(address)
        async with connected(address, "legacy") as client:
            killed = await value(client, "process")
            os.kill(killed, signal.SIGKILL)
            with pytest.raises(MCPError, match=r"Session not found|has ended"):
                await value(client, "process")
        for era in ERAS:
            async with connected(address, era, answers={"age": 7}) as client:
                assert await value(client, "ask_twice") == "[7, 7] local"
                assert await value(client, "process") != killed


@pytest.mark.extended
async def test_processes_share_a_postgresql(database: str) -> None:
    with served(*WORKERS, database, MCPFRAME_STATE_KEYS=KEY) as address:
        await check_that_processes_answer_as_one(address)
        await check_that_changes_reach_clients_of_other_processes(address)


async def test_a_state_of_a_process_that_has_ended_is_opened_by_another(tmp_path: Path) -> None:
    place = f"sqlite:///{tmp_path}/values.db"

    async def call(address: str, tool: str, **more: object) -> dict[str, object]:
        asked = {"elicitation": {"form": {}}}
        return await by_hand(address, "tools/call", asked, {"Mcp-Name": tool}, name=tool, arguments={}, **more)

    states = {}
    with served(*WORKERS, place, MCPFRAME_STATE_KEYS=KEY) as address:
        for tool in ("ask_before", "ask_twice"):
            result = (await call(address, tool))["result"]
            assert isinstance(result, dict)
            [question] = result["inputRequests"]
            answers = {question: {"action": "accept", "content": {"age": 7}}}
            states[tool] = {"requestState": result["requestState"], "inputResponses": answers}
    with served(COUNTER, "--storage", place, MCPFRAME_STATE_KEYS=KEY) as address:
        assert "error" in await call(address, "ask_before", **states["ask_before"])  # one process: no names
    with served(*WORKERS, place, MCPFRAME_STATE_KEYS=f"{KEY[::-1]} {KEY}") as address:
        result = (await call(address, "ask_before", **states["ask_before"]))["result"]
        assert isinstance(result, dict)
        assert result["structuredContent"] == {"result": 7}
        error = (await call(address, "ask_twice", **states["ask_twice"]))["error"]
        assert "make the call again" in str(error)


def test_several_processes_need_a_key() -> None:
    assert "set MCPFRAME_STATE_KEYS to the output of" in refused(COUNTER, "--workers", "2")
