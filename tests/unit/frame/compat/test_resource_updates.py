"""Changed resources and tools are announced to clients of both protocol eras, outside of any request too."""

import warnings
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.subscriptions import ResourceUpdated, ToolsListChanged
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import ResourceUpdatedNotification, ToolListChangedNotification

from mcpframe.frame.serving.server import FrameServer, equip
from mcpframe.frame.serving.wrapped import wrap

SKY, SEA = "city://oslo/sky", "city://oslo/sea"


@pytest.fixture
def server() -> FrameServer:
    server: FrameServer = FrameServer("weather")

    @server.resource(SKY)
    def sky() -> str:
        return "blue"

    equip(server)
    return server


class Heard:
    """The updates that a client of the handshake era has heard of."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self._changed = anyio.Event()

    async def __call__(self, message: object) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self.uris.append(message.params.uri)
            self._changed.set()

    async def next(self) -> str:
        with anyio.fail_after(60):
            while not self.uris:
                self._changed = anyio.Event()
                await self._changed.wait()
        return self.uris.pop(0)


async def test_to_a_client_that_subscribed(server: FrameServer) -> None:
    heard = Heard()
    async with Client(server, mode="legacy", message_handler=heard) as client:
        resources = client.server_capabilities.resources
        assert resources
        assert resources.subscribe
        with warnings.catch_warnings(action="ignore", category=MCPDeprecationWarning):
            await server.resource_updated(SKY)  # nobody has subscribed yet
            await client.subscribe_resource(SKY)
            await client.subscribe_resource(SEA)
            await server.resource_updated(SEA)
            assert await heard.next() == SEA
            await client.unsubscribe_resource(SEA)
        await server.resource_updated(SEA)
        await server.resource_updated(SKY)
        assert await heard.next() == SKY
        assert heard.uris == []


async def test_a_closed_connection_is_told_nothing(server: FrameServer) -> None:
    heard = Heard()
    async with Client(server, mode="legacy", message_handler=heard) as client:
        with warnings.catch_warnings(action="ignore", category=MCPDeprecationWarning):
            await client.subscribe_resource(SKY)
    await server.resource_updated(SKY)
    assert heard.uris == []


async def test_to_a_client_that_listens(server: FrameServer) -> None:
    async with Client(server, mode="2026-07-28") as client, client.listen(resource_subscriptions=[SKY]) as events:
        await server.resource_updated(SEA)
        await server.resource_updated(SKY)
        with anyio.fail_after(60):
            assert await anext(aiter(events)) == ResourceUpdated(uri=SKY)


@pytest.fixture(params=["FrameServer", "wrap"])
def either(request: pytest.FixtureRequest, server: FrameServer) -> tuple[Any, MCPServer]:
    """A server with its list of tools, and its server object for clients."""
    if request.param == "FrameServer":
        return server, server
    plain = MCPServer("plain")
    return wrap(plain), plain


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_tools_that_come_and_go_and_those_that_hubs_may_cache(either: tuple[Any, MCPServer], mode: str) -> None:
    server, served = either
    heard: list[object] = []
    changed = anyio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            heard.append(message)
            changed.set()

    await server.tools_changed()  # nobody is there yet
    async with Client(served, mode=mode, message_handler=hear, cache=None) as client:
        server.add_tool(lambda: "blue", name="colour", description="The colour.", annotations={"readOnlyHint": True})
        server.add_tool(lambda: "x", name="other", description="Another one.")
        server.cache("colour")
        with anyio.fail_after(60):
            if mode == "legacy":
                await server.tools_changed()
                await changed.wait()
            else:
                async with client.listen(tools_list_changed=True) as events:
                    await server.tools_changed()
                    assert await anext(aiter(events)) == ToolsListChanged()
        assert [tool.name for tool in (await client.list_tools()).tools] == ["colour", "other"]
    assert len(heard) == 1
    await server.tools_changed()  # nobody is there any more
    assert len(heard) == 1


async def test_a_cached_tool_has_the_annotation_on_the_wire(either: tuple[Any, MCPServer]) -> None:
    server, served = either
    listed: list[Any] = []

    async def record(ctx: Any, call_next: Any) -> Any:
        result = await call_next(ctx)
        if ctx.method == "tools/list":
            listed.extend(result["tools"])
        return result

    served._lowlevel_server.middleware.insert(0, record)
    server.add_tool(lambda: "x", name="one", description="One.", annotations={"readOnlyHint": True})
    server.add_tool(lambda: "x", name="two", description="Two.")
    server.add_tool(lambda: "x", name="three", description="Three.")
    server.cache("one", "three", "one that comes later")
    async with Client(served, mode="legacy") as client:
        await client.list_tools()
    assert [tool.get("annotations") for tool in listed] == [
        {"readOnlyHint": True, "cache": True},
        None,
        {"cache": True},
    ]
