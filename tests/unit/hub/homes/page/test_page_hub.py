"""A hub of several tabs, with real clients and servers of the SDK in each."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, ResourceLink

from mcpframe import FrameServer, Kept, kept
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.serving.server import serve
from mcpframe.hub.core.codec import read_from_hub, write_to_hub
from mcpframe.hub.core.messages import ToolAnswer, ToolCall, ToolList
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.homes.page.dialing import Dialled
from mcpframe.hub.homes.page.page_hub import PageHub
from mcpframe.hub.homes.page.wire import ChannelNames
from tests.support.fake_hub import ENVELOPE, text_result, tool
from tests.support.fake_tabs import FakeBrowser, FakeTab
from tests.support.polling import until
from tests.support.settling import settled

ADD = "website_tool_app_example_tab{}_add"
WAIT = "website_tool_app_example_tab{}_wait"


class Page:
    """A page of the hub: its server, its part in the hub, and what happens to it."""

    def __init__(self, tab: FakeTab, options: HubOptions | None = None) -> None:
        self.tab = tab
        self.hub = PageHub("shop", place=tab, options=options)
        self.server = MCPServer("a page's")
        self.called: list[int] = []
        self.waiting = 0
        self.cancelled = 0
        self.task: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self.server.add_tool(self._add, "add", annotations=None)
        self.server.add_tool(self._wait, "wait")

    def _add(self, a: int, b: int) -> int:
        self.called.append(a)
        return a + b

    async def _wait(self, ctx: Context[Any, Any]) -> str:
        self.waiting += 1
        await ctx.report_progress(1, 2, "half")
        try:
            await anyio.sleep_forever()
        finally:
            self.cancelled += 1
        return ""

    async def _run(self) -> None:
        async with self.hub.running(), self.hub.offering(self.server):
            self._ready.set()
            await anyio.sleep_forever()

    async def open(self) -> Page:
        self.task = asyncio.create_task(self._run())
        await self._ready.wait()
        return self

    async def close(self) -> None:
        """The page is gone; nothing of it runs any more, and it says nothing."""
        self.tab.end()
        if self.task is not None:
            self.task.cancel()
            await asyncio.wait({self.task})


class World:
    """A browser and the pages of a hub in it."""

    def __init__(self) -> None:
        self.browser = FakeBrowser()
        self.pages: list[Page] = []

    async def page(
        self, session: dict[str, str] | None = None, options: HubOptions | None = None, server: Any = None
    ) -> Page:
        page = Page(FakeTab(self.browser, session=session), options)
        page.server = server or page.server
        await page.open()
        self.pages.append(page)
        await settled()
        return page

    def leading(self) -> list[Page]:
        return [page for page in self.pages if page.hub.is_leading and page.tab.alive]


@asynccontextmanager
async def app() -> AsyncIterator[World]:
    world = World()
    try:
        yield world
    finally:
        for page in world.pages:
            await page.close()


async def names(client: Client) -> list[str]:
    return sorted(tool.name for tool in (await client.list_tools()).tools)


async def has(client: Client, count: int) -> list[str]:
    with anyio.fail_after(60):
        while len(found := await names(client)) != count:  # noqa: ASYNC110
            await asyncio.sleep(0)
    return found


def request(id_: int, method: str, params: dict[str, Any]) -> SessionMessage:
    return SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=id_, method=method, params=params))


def failing(call: asyncio.Task[Any]) -> Any:
    error = call.exception()
    assert isinstance(error, MCPError)
    return error.error.data


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_each_tab_has_the_tools_of_all(mode: str) -> None:
    async with app() as world, AsyncExitStack() as stack:
        one, two = await world.page(), await world.page()
        assert world.leading() == [one]
        for page in (one, two):
            client = await stack.enter_async_context(Client(page.hub.client(), mode=mode, cache=None))
            assert await has(client, 4) == sorted(name.format(tab) for tab in (1, 2) for name in (ADD, WAIT))
            for tab, at in ((1, one), (2, two)):
                result = await client.call_tool(ADD.format(tab), {"a": tab, "b": 1})
                assert result.structured_content == {"result": tab + 1}
                assert at.called[-1] == tab
        assert len(one.called) == len(two.called) == 2


async def test_a_number_that_is_not_finite_is_refused() -> None:
    async with app() as world:
        page = await world.page()
        async with page.hub.client() as (read, write):
            # The SDK's client makes null of it; what comes over a window or a port does not.
            arguments = {"a": math.inf, "b": 1}
            await write.send(request(1, "tools/call", {"name": ADD.format(1), "arguments": arguments, **ENVELOPE}))
            with anyio.fail_after(60):
                while (answer := (await read.receive()).message).id != 1:
                    pass
            assert answer.error.code == -32602
        assert page.called == []


async def test_a_tab_that_ends_takes_its_tools_and_calls_along() -> None:
    async with app() as world:
        one, two = await world.page(), await world.page()
        async with Client(one.hub.client(), cache=None) as client:
            await has(client, 4)
            calling = asyncio.create_task(client.call_tool(WAIT.format(2), {}))
            await until(lambda: two.waiting)
            await two.close()
            await asyncio.wait({calling})
            assert (failing(calling)["reason"], failing(calling)["mayHaveRun"]) == ("TabClosed", True)
            assert await has(client, 2) == [ADD.format(1), WAIT.format(1)]


@pytest.mark.parametrize("how", ["close", "freeze", "hang"])
async def test_when_the_leading_tab_ends_the_next_one_leads_and_clients_go_on(how: str) -> None:
    async with app() as world:
        one, two, three = await world.page(), await world.page(), await world.page()
        changes: list[str] = []

        async def heard(message: Any) -> None:
            changes.append(getattr(message, "method", ""))

        async with Client(three.hub.client(), mode="legacy", message_handler=heard, cache=None) as client:
            await has(client, 6)
            calling = asyncio.create_task(client.call_tool(WAIT.format(2), {}))
            await until(lambda: two.waiting)
            changes.clear()
            if how == "close":
                await one.close()
            elif how == "freeze":
                one.tab.freeze()
            else:
                one.tab.hung = True
                await world.browser.clock.pass_(9)
                assert not calling.done()
                await world.browser.clock.pass_(11)
            await asyncio.wait({calling})
            assert failing(calling) == {"reason": "HubChanged", "mayHaveRun": True}
            await until(lambda: two.cancelled)  # nobody waits for it any more
            # The numbers of tabs are what they were.
            assert await has(client, 4) == sorted(name.format(tab) for tab in (2, 3) for name in (ADD, WAIT))
            await until(lambda: "notifications/tools/list_changed" in changes)
            result = await client.call_tool(ADD.format(2), {"a": 5, "b": 1})
            assert result.structured_content == {"result": 6}
            assert len(world.leading()) == (2 if how == "hang" else 1)  # one of them cannot know yet
            if how == "close":
                return
            (one.tab.thaw if how == "freeze" else one.tab.respond)()
            await has(client, 6)
            assert [page for page in world.leading() if page is one] == []
            result = await client.call_tool(ADD.format(1), {"a": 7, "b": 1})
            assert result.structured_content == {"result": 8}


async def test_a_tab_that_is_loaded_again_keeps_its_number_and_a_copy_gets_its_own() -> None:
    async with app() as world:
        one, two = await world.page(), await world.page()
        async with Client(one.hub.client(), cache=None) as client:
            await has(client, 4)
            calling = asyncio.create_task(client.call_tool(ADD.format(2), {"a": 1, "b": 1}))
            await two.close()
            again = await world.page(session=two.tab.session)
            assert await has(client, 4) == sorted(name.format(tab) for tab in (1, 2) for name in (ADD, WAIT))
            await asyncio.wait({calling})
            result = await client.call_tool(ADD.format(2), {"a": 2, "b": 1})
            assert (result.structured_content, again.called[-1]) == ({"result": 3}, 2)
            copy = await world.page(session=dict(again.tab.session))
            await world.browser.clock.pass_(1.5)
            await has(client, 6)
            await client.call_tool(ADD.format(3), {"a": 3, "b": 1})
            assert copy.called == [3]


async def test_a_bundle_whose_tools_are_those_of_the_app_is_a_tab_of_it_during_sessions() -> None:
    async with app() as world:
        await world.page()
        hub = PageHub("shop", place=FakeTab(world.browser))
        for _ in range(2):
            async with AsyncExitStack() as stack:
                for _ in range(2):
                    streams = await stack.enter_async_context(create_client_server_memory_streams())
                    tasks = await stack.enter_async_context(anyio.create_task_group())
                    tasks.start_soon(serve, hub.server, *streams[1])
                    stack.callback(tasks.cancel_scope.cancel)
                    client = await stack.enter_async_context(Client(nullcontext(streams[0]), cache=None))
                    assert await names(client) == [ADD.format(1), WAIT.format(1)]
                    assert (await client.call_tool(ADD.format(1), {"a": 1, "b": 1})).structured_content == {"result": 2}
                assert hub.is_running
            await settled()
            assert not hub.is_running


async def test_the_tab_that_is_looked_at_is_in_the_descriptions() -> None:
    async with app() as world:
        one, two = await world.page(), await world.page()
        async with Client(one.hub.client(), cache=None) as client:
            await has(client, 4)
            two.tab.look(seen=True)
            await settled()

            async def label() -> str:
                return str((await client.list_tools()).tools[0].description).partition("]")[0]

            assert await label() == "[app.example - 2 tabs • Tab 2 Active"
            two.tab.look(seen=False)
            await settled()
            assert await label() == "[app.example - 2 tabs"


async def test_progress_and_cancellation_cross_the_tabs() -> None:
    async with app() as world:
        one, two = await world.page(), await world.page()
        seen: list[Any] = []

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total, message))

        async with Client(two.hub.client(), cache=None) as client:
            await has(client, 4)
            calling = asyncio.create_task(client.call_tool(WAIT.format(1), {}, progress_callback=progressed))
            await until(lambda: seen)
            assert seen == [(1, 2, "half")]
            calling.cancel()
            await until(lambda: one.cancelled)


async def test_without_a_tab_that_leads_a_call_says_so() -> None:
    async with app() as world:
        tab = FakeTab(world.browser)
        hub = PageHub("shop", place=tab, leads=False)
        with pytest.raises(StateError):
            await hub.ready(0)
        async with hub.running(), Client(hub.client(), cache=None) as client:
            listing = asyncio.create_task(client.list_tools())
            calling = asyncio.create_task(client.call_tool(ADD.format(1), {}))
            await settled()
            assert not listing.done()
            await world.browser.clock.pass_(5)
            assert (await listing).tools == (await client.list_tools()).tools == []
            await world.browser.clock.pass_(5)
            await asyncio.wait({calling})
            assert failing(calling) == {"reason": "HubNotFound", "mayHaveRun": False}
            await world.page()
            await has(client, 2)


async def test_a_cached_tool_opens_a_tab_if_the_browser_lets_it() -> None:
    async with app() as world:
        one = await world.page()
        port = Dialled(FakeTab(world.browser), ChannelNames("shop"), "tools")
        port.on_open = lambda: port.post(write_to_hub(ToolList([tool("cart", cache=True)]))) and None
        port.start()
        async with Client(one.hub.client(), cache=None) as client:
            await has(client, 3)
            port.stop()
            await settled()
            cart = "website_tool_app_example_cart"
            assert cart in await has(client, 3)
            one.tab.may_open = False
            calling = asyncio.create_task(client.call_tool(cart, {}))
            await settled()
            await world.browser.clock.pass_(10)
            await asyncio.wait({calling})
            assert failing(calling)["reason"] == "TabLoadFailed"
            one.tab.may_open = True
            calling = asyncio.create_task(client.call_tool(cart, {}))
            await settled()
            url, name = one.tab.opened[-1]
            assert url == "https://app.example/"
            tab = FakeTab(world.browser)
            tab.window_name = name
            again = Dialled(tab, ChannelNames("shop"), "tools")
            again.on_open = lambda: again.post(write_to_hub(ToolList([tool("cart", cache=True)]))) and None

            def answer(text: str) -> None:
                call = read_from_hub(text)
                assert isinstance(call, ToolCall)
                again.post(write_to_hub(ToolAnswer(call.id, text_result("3"))))

            again.on_message = answer
            again.start()
            assert (await calling).content[0].text == "3"
            again.stop()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_kept_value_is_read_by_pages_from_another_tab(mode: str) -> None:
    def data_server(own: int) -> FrameServer[Any]:
        server = FrameServer("data", allowed_origins=["*"])

        @server.tool()
        def table(rows: int) -> Kept[list[Any]]:
            return kept([[number, own] for number in range(rows)], summary="Numbers")

        @server.tool()
        def total(table: Kept[list[Any]]) -> int:
            return sum(row[0] for row in table.value)

        return server

    async with app() as world, AsyncExitStack() as stack:
        _, two = await world.page(server=data_server(0)), await world.page(server=data_server(1))
        client = await stack.enter_async_context(Client(two.hub.client(), mode=mode))
        await has(client, 4)
        places = [each.uri_template for each in (await client.list_resource_templates()).resource_templates]
        assert all(each.endswith("/kept:///{handle}{?offset,limit}") for each in places)
        assert len(set(places)) == 2
        origins: set[int] = set()
        tool_of = {name.rpartition("_")[0]: name for name in await names(client) if name.endswith("_table")}
        for prefix, name in tool_of.items():
            made = await client.call_tool(name, {"rows": 2500})
            assert made.structured_content
            link = made.content[1]
            assert isinstance(link, ResourceLink)
            assert made.structured_content["uri"] == link.uri
            uri: str | None = link.uri
            rows: list[Any] = []
            while uri is not None:
                [found] = (await client.read_resource(uri)).contents
                assert found.uri == uri
                rows += json.loads(found.text)["rows"]  # type: ignore[union-attr]
                uri = (found.meta or {}).get("mcpframe/next")
            assert [row[0] for row in rows] == [*range(2500)]
            origins.add(rows[0][1])
            summed = await client.call_tool(f"{prefix}_total", {"table": made.structured_content["handle"]})
            assert summed.structured_content == {"result": sum(range(2500))}
            [other] = {each.partition("kept:")[0] for each in places} - {link.uri.partition("kept:")[0]}
            with pytest.raises(MCPError, match="is unknown"):  # in the session of the other tab
                await client.read_resource(f"{other}kept:///{made.structured_content['handle']}")
        assert origins == {0, 1}
