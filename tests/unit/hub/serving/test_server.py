"""The hub as a server of the SDK: real clients of both eras, over streams."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import uvicorn
from mcp import Client, MCPError
from mcp.client._transport import TransportStreams
from mcp.client.subscriptions import ToolsListChanged
from mcp.shared.memory import create_client_server_memory_streams

from mcpframe.hub.core.messages import CallCancelled, ToolProgress
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.serving.server import HubServer
from tests.support.fake_hub import FakePort, HubWorld, hub_world, text_result, tool
from tests.support.settling import settled

SHOP = "https://shop.example/"
NAME = "website_tool_shop_example_tab1_add"
FULL = {
    **tool("add", description="Adds.", cache=True, idempotentHint=True),
    "title": "Add",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}}, "x-own": 1},
    "outputSchema": {"type": "object"},
    "_meta": {"a": 1},
    "own": [None],
}


class Served:
    """A hub with clients."""

    def __init__(self, world: HubWorld, server: HubServer) -> None:
        self.world = world
        self.server = server
        self.changes: dict[str, int] = {}
        self.heard: list[Any] = []

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[TransportStreams]:
        async with create_client_server_memory_streams() as (client, (read, write)), anyio.create_task_group() as tasks:
            tasks.start_soon(self.server.server.run, read, write, self.server.options)
            yield client
            tasks.cancel_scope.cancel()

    def client(self, mode: str, name: str = "one", url: str | None = None) -> Client:
        async def heard(message: Any) -> None:
            if getattr(message, "method", "") == "notifications/tools/list_changed":
                self.changes[name] = self.changes.get(name, 0) + 1

        return Client(url or self.streams(), mode=mode, message_handler=heard, cache=None)


@asynccontextmanager
async def served(options: HubOptions | None = None) -> AsyncIterator[Served]:
    async with hub_world(options) as world:
        server = HubServer(world.hub)
        async with server.running():
            yield Served(world, server)


async def happens(condition: Any) -> None:
    with anyio.fail_after(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0)


MODES = ["legacy", "auto"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_lists_and_calls_the_tools_of_pages_as_they_have_them(mode: str) -> None:
    result = {"content": [{"type": "text", "text": "5"}], "structuredContent": {"sum": 5}, "_meta": {"b": 2}, "own": 1}
    async with served() as hub, hub.client(mode) as client:
        port = hub.world.page(1, SHOP, FULL)
        [listed] = (await client.list_tools()).tools
        assert (listed.name, listed.title, listed.description) == (NAME, "[shop.example] Add", "[shop.example] Adds.")
        assert listed.input_schema == FULL["inputSchema"]
        assert (listed.output_schema, listed.meta) == (FULL["outputSchema"], {"a": 1})
        assert listed.annotations is not None
        assert listed.annotations.idempotent_hint
        calling = asyncio.create_task(client.call_tool(NAME, {"a": 2}))
        await happens(lambda: port.calls)
        assert port.calls[0].arguments == {"a": 2}
        port.answers(result)
        called = await calling
        assert called.structured_content == {"sum": 5}
        assert called.meta is not None
        assert called.meta["b"] == 2
        assert not called.is_error


@pytest.mark.parametrize("mode", MODES)
async def test_the_first_list_waits_for_the_tabs_that_were_open_at_the_start(mode: str) -> None:
    world = HubWorld(HubOptions(allows=lambda url: "denied" not in url))
    world.tabs.urls = {1: SHOP, 2: "https://none.example/", 3: "https://denied.example/", 4: "about:blank"}
    here = Served(world, HubServer(world.hub))
    async with world.hub.running(), here.server.running(), here.client(mode) as client:
        waiting = asyncio.create_task(client.list_tools())
        await world.clock.pass_(1)
        other = world.page(2, "https://none.example/", tool("other"))
        await settled()
        assert not waiting.done()
        world.page(1, SHOP, FULL)
        assert {each.name for each in (await waiting).tools} == set(world.names)
        assert len(world.names) == 2
        # What comes or goes later is not a reason to wait.
        world.close(other)
        world.tabs.urls[5] = "https://late.example/"
        assert len((await client.list_tools()).tools) == 1


@pytest.mark.parametrize("mode", MODES)
async def test_no_list_waits_for_longer_than_some_seconds(mode: str) -> None:
    world = HubWorld()
    world.tabs.urls = {1: SHOP}
    here = Served(world, HubServer(world.hub))
    async with world.hub.running(), here.server.running(), here.client(mode) as client:
        waiting = asyncio.create_task(client.list_tools())
        await settled()
        await world.clock.pass_(HubOptions().first_seconds)
        assert not (await waiting).tools
        world.page(1, SHOP, FULL)
        assert [each.name for each in (await client.list_tools()).tools] == [NAME]


class _Wire:
    """A client without an SDK: what is said is seen as it is."""

    def __init__(self, hub: Served) -> None:
        self._hub = hub
        self._ids = iter(range(1, 1000))

    async def ask(self, streams: Any, method: str, params: Any = None) -> Any:
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        read, write = streams
        id_ = next(self._ids)
        message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}}
        await write.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))
        while True:
            got = (await read.receive()).message.model_dump(by_alias=True, exclude_unset=True)
            if got.get("id") == id_:
                return got


INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


@pytest.mark.parametrize("first", ["initialize", "server/discover"])
async def test_nothing_of_a_page_is_lost_on_the_wire(first: str) -> None:
    params = INITIALIZE if first == "initialize" else ENVELOPE
    more = {} if first == "initialize" else ENVELOPE
    result = {"content": [{"type": "text", "text": "5", "own": 1}], "own": [None]}
    async with served() as hub, hub.streams() as streams:
        port = hub.world.page(1, SHOP, FULL).registers(FULL, browser={"cacheSupported": True})
        wire = _Wire(hub)
        begun = (await wire.ask(streams, first, params))["result"]
        assert begun["capabilities"]["browser"] == {"cacheSupported": True}
        assert begun["capabilities"]["tools"]["listChanged"] is True
        listed = (await wire.ask(streams, "tools/list", more))["result"]["tools"]
        assert listed == [{**FULL, "name": NAME, "title": "[shop.example] Add", "description": "[shop.example] Adds."}]
        calling = asyncio.create_task(wire.ask(streams, "tools/call", {"name": NAME, "arguments": {}, **more}))
        await happens(lambda: port.calls)
        port.answers(result)
        called = (await calling)["result"]
        assert {key: called[key] for key in result} == result


@pytest.mark.parametrize("mode", MODES)
async def test_failures_are_results_and_errors_of_tabs_carry_their_reason(mode: str) -> None:
    async with served(HubOptions(request_seconds=5)) as hub, hub.client(mode) as client:
        port = hub.world.page(1, SHOP, tool("add"))

        async def outcome(act: Any) -> Any:
            calls = len(port.calls)
            calling = asyncio.create_task(client.call_tool(NAME, {}))
            await happens(lambda: len(port.calls) > calls)
            await act()
            try:
                return await calling
            except MCPError as error:
                return error.code, error.data["reason"], error.data["mayHaveRun"]

        async def fail() -> None:
            port.answers("no")

        async def lie() -> None:
            port.answers({"content": "no list"})

        async def close() -> None:
            hub.world.close(port)

        failed = await outcome(fail)
        assert (failed.is_error, failed.content[0].text) == (True, "no")
        lied = await outcome(lie)
        assert lied.is_error
        assert await outcome(lambda: hub.world.clock.pass_(5)) == (-32001, "RequestTimeout", True)
        assert await outcome(close) == (-32001, "TabClosed", True)
        with pytest.raises(MCPError) as caught:
            await client.call_tool(NAME, {})
        assert (caught.value.code, caught.value.data["reason"]) == (-32001, "TabNotFound")
        with pytest.raises(MCPError) as caught:
            await client.call_tool("nothing", {})
        assert caught.value.code == -32602


async def test_each_of_many_clients_is_notified_and_only_when_something_has_changed() -> None:
    async with served() as hub, AsyncExitStack() as stack:
        for number in range(3):
            await stack.enter_async_context(hub.client("legacy", str(number)))
        modern = await stack.enter_async_context(hub.client("auto", "modern"))
        subscription = await stack.enter_async_context(modern.listen(tools_list_changed=True))
        port = hub.world.page(1, SHOP, tool("add"))
        everyone = {"0": 1, "1": 1, "2": 1}
        await happens(lambda: {key: hub.changes.get(key) for key in everyone} == everyone)
        with anyio.fail_after(60):
            assert await anext(aiter(subscription)) == ToolsListChanged()
        port.registers(tool("add"))
        await settled()
        assert {key: hub.changes.get(key) for key in everyone} == everyone
        for number in range(5):
            port.registers(tool(f"t{number}"))
        await happens(lambda: all(hub.changes[key] > 1 for key in everyone))
        await settled()
        assert all(hub.changes[key] <= 3 for key in everyone)  # several changes at once are one, or two


@pytest.mark.parametrize("mode", MODES)
async def test_progress_and_cancellation_go_through_to_the_page(mode: str) -> None:
    async with served() as hub, hub.client(mode) as client:
        port = hub.world.page(1, SHOP, tool("add"))
        heard: list[Any] = []

        async def progress(value: float, total: float | None, message: str | None) -> None:
            heard.append((value, total, message))

        calling = asyncio.create_task(client.call_tool(NAME, {}, progress_callback=progress))
        await happens(lambda: port.calls)
        assert port.calls[0].progress
        port.says(ToolProgress(port.calls[0].id, 1, 2, "half"))
        port.answers(text_result("done"))
        await calling
        await happens(lambda: heard)
        assert heard == [(1, 2, "half")]
        calling = asyncio.create_task(client.call_tool(NAME, {}))
        await happens(lambda: len(port.calls) == 2)
        assert not port.calls[1].progress
        calling.cancel()
        await asyncio.wait({calling})
        await happens(lambda: isinstance(port.heard[-1], CallCancelled))
        assert port.heard[-1].id == port.calls[1].id


async def test_clients_over_http_are_served_and_notified_as_well() -> None:
    """The SDK's own application, as a home of the hub would mount it."""
    async with served() as hub:
        app = hub.server.server.streamable_http_app()
        config = uvicorn.Config(app, port=0, log_level="critical", lifespan="on", ws="none")
        with socket.create_server(("127.0.0.1", 0)) as listener:
            uvicorn_server = uvicorn.Server(config)
            uvicorn_server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
            serving = asyncio.create_task(uvicorn_server.serve([listener]))
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
            try:
                async with hub.client("legacy", "http", url) as client:
                    assert client.server_capabilities.tools is not None
                    assert client.server_capabilities.tools.list_changed
                    port = hub.world.page(1, SHOP, tool("add"))
                    with anyio.fail_after(120):
                        while "http" not in hub.changes:  # what comes before the client's own stream is lost
                            for more in ([tool("more")], []):
                                port.registers(tool("add"), *more)
                                await asyncio.sleep(0.1)
                    assert [each.name for each in (await client.list_tools()).tools] == [NAME]
                    calling = asyncio.create_task(client.call_tool(NAME, {}))
                    with anyio.fail_after(120):
                        while not port.calls:  # noqa: ASYNC110
                            await asyncio.sleep(0.01)
                    port.answers(text_result("over http"))
                    [content] = (await calling).content
                    assert getattr(content, "text", None) == "over http"
            finally:
                uvicorn_server.should_exit = True
                await asyncio.wait([serving])


async def test_a_client_that_leaves_is_forgotten() -> None:
    async with served() as hub:
        async with hub.client("legacy"):
            pass
        await settled()
        assert not hub.server._bus._listeners
        port = hub.world.page(1, SHOP, tool("add"))
        assert isinstance(port, FakePort)
        await settled()


async def test_one_tool_that_strict_clients_reject_does_not_spoil_the_list() -> None:
    async with served() as hub, hub.client("legacy") as client:
        hub.world.page(1, SHOP, tool("add"), {"name": "bad", "inputSchema": {"type": "array"}}, {"name": "worse"})
        assert [each.name for each in (await client.list_tools()).tools] == [NAME]
