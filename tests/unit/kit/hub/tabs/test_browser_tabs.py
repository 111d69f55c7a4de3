"""The tabs of a browser in the hub: pages come and go, and nobody waits for one that has gone."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from mcpframe.hub.core import limits
from mcpframe.hub.core.errors import HubError, TabClosed, TabLoadError, TabNotFound
from mcpframe.hub.core.hub import Hub
from mcpframe.hub.core.names import origin_of
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.core.transport import PortTransport
from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.hub.tabs import browser_tabs
from mcpframe.kit.hub.tabs.browser_tabs import BrowserTabs
from tests.support.fake_chromium import FakeChromium, FakePage
from tests.support.fake_hub import FakeClock, FakeStore, tool
from tests.support.settling import settled

SHOP = "https://shop.example/cart"
ADD = "website_tool_shop_example_tab1_add"
CART = "website_tool_shop_example_tab1_cart"


class World:
    def __init__(self, allowed: set[str] | None, *, headless: bool) -> None:
        self.chromium = FakeChromium(headless=headless)
        self.clock = FakeClock()
        self.transport = PortTransport(self.clock)

        def allows(url: str) -> bool:
            return allowed is None or origin_of(url) in allowed

        self.tabs = BrowserTabs(self.chromium, self.transport, self.clock, allows)
        self.hub = Hub(self.transport, self.tabs, FakeStore(), self.clock, HubOptions(allows=allows))
        self.tabs.on_active = self.hub.activated
        self.changes = 0
        self.hub.subscribe(self._changed)

    def _changed(self) -> None:
        self.changes += 1

    @property
    def names(self) -> list[str]:
        return [each["name"] for each in self.hub.definitions]

    def page(self, url: str = SHOP, *tools: Any) -> FakePage:
        """Open a page with a server, as the user does."""
        page = self.chromium.opens(url)
        page.tools = list(tools) if tools else None
        return page

    async def happens(self, condition: Callable[[], Any]) -> None:
        with anyio.fail_after(60):
            while not condition():
                await asyncio.sleep(0.001)
                await self.clock.pass_(0.001)

    def calling(self, name: str, **arguments: Any) -> asyncio.Task[Any]:
        return asyncio.create_task(self.hub.call(name, arguments))


@asynccontextmanager
async def world(allowed: set[str] | None = None, *, headless: bool = True) -> AsyncIterator[World]:
    made = World(allowed, headless=headless)
    async with made.hub.running():
        await made.tabs.started()
        yield made
    await made.tabs.close_all()
    await settled()
    assert made.transport.pending == 0
    rest = [task for task in asyncio.all_tasks() if "_serve" in repr(task)]
    assert not rest


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SERVER_RETRY_SECONDS", 0.002)
    monkeypatch.setattr(browser_tabs, "_RETRY_SECONDS", 0.002)


def text(result: Any) -> str:
    return result["content"][0]["text"]


async def test_the_first_list_of_tools_is_that_of_the_pages_that_the_browser_starts_with() -> None:
    made = World(None, headless=True)
    async with made.hub.running():
        listing = asyncio.create_task(made.hub.settled())
        await settled()
        made.page(SHOP, tool("add"))
        made.page("about:blank")
        assert not listing.done()
        await made.tabs.started()
        await made.happens(listing.done)
        assert made.names == [ADD]
    await made.tabs.close_all()
    await settled()


async def test_pages_are_found_called_reloaded_and_closed() -> None:
    async with world() as hub:
        page = hub.page(SHOP, tool("add"))
        await hub.happens(lambda: hub.names == [ADD])
        assert text(await hub.calling(ADD, a=1)) == f"add at {SHOP}"
        assert page.calls == [("add", {"a": 1})]
        assert await hub.tabs.list() == {1: SHOP}
        assert await hub.tabs.url(1) == SHOP

        page.document()
        await hub.happens(lambda: hub.names == [ADD])
        assert text(await hub.calling(ADD)) == f"add at {SHOP}"

        other = hub.page("https://b.example/", tool("see"))
        await hub.happens(lambda: len(hub.names) == 2)
        hub.chromium.closes(page)
        await hub.happens(lambda: hub.names == ["website_tool_b_example_tab1_see"])
        assert await hub.tabs.url(1) is None
        with pytest.raises(TabNotFound):
            await hub.calling(ADD)
        assert not other.calls


async def test_pages_that_are_open_before_are_found() -> None:
    made = World(None, headless=True)
    made.page(SHOP, tool("add"))
    async with made.hub.running():
        await made.tabs.started()
        await made.happens(lambda: made.names == [ADD])
    await made.tabs.close_all()


@pytest.mark.parametrize("how", ["reload", "away", "close", "crash", "browser", "stop"])
async def test_a_call_of_a_page_that_ends_is_answered_at_once(how: str) -> None:
    async with world() as hub:
        page = hub.page(SHOP, tool("add"))
        page.silent = True
        await hub.happens(lambda: hub.names == [ADD])
        calling = hub.calling(ADD)
        await hub.happens(lambda: page.calls)
        if how == "reload":
            page.document()
        elif how == "away":
            page.tools = None
            page.document("https://b.example/")
        elif how == "close":
            hub.chromium.closes(page)
        elif how == "crash":
            page.event("Inspector.targetCrashed", {})
        elif how == "browser":
            hub.chromium.crash()
        else:
            page.stops()
            assert (await calling)["isError"]
            await hub.happens(lambda: not hub.names)
            return
        with pytest.raises(TabClosed) as caught:
            await calling
        assert caught.value.data is not None
        assert caught.value.data["mayHaveRun"]
        page.silent = False
        await hub.happens(lambda: hub.names == ([ADD] if how == "reload" else []))


async def test_a_page_that_has_crashed_is_named(caplog: pytest.LogCaptureFixture) -> None:
    async with world({"https://shop.example"}) as hub:
        page, other = hub.page(SHOP, tool("add")), hub.page("https://b.example/")
        await hub.happens(lambda: hub.names == [ADD])
        for crashed in (page, other):
            crashed.event("Inspector.targetCrashed", {})
        await hub.happens(lambda: not hub.names)
    texts = [record.getMessage() for record in caplog.records if "crashed" in record.getMessage()]
    assert texts == ["A page of shop.example has crashed.", "A page has crashed."]


async def test_pages_that_are_not_allowed_are_not_spoken_to() -> None:
    async with world({"https://shop.example"}) as hub:
        pages = [
            hub.page("https://evil.example/", tool("add")),
            hub.page("http://shop.example/", tool("add")),
            hub.page("https://shop.example.evil.example/", tool("add")),
            hub.page("file:///shop.example", tool("add")),
        ]
        good = hub.page(SHOP, tool("add"))
        await hub.happens(lambda: hub.names == [ADD])
        for page in pages:
            assert not page.posted
            assert not page.listens
        good.document("https://evil.example/")
        await hub.happens(lambda: not hub.names)
        assert not good.listens


async def test_a_document_is_what_the_browser_says_it_is() -> None:
    async with world() as hub:
        # Sandboxed, or on its way to another address: the address is not that of the document.
        page = hub.page("https://b.example/", tool("add"))
        await hub.happens(lambda: hub.names)
        for origin in ("null", "://", "https://c.example"):
            page.posted.clear()
            page.document(SHOP, origin=origin)
            await hub.happens(lambda: not hub.names)
            assert not page.posted
        page.document()
        await hub.happens(lambda: hub.names == [ADD])
        # Only the hub's own world is heard.
        page.report({"kind": "message", "origin": "x", "text": "{}"}, context_id=page.main)
        page.event("Runtime.bindingCalled", {"name": "other", "payload": ".{}", "executionContextId": page.world})
        for payload in (".", ".{", ".[]", ".{}", '.{"kind":"message"}', '.{"kind":"seen"}', *["+x"] * 100):
            params = {"name": page.name, "payload": payload, "executionContextId": page.world}
            page.event("Runtime.bindingCalled", params)
        page.event("Runtime.bindingCalled", {"name": page.name, "payload": ".", "executionContextId": page.world})
        # Frames are not relayed.
        about = {"frameId": "a frame", "isDefault": False, "type": "isolated"}
        frame = {"id": 9999, "uniqueId": "9999", "name": page.name, "auxData": about}
        page.event("Runtime.executionContextCreated", {"context": frame})
        assert text(await hub.calling(ADD)) == f"add at {SHOP}"


async def test_a_page_that_is_drawn_in_advance_is_not_relayed_before_it_is_shown() -> None:
    async with world() as hub:
        page = hub.chromium.opens(SHOP)
        page.tools, page.prerendered = [tool("add")], True
        await settled()
        assert not page.posted
        page.prerendered = False
        page.see()
        await hub.happens(lambda: hub.names == [ADD])


async def test_a_server_that_comes_later_and_goes() -> None:
    async with world() as hub:
        page = hub.page(SHOP)
        await hub.happens(lambda: page.listens)
        assert not hub.names
        page.serves(tool("add"))
        await hub.happens(lambda: hub.names == [ADD])
        page.tools = [tool("cart")]
        page.says({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        await settled()
        await hub.clock.pass_(0.5)
        await hub.happens(lambda: hub.names == [CART])
        page.stops()
        await hub.happens(lambda: not hub.names)
        await hub.happens(lambda: page.listens)
        page.serves(tool("add"))
        await hub.happens(lambda: hub.names == [ADD])


async def test_the_tools_of_a_document_are_relayed_while_there_is_no_page_server() -> None:
    async with world() as hub:
        page = hub.page(SHOP)
        await hub.happens(lambda: page.listens)
        page.registers({"name": "add", "description": "Adds.", "inputSchema": '{"type": "object"}'})
        await hub.happens(lambda: hub.names == [ADD])
        assert text(await hub.calling(ADD, a=1)) == f"add in {SHOP}"
        assert page.calls == [("add", {"a": 1})]
        page.registers({"name": "cart"})
        await settled()
        await hub.clock.pass_(0.5)
        await hub.happens(lambda: hub.names == [CART])

        page.silent = True
        calling = hub.calling(CART)
        await hub.happens(lambda: len(page.calls) == 2)
        page.silent = False
        page.serves(tool("cart"))
        assert (await calling)["isError"]  # it may be answered by either, and is
        await hub.happens(lambda: hub.names == [CART])
        assert text(await hub.calling(CART)) == f"cart at {SHOP}"
        changes = hub.changes
        page.stops()
        await hub.happens(lambda: hub.changes >= changes + 2)  # gone, and there again
        await hub.happens(lambda: hub.names == [CART])
        assert text(await hub.calling(CART)) == f"cart in {SHOP}"
        page.silent = True
        calling = hub.calling(CART)
        await hub.happens(lambda: len(page.calls) == 5)
        page.document()
        with pytest.raises(TabClosed):
            await calling


async def test_a_call_of_a_documents_tool_is_not_answered_by_the_documents_end() -> None:
    async with world() as hub:
        page = hub.page(SHOP)
        page.context_tools = [{"name": "add"}]
        page.changes += 1
        page.silent = True
        await hub.happens(lambda: hub.names == [ADD])
        calling = hub.calling(ADD)
        await hub.happens(lambda: page.calls)
        page.fails_functions()  # before the browser reports anything else
        await settled()
        assert not calling.done()
        page.document()
        with pytest.raises(TabClosed):
            await calling


async def test_a_cached_tool_opens_a_tab_and_a_page_that_cannot_be_loaded_is_closed() -> None:
    async with world() as hub:
        cart = tool("cart", cache=True)
        page = hub.page(SHOP, cart)
        await hub.happens(lambda: hub.names == [CART])
        hub.chromium.closes(page)
        [name] = hub.names

        def loaded(opened: FakePage) -> None:
            opened.tools = [cart]

        hub.chromium.on_load = loaded
        assert text(await hub.calling(name)) == f"cart at {SHOP}"
        [opened] = hub.chromium.pages.values()
        assert ("Target.createTarget", {"url": "about:blank", "background": True}) in hub.chromium.posted
        hub.chromium.closes(opened)
        hub.chromium.error = "net::ERR_NAME_NOT_RESOLVED"
        with pytest.raises(TabLoadError, match="ERR_NAME_NOT_RESOLVED"):
            await hub.tabs.open(SHOP)
        assert not hub.chromium.pages


async def test_a_page_that_has_loaded_before_the_browser_reports_on_it_is_open() -> None:
    async with world() as hub:
        hub.chromium.reports_late = True
        with anyio.fail_after(60):
            assert await hub.tabs.url(await hub.tabs.open(SHOP)) == SHOP


async def test_a_tab_that_is_closed_while_it_loads_is_a_failure_and_so_is_a_browser_that_ends() -> None:
    async with world() as hub:
        for end in ("close", "crash"):
            loads = hub.chromium.loads
            hub.chromium.loads = lambda page, url: None  # type: ignore[method-assign]
            opening = asyncio.create_task(hub.tabs.open(SHOP))
            await hub.happens(lambda: any(method == "Page.navigate" for method, _ in hub.chromium.posted))
            hub.chromium.posted.clear()
            if end == "close":
                hub.chromium.closes(next(iter(hub.chromium.pages.values())))
            else:
                hub.chromium.crash()
            with pytest.raises(TabLoadError):
                await opening
            hub.chromium.loads = loads  # type: ignore[method-assign]
        hub.chromium.failing = BrowserGone("It does not start.")
        with pytest.raises(TabLoadError, match="does not start"):
            await hub.tabs.open(SHOP)
        hub.chromium.failing = None
        tab = await hub.tabs.open(SHOP)
        assert await hub.tabs.url(tab) == SHOP
        assert hub.chromium.started == 2


async def test_the_active_tab_is_the_one_that_is_looked_at() -> None:
    async with world(headless=False) as hub:
        first, second = hub.page(SHOP, tool("add")), hub.page("https://b.example/", tool("add"))
        await hub.happens(lambda: len(hub.names) == 2)
        assert await hub.tabs.active() == 1
        second.focused = True
        second.see()
        assert await hub.tabs.active() == 2
        first.see()
        assert await hub.tabs.active() == 2
        with hub.tabs.asking():
            own = hub.page("about:blank")
            own.focused = True
            await hub.happens(lambda: own.world)
            second.focused = second.visible = False
            second.see()
            assert await hub.tabs.active() == 2
            second.visible = True
            hub.chromium.closes(own)
        second.see()
        assert await hub.tabs.active() == 2
        hub.chromium.closes(second)
        assert await hub.tabs.active() == 1
        first.visible = False
        first.see()
        assert await hub.tabs.active() is None


@pytest.mark.parametrize("headless", [True, False])
async def test_dialogs_are_answered_where_nobody_sees_them(headless: bool) -> None:
    async with world(headless=headless) as hub:
        page = hub.page(SHOP)
        for kind in ("alert", "confirm", "beforeunload"):
            page.event("Page.javascriptDialogOpening", {"type": kind})
        answers = [params["accept"] for method, params in hub.chromium.posted if method.endswith("JavaScriptDialog")]
        assert answers == ([True, False, True] if headless else [])


async def test_a_browser_of_others_is_attached_to_again(caplog: pytest.LogCaptureFixture) -> None:
    async with world() as hub:
        hub.chromium.returns = True
        keeping = asyncio.create_task(hub.tabs.keep())
        hub.page(SHOP, tool("add"))
        await hub.happens(lambda: hub.names == [ADD])
        hub.chromium.failing = BrowserGone("It is not there.")
        hub.chromium.crash()
        await hub.happens(lambda: not hub.names)
        await hub.happens(lambda: hub.chromium.tries >= 5)
        assert caplog.text.count("It is not there.") == 1
        hub.chromium.failing = None
        await hub.happens(lambda: hub.chromium.started == 2)
        hub.page(SHOP, tool("add"))
        await hub.happens(lambda: len(hub.names) == 1)
        keeping.cancel()
        await asyncio.wait({keeping})


async def test_a_browser_of_the_hubs_own_that_ends_is_not_started_by_itself() -> None:
    async with world() as hub:
        keeping = asyncio.create_task(hub.tabs.keep())
        await settled()
        hub.chromium.crash()
        with anyio.fail_after(60):
            await keeping
        assert hub.chromium.started == 1
        hub.chromium.failing = BrowserGone("It does not start.")
        with pytest.raises(BrowserGone):
            await hub.tabs.keep()


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_happens_every_caller_is_answered_and_nothing_is_left(seed: int) -> None:
    chance = random.Random(seed)
    urls = [SHOP, "https://shop.example/other", "https://b.example/", "http://localhost:80/", "https://evil.example/"]
    allowed = {origin_of(url) for url in urls} - {"https://evil.example"}
    asked: list[asyncio.Task[Any]] = []
    async with world(allowed) as hub:
        for _ in range(120):
            pages = list(hub.chromium.pages.values())
            page = chance.choice(pages) if pages else None
            step = chance.randrange(12)
            if page is None or step == 0:
                if hub.chromium.closed.done():
                    await hub.tabs.started()
                hub.page(chance.choice(urls), *chance.choice([(), (tool("add"), tool("cart", cache=True))]))
            elif step == 1:
                page.document(chance.choice(urls))
            elif step == 2:
                page.serves(*chance.choice([(), (tool("add"),), (tool("cart"), tool("see"))]))
            elif step == 3:
                page.stops()
            elif step == 4:
                page.registers(*chance.choice([(), ({"name": "add"},), ({"name": "cart"}, {"name": "note"})]))
            elif step == 5:
                hub.chromium.closes(page)
            elif step == 6:
                page.event("Inspector.targetCrashed", {})
            elif step == 7:
                page.silent = not page.silent
            elif step == 8 and chance.random() < 0.1:
                hub.chromium.crash()
            elif hub.names:
                asked.append(hub.calling(chance.choice(hub.names)))
            if chance.random() < 0.7:
                await asyncio.sleep(chance.choice([0, 0, 0.001, 0.004]))
        await settled()
        for _ in range(60):  # the deadlines of the hub
            await hub.clock.pass_(1)
            await asyncio.sleep(0)
        with anyio.fail_after(60):
            await asyncio.gather(*asked, return_exceptions=True)
        for task in asked:
            error = task.exception()
            assert error is None or isinstance(error, HubError), error
        assert not [name for name in hub.names if "evil" in name]
    assert asked
