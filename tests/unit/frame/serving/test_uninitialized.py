"""Clients that never initialize: those of the TypeScript SDK 1.x whose transport has a `sessionId`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
import mcp_types as types
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, ListRoots, MCPServer, Resolve
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import BaseModel

from mcpframe import FrameServer
from mcpframe.frame.serving.server import serve

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Wire:
    """A client's end of the wire: it sends what it is told to, and nothing by itself."""

    def __init__(self, read: Any, write: Any) -> None:
        self.read, self.write = read, write
        self.heard: list[str] = []
        self._last = 0

    async def send(self, **message: Any) -> None:
        await self.write.send(SessionMessage(jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **message})))

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return `result` or `error` of the answer."""
        self._last += 1
        await self.send(id=self._last, method=method, params=params)
        while True:
            message = (await self.read.receive()).message.model_dump(by_alias=True, exclude_unset=True)
            if message.get("id") == self._last and "method" not in message:
                return message["result"] if "result" in message else {"error": message["error"]}
            self.heard.append(message["method"])
            if "id" in message:
                error = {"code": types.METHOD_NOT_FOUND, "message": "Method not found"}
                await self.send(id=message["id"], error=error)


@asynccontextmanager
async def wired(server: object) -> AsyncIterator[Wire]:
    with anyio.fail_after(60):
        async with create_client_server_memory_streams() as (client, served), anyio.create_task_group() as tasks:
            tasks.start_soon(serve, server, *served)
            yield Wire(*client)
            tasks.cancel_scope.cancel()


def with_tools(server: MCPServer) -> MCPServer:
    @server.tool()
    def greet(name: str) -> str:
        print("greeting")
        return f"Hello, {name}"

    @server.tool()
    async def version(ctx: Context) -> str:
        return f"{ctx.session.protocol_version} {ctx.session.client_params}"

    @server.tool()
    async def roots(ctx: Context) -> str:
        return str(await ctx.session.list_roots())

    @server.tool()
    async def ask_first(found: Annotated[types.ListRootsResult, Resolve(ask_for_roots)]) -> str:
        return str(found)

    @server.tool()
    async def sample(ctx: Context) -> str:
        message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="Hi"))
        return str(await ctx.session.create_message([message], max_tokens=1))

    @server.tool()
    async def elicit(ctx: Context) -> str:
        return str(await ctx.elicit("Who?", Name))

    return server


class Name(BaseModel):
    name: str


async def ask_for_roots() -> ListRoots:
    return ListRoots()


def lowlevel() -> Server:
    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="greet", input_schema={"type": "object"})])

    async def call(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        text = f"Hello, {(params.arguments or {})['name']}"
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return Server("s", on_list_tools=list_tools, on_call_tool=call)


MAKERS: dict[str, Callable[[], object]] = {
    "FrameServer": lambda: with_tools(FrameServer("s")),
    "MCPServer": lambda: with_tools(MCPServer("s")),
    "lowlevel": lowlevel,
}
each_server = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@each_server
async def test_a_client_that_never_initializes_is_served(make):
    async with wired(make()) as wire:
        assert "greet" in [tool["name"] for tool in (await wire.ask("tools/list"))["tools"]]
        result = await wire.ask("tools/call", name="greet", arguments={"name": "you"})
        assert result["content"] == [{"type": "text", "text": "Hello, you"}]


@each_server
@pytest.mark.parametrize("before", [(), ("ping",), ("tools/list",)], ids=str)
async def test_initialize_works_whenever_it_comes(make, before):
    async with wired(make()) as wire:
        for method in before:
            assert "error" not in await wire.ask(method)
        assert (await wire.ask("initialize", **INITIALIZE))["protocolVersion"] == "2025-06-18"
        await wire.send(method="notifications/initialized")
        result = await wire.ask("tools/call", name="greet", arguments={"name": "you"})
        assert result["content"] == [{"type": "text", "text": "Hello, you"}]


async def test_the_revision_is_the_newest_with_a_handshake_until_one_is_agreed():
    async with wired(MAKERS["FrameServer"]()) as wire:

        async def version() -> str:
            return (await wire.ask("tools/call", name="version", arguments={}))["content"][0]["text"]

        assert await version() == "2025-11-25 None"
        await wire.ask("initialize", **INITIALIZE)
        assert (await version()).startswith("2025-06-18 ")


async def test_such_a_client_may_ask_for_logs_and_prints():
    async with wired(MAKERS["FrameServer"]()) as wire:
        assert "error" not in await wire.ask("logging/setLevel", level="info")
        await wire.ask("tools/call", name="greet", arguments={"name": "you"})
        assert wire.heard == ["notifications/message"]


@pytest.mark.parametrize(
    ("tool", "asked"), [("roots", "roots/list"), ("sample", "sampling/createMessage"), ("elicit", "elicitation/create")]
)
async def test_such_a_client_is_asked_and_what_it_cannot_answer_is_an_error_that_says_so(tool, asked):
    async with wired(MAKERS["FrameServer"]()) as wire:
        result = await wire.ask("tools/call", name=tool, arguments={})
        assert "Method not found" in str(result)
        assert wire.heard == [asked]


async def test_what_needs_capabilities_that_nobody_declared_is_an_error_that_says_so():
    async with wired(MAKERS["FrameServer"]()) as wire:
        error = (await wire.ask("tools/call", name="ask_first", arguments={}))["error"]
        assert "roots" in str(error)
        assert wire.heard == []


@pytest.mark.parametrize("method", ["ping", "server/discover"])
async def test_what_comes_before_a_handshake_anyway_begins_no_session(method):
    """`server/discover` is a probe of clients that know both eras; without an envelope it is none of this era."""
    server = FrameServer("s")
    seen: list[bool] = []

    async def look(ctx: Any, call_next: Any) -> Any:
        seen.append(ctx.session._connection.initialize_accepted)
        return await call_next(ctx)

    server.middleware.append(look)
    async with wired(server) as wire:
        answer = await wire.ask(method)
        assert ("error" in answer) is (method == "server/discover")
    assert seen == [False]


async def test_a_request_with_an_envelope_needs_no_handshake_and_one_without_is_still_refused_after_it():
    async with wired(MAKERS["FrameServer"]()) as wire:
        assert (await wire.ask("tools/list", _meta=ENVELOPE))["resultType"] == "complete"
        assert (await wire.ask("tools/list"))["error"]["code"] == types.INVALID_PARAMS
