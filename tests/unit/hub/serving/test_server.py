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
from mcp.client.subscriptions import ResourcesListChanged, ToolsListChanged
from mcp.shared.memory import create_client_server_memory_streams

from mcpframe.hub.core.messages import CallCancelled, ToolProgress
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.serving.calls import client_origin
from mcpframe.hub.serving.server import HubServer
from mcpframe.hub.serving.tasks import HubTasks
from tests.support.fake_hub import FakePort, HubWorld, hub_world, text_result, tool
from tests.support.polling import until
from tests.support.settling import settled
from tests.support.takes_tasks import TakesTasks, TaskClient, cancelled, completed, failed

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

    def client(self, mode: str, name: str = "one", url: str | None = None, **options: Any) -> Client:
        async def heard(message: Any) -> None:
            if getattr(message, "method", "") == "notifications/tools/list_changed":
                self.changes[name] = self.changes.get(name, 0) + 1

        return Client(url or self.streams(), mode=mode, message_handler=heard, cache=None, **options)


@asynccontextmanager
async def served(options: HubOptions | None = None) -> AsyncIterator[Served]:
    async with hub_world(options) as world:
        server = HubServer(world.hub)
        async with server.running():
            yield Served(world, server)


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
        await until(lambda: port.calls)
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
        await until(lambda: port.calls)
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
            await until(lambda: len(port.calls) > calls)
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
        await until(lambda: {key: hub.changes.get(key) for key in everyone} == everyone)
        with anyio.fail_after(60):
            assert await anext(aiter(subscription)) == ToolsListChanged()
        port.registers(tool("add"))
        await settled()
        assert {key: hub.changes.get(key) for key in everyone} == everyone
        for number in range(5):
            port.registers(tool(f"t{number}"))
        await until(lambda: all(hub.changes[key] > 1 for key in everyone))
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
        await until(lambda: port.calls)
        assert port.calls[0].progress
        port.says(ToolProgress(port.calls[0].id, 1, 2, "half"))
        port.answers(text_result("done"))
        await calling
        await until(lambda: heard)
        assert heard == [(1, 2, "half")]
        calling = asyncio.create_task(client.call_tool(NAME, {}))
        await until(lambda: len(port.calls) == 2)
        assert not port.calls[1].progress
        calling.cancel()
        await asyncio.wait({calling})
        await until(lambda: isinstance(port.heard[-1], CallCancelled))
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


# Resources

NOTE = {"uri": "notes://one", "name": "one", "mimeType": "text/plain", "_meta": {"a": 1}, "own": [None]}
KEPT = {"uriTemplate": "kept:///{handle}{?offset,limit}", "name": "kept"}
READ = {"contents": [{"uri": "notes://one", "text": "hello", "own": 1}], "_meta": {"b": 2}, "own": 1}


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_lists_and_reads_the_resources_of_pages(mode: str) -> None:
    async with served(HubOptions(request_seconds=5)) as hub, hub.client(mode) as client:
        port = hub.world.page(1, SHOP).registers(tool("add"), resources=[NOTE], templates=[KEPT])
        assert client.server_capabilities.resources is not None
        [listed] = (await client.list_resources()).resources
        [template] = (await client.list_resource_templates()).resource_templates
        assert (listed.uri, listed.name) == ("website://shop.example/tab1/notes://one", "[shop.example] one")
        assert template.uri_template == "website://shop.example/tab1/kept:///{handle}{?offset,limit}"

        async def read(uri: str, answer: Any) -> Any:
            reading = asyncio.create_task(client.read_resource(uri))
            await until(lambda: port.reads)
            port.answers_read(answer)
            port.posted.clear()
            return await reading

        [found] = (await read(listed.uri, READ)).contents
        assert (found.uri, found.text) == (listed.uri, "hello")
        for answer, error in (("gone", "gone"), ({"contents": 5}, "not a ReadResourceResult")):
            with pytest.raises(MCPError, match=error):
                await read(listed.uri, answer)
        with pytest.raises(MCPError, match="website://DOMAIN") as caught:
            await client.read_resource("notes://one")
        assert caught.value.code == -32602


@pytest.mark.parametrize("first", ["initialize", "server/discover"])
async def test_nothing_of_a_resource_is_lost_on_the_wire(first: str) -> None:
    params = INITIALIZE if first == "initialize" else ENVELOPE
    more = {} if first == "initialize" else ENVELOPE
    async with served() as hub, hub.streams() as streams:
        port = hub.world.page(1, SHOP).registers(resources=[NOTE])
        wire = _Wire(hub)
        begun = (await wire.ask(streams, first, params))["result"]
        assert begun["capabilities"]["resources"] == {"listChanged": True}
        [listed] = (await wire.ask(streams, "resources/list", more))["result"]["resources"]
        uri = "website://shop.example/tab1/notes://one"
        assert listed == {**NOTE, "uri": uri, "name": "[shop.example] one", "description": "[shop.example]"}
        reading = asyncio.create_task(wire.ask(streams, "resources/read", {"uri": uri, **more}))
        await until(lambda: port.reads)
        port.answers_read(READ)
        found = (await reading)["result"]
        assert found["contents"] == [{"uri": uri, "text": "hello", "own": 1}]
        assert (found["own"], found["_meta"]["b"]) == (1, 2)


async def test_clients_are_notified_of_resources_only_where_there_are_any() -> None:
    heard: list[str] = []

    async def hear(message: Any) -> None:
        heard.append(getattr(message, "method", ""))

    tools, resources = "notifications/tools/list_changed", "notifications/resources/list_changed"
    async with served() as hub, AsyncExitStack() as stack:
        await stack.enter_async_context(Client(hub.streams(), mode="legacy", message_handler=hear, cache=None))
        modern = await stack.enter_async_context(hub.client("auto", "modern"))
        subscription = await stack.enter_async_context(modern.listen(resources_list_changed=True))
        port = hub.world.page(1, SHOP, tool("add"))
        await until(lambda: heard == [tools])
        port.registers(tool("add"), resources=[NOTE])
        await until(lambda: heard.count(resources) == 1)
        with anyio.fail_after(60):
            assert await anext(aiter(subscription)) == ResourcesListChanged()
        port.registers(tool("add"))
        await until(lambda: heard.count(resources) == 2)
        port.registers(tool("add"), tool("more"))
        await until(lambda: heard.count(tools) == 4)
        await settled()
        assert heard.count(resources) == 2


SOON = 0.02


@asynccontextmanager
async def served_with_tasks() -> AsyncIterator[Served]:
    async with hub_world() as world:
        server = HubServer(world.hub, tasks=HubTasks(world.hub, after=SOON))
        async with server.running():
            yield Served(world, server)


@asynccontextmanager
async def with_tasks() -> AsyncIterator[tuple[Served, TaskClient, FakePort]]:
    async with served_with_tasks() as hub, hub.client("auto", extensions=[TakesTasks()]) as client:
        port = hub.world.page(1, SHOP, tool("add"))
        await settled()
        yield hub, TaskClient(client), port


async def test_a_long_call_is_a_task_with_the_pages_own_result() -> None:
    result = {"content": [{"type": "text", "text": "5"}], "structuredContent": {"sum": 5}, "_meta": {"b": 2}, "own": 1}
    async with with_tasks() as (hub, tasks, port):
        id_ = (await tasks.begin(NAME))["taskId"]
        port.says(ToolProgress(port.calls[0].id, 1, 2, "half"))
        state = await tasks.until(id_, lambda state: "statusMessage" in state)
        assert (state["status"], state["statusMessage"]) == ("working", "half")
        await hub.world.clock.pass_(600)  # a page has as long as its task
        port.answers(result)
        found = (await tasks.until(id_, completed))["result"]
        assert {key: found[key] for key in result} == result


async def test_a_cancelled_task_is_cancelled_in_its_page() -> None:
    async with with_tasks() as (_, tasks, port):
        first, second = [(await tasks.begin(NAME))["taskId"] for _ in range(2)]
        await tasks.ask("tasks/cancel", first)
        await tasks.until(first, cancelled)
        [stopped] = [each for each in port.heard if isinstance(each, CallCancelled)]
        assert stopped.id == port.calls[0].id
        assert (await tasks.ask("tasks/get", second))["status"] == "working"


async def test_a_task_ends_with_its_page_and_with_the_hub_and_says_so() -> None:
    async with with_tasks() as (hub, tasks, port):
        id_ = (await tasks.begin(NAME))["taskId"]
        port.ends()
        state = await tasks.until(id_, failed)
        assert state["error"]["data"]["mayHaveRun"] is True
        assert "tab ended" in state["statusMessage"]
        hub.world.page(1, SHOP, tool("add"))
        await settled()
        id_ = (await tasks.begin(NAME))["taskId"]
        hub.server.end()
        assert "hub has ended" in (await tasks.until(id_, failed))["statusMessage"]


async def test_a_task_answers_its_client_alone() -> None:
    async with with_tasks() as (hub, tasks, _):
        id_ = (await tasks.begin(NAME))["taskId"]
        token = client_origin.set("https://other.example")
        try:
            async with hub.client("auto", extensions=[TakesTasks()]) as client:
                for method in ("tasks/get", "tasks/update", "tasks/cancel"):
                    with pytest.raises(MCPError, match="no such task"):
                        await TaskClient(client).ask(method, id_, inputResponses={})
        finally:
            client_origin.reset(token)
        assert (await tasks.ask("tasks/get", id_))["status"] == "working"


async def test_clients_without_tasks_wait_and_have_no_methods_for_them() -> None:
    async with served_with_tasks() as hub, hub.client("legacy") as legacy, hub.client("auto") as modern:
        port = hub.world.page(1, SHOP, tool("add"))
        await settled()
        for client, code in ((legacy, -32601), (modern, -32021)):
            calling = asyncio.create_task(client.call_tool(NAME, {}))
            await asyncio.sleep(SOON * 3)
            port.answers(text_result("5"))
            assert (await calling).content[0].text == "5"  # type: ignore[union-attr]
            with pytest.raises(MCPError) as refused:
                await TaskClient(client).ask("tasks/get", "x")
            assert refused.value.error.code == code
