"""A server in a notebook, over the messages of a widget: the official client, on a comm that is two functions."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import pytest
from mcp import ClientSession
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import ElicitResult, jsonrpc_message_adapter
from pydantic import BaseModel

from mcpframe import FrameServer, hosts
from mcpframe.frame.core.errors import EntryError, SdkError
from mcpframe.kit.notebook.comm_sessions import MOST_SESSIONS, CommSessions


class Name(BaseModel):
    name: str


def server_of(kind: type[Any]) -> Any:
    server = kind("notebook")

    @server.tool()  # type: ignore[untyped-decorator]
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool()  # type: ignore[untyped-decorator]
    async def greet(ctx: Context) -> str:
        answer = await ctx.elicit("Who?", Name)
        return f"Hello, {answer.data.name}" if answer.action == "accept" else answer.action

    @server.tool()  # type: ignore[untyped-decorator]
    async def wait() -> None:
        await anyio.sleep_forever()

    return server


class Comm:
    """The widget's messages, between a kernel and its views."""

    def __init__(self, server: object) -> None:
        self.sessions = CommSessions(server, self._send)
        self.heard: list[Mapping[str, Any]] = []
        self.views: dict[str, Any] = {}

    def _send(self, content: Mapping[str, Any]) -> None:
        self.heard.append(content)
        view = self.views.get(content["session"])
        if view and "message" in content:
            message = jsonrpc_message_adapter.validate_python(content["message"], by_name=False)
            view.send_nowait(SessionMessage(message))

    @asynccontextmanager
    async def client(self, key: str) -> AsyncIterator[ClientSession]:
        """Connect a view, as static/notebook/transport.js does."""
        self.views[key], read = anyio.create_memory_object_stream[Any](100)
        write, out = anyio.create_memory_object_stream[Any](0)

        async def pump() -> None:
            async for item in out:
                body = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
                self.sessions.receive({"session": key, "message": body})

        async def answer(context: object, params: Any) -> ElicitResult:
            return ElicitResult(action="accept", content={"name": key})

        self.sessions.receive({"session": key, "open": True})
        async with self.views[key], read, write, out, anyio.create_task_group() as tasks:
            tasks.start_soon(pump)
            async with ClientSession(read, write, elicitation_callback=answer) as session:
                await session.initialize()
                yield session
            tasks.cancel_scope.cancel()
        del self.views[key]
        self.sessions.receive({"session": key, "close": True})


@pytest.mark.anyio
@pytest.mark.parametrize("kind", [FrameServer, MCPServer])
async def test_each_view_is_a_client(kind: type[Any]) -> None:
    comm = Comm(server_of(kind))
    async with comm.client("Ada") as first, comm.client("Bob") as second:
        assert [tool.name for tool in (await first.list_tools()).tools] == ["add", "greet", "wait"]
        assert (await first.call_tool("add", {"a": 1, "b": 2})).structured_content == {"result": 3}
        for session, name in ((first, "Ada"), (second, "Bob")):
            [text] = (await session.call_tool("greet", {})).content
            assert text.text == f"Hello, {name}"  # type: ignore[union-attr]
        assert comm.sessions.count == 2
    with anyio.fail_after(5):
        while comm.sessions.count:
            await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
async def test_a_view_that_goes_ends_its_calls_and_others_stay() -> None:
    comm = Comm(server_of(MCPServer))
    async with comm.client("stays") as stays, anyio.create_task_group() as tasks:
        async with comm.client("goes") as goes:

            async def hang() -> None:
                with suppress(MCPError):  # as its client closes
                    await goes.call_tool("wait", {})

            tasks.start_soon(hang)
            await anyio.wait_all_tasks_blocked()
            comm.sessions.receive({"session": "goes", "close": True})
            with anyio.fail_after(5):
                while comm.sessions.count > 1:
                    await anyio.lowlevel.checkpoint()
        assert (await stays.call_tool("add", {"a": 1, "b": 1})).structured_content == {"result": 2}
    comm.sessions.close()


@pytest.mark.anyio
@pytest.mark.parametrize(
    "content",
    [None, [], "text", {}, {"session": 1, "open": True}, {"session": "", "open": True}, {"session": "x" * 101}],
)
async def test_what_is_no_message_of_a_view_is_ignored(content: object) -> None:
    comm = Comm(server_of(MCPServer))
    comm.sessions.receive(content)
    comm.sessions.receive({"session": "unknown", "message": {"jsonrpc": "2.0", "id": 1, "method": "ping"}})
    comm.sessions.receive({"session": "unknown", "close": True})
    assert (comm.sessions.count, comm.heard) == (0, [])


@pytest.mark.anyio
async def test_the_oldest_of_too_many_sessions_ends() -> None:
    comm = Comm(server_of(MCPServer))
    for number in range(MOST_SESSIONS + 1):
        comm.sessions.receive({"session": f"view {number}", "open": True})
    await anyio.wait_all_tasks_blocked()
    assert comm.sessions.count == MOST_SESSIONS
    comm.sessions.receive({"session": "view 5", "message": {"jsonrpc": "1.0"}})  # an error of the server's own
    await anyio.wait_all_tasks_blocked()
    comm.sessions.close()
    await anyio.wait_all_tasks_blocked()
    assert comm.sessions.count == 0


def test_what_is_no_server() -> None:
    with pytest.raises(EntryError):
        CommSessions(object(), lambda content: None)


def test_a_missing_anywidget_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(SdkError, match=r"pip install .*notebook"):
        hosts.playground(server_of(MCPServer))
