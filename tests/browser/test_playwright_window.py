"""The promises of `PlaywrightWindow` beyond the contract: it hides nothing in the page, and ends with it."""

import asyncio
import json

import anyio
import pytest
from playwright.async_api import Page

from mcpframe.frame.core.errors import MessageTooLarge, StateError
from mcpframe.frame.core.events import Departure, Inbound, Unreadable
from mcpframe.frame.core.places import Framing
from mcpframe.kit.browser.playwright_window import PlaywrightWindow
from tests.browser.by_hand import loaded
from tests.browser.conftest import Origins
from tests.browser.outers import PATIENCE, PlaywrightOuter


class Listener:
    """Somebody who listens to a window."""

    def __init__(self) -> None:
        self.heard: list[Inbound] = []
        self.departures: list[Departure] = []
        self._changed = anyio.Event()

    def deliver(self, inbound: Inbound) -> None:
        self.heard.append(inbound)
        self._changed.set()

    def gone(self, departure: Departure) -> None:
        self.departures.append(departure)
        self._changed.set()

    async def until(self, count: int, departures: int = 0) -> None:
        """Wait until so much was heard."""
        with anyio.fail_after(PATIENCE):
            while len(self.heard) < count or len(self.departures) < departures:
                self._changed = anyio.Event()
                await self._changed.wait()


async def test_the_framed_page_finds_no_way_to_the_adapter(host_page: Page, origins: Origins) -> None:
    """A function that Playwright exposes is seen by every frame: there must be none."""
    names = "() => Object.getOwnPropertyNames(window).filter((name) => !name.match(/^\\d+$/)).sort()"
    before = await host_page.evaluate(names)
    listener = Listener()
    async with PlaywrightWindow(host_page, Framing(f"{origins.bundle}/page.html?inner", visible=True)) as window:
        window.listen(listener.deliver, listener.gone)
        await listener.until(1)
        assert await host_page.evaluate(names) == before
        inside = set(await (await window.frame()).evaluate(names))
        assert inside - set(before) <= {"handleIframeMessage"}


async def test_messages_arrive_in_order_and_leave_in_order(host_page: Page, origins: Origins) -> None:
    listener = Listener()
    async with PlaywrightWindow(host_page, Framing(f"{origins.bundle}/page.html?inner", visible=True)) as window:
        window.listen(listener.deliver, listener.gone)
        await listener.until(1)
        for number in range(200):
            payload = f'{{"jsonrpc":"2.0","id":{number},"method":"echo","params":{{}}}}'
            window.post(f'{{"type":"MCP_MESSAGE","payload":{payload}}}', origins.bundle)
        await listener.until(201)
    texts = [inbound.read() for inbound in listener.heard[1:]]
    assert texts == [
        f'{{"type":"MCP_MESSAGE","payload":{{"jsonrpc":"2.0","id":{number},"result":{{}}}}}}' for number in range(200)
    ]
    assert all(inbound.from_peer and inbound.origin == origins.bundle for inbound in listener.heard)


async def test_a_stranger_s_message_is_noticed_unread(host_page: Page, origins: Origins) -> None:
    listener = Listener()
    async with PlaywrightWindow(host_page, Framing(f"{origins.bundle}/page.html?inner", visible=True)) as window:
        window.listen(listener.deliver, listener.gone)
        await listener.until(1)
        await host_page.evaluate("window.postMessage({ type: 'MCP_NONSENSE' }, '*')")
        await listener.until(2)
    inbound = listener.heard[-1]
    assert (inbound.origin, inbound.from_peer) == (origins.host, False)
    with pytest.raises(ValueError, match="no form in JSON"):
        inbound.read()


async def test_what_has_no_json_form_is_said_when_read(host_page: Page, origins: Origins) -> None:
    listener = Listener()
    async with PlaywrightWindow(host_page, Framing(f"{origins.bundle}/page.html", visible=True)) as window:
        window.listen(listener.deliver, listener.gone)
        frame = await loaded(await window.frame(), f"{origins.bundle}/page.html")
        await frame.wait_for_function("() => window.oddities !== null")
        await frame.evaluate("parent.postMessage(oddities.cyclic(), '*')")
        await listener.until(1)
    with pytest.raises(Unreadable, match="JSON"):
        listener.heard[0].read()


async def test_what_is_posted_comes_in_parts_that_playwright_can_carry(
    host_page: Page, origins: Origins, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Playwright's driver ends where a message of its own is too long, and takes all pages along."""
    monkeypatch.setattr(PlaywrightWindow, "most", 8000)
    listener = Listener()
    async with PlaywrightWindow(host_page, Framing(f"{origins.bundle}/page.html", visible=True)) as window:
        window.listen(listener.deliver, listener.gone)
        frame = await loaded(await window.frame(), f"{origins.bundle}/page.html")
        await frame.evaluate("""
            for (let id = 0; id < 9; id += 1) {
                const text = "x".repeat(id < 7 ? 1000 : 8000);
                const payload = { jsonrpc: "2.0", id: id < 8 ? id : text, method: id < 8 ? text : "m" };
                parent.postMessage({ type: "MCP_MESSAGE", payload }, "*");
            }
        """)
        await listener.until(9)
    assert [json.loads(each.read())["payload"]["id"] for each in listener.heard[:7]] == list(range(7))
    heads = [{"id": 7, "method": None}, {"id": None, "method": "m"}]
    for each, expected in zip(listener.heard[7:], heads, strict=True):
        with pytest.raises(Unreadable, match="more than 8000 bytes") as caught:
            each.read()
        assert isinstance(caught.value.error, MessageTooLarge)
        assert json.loads(caught.value.outline)["payload"] == {"jsonrpc": "2.0", **expected}


async def test_after_stopping_nothing_is_delivered(host_page: Page, origins: Origins) -> None:
    listener = Listener()
    async with PlaywrightWindow(host_page, Framing(f"{origins.bundle}/page.html", visible=True)) as window:
        stop = window.listen(listener.deliver, listener.gone)
        frame = await loaded(await window.frame(), f"{origins.bundle}/page.html")
        stop()
        stop()
        await frame.evaluate("say('{}')")
        await host_page.wait_for_function("() => heard.length")
    assert (listener.heard, listener.departures) == ([], [])


async def test_it_is_used_in_its_block_and_listens_once(host_page: Page, origins: Origins) -> None:
    listener = Listener()
    window = PlaywrightWindow(host_page, Framing(f"{origins.bundle}/page.html", visible=True))
    with pytest.raises(StateError, match="async with"):
        window.listen(listener.deliver, listener.gone)
    with pytest.raises(StateError, match="async with"):
        window.post("{}", origins.bundle)
    async with window:
        window.listen(listener.deliver, listener.gone)
        with pytest.raises(StateError, match="once"):
            window.listen(listener.deliver, listener.gone)
    assert await host_page.evaluate("document.querySelectorAll('iframe').length") == 0


@pytest.mark.parametrize("how", ["closed", "left"])
async def test_the_end_of_the_host_page_ends_the_session(host_page: Page, origins: Origins, how: str) -> None:
    async with PlaywrightOuter(host_page) as outer:
        await outer.open(f"{origins.bundle}/page.html?inner")
        await (host_page.close() if how == "closed" else host_page.goto(f"{origins.host}/page.html"))
        closed = await outer.next("closed")
        assert closed["error"] == "PeerGone"


@pytest.mark.parametrize("popup", [False, True], ids=["iframe", "popup"])
async def test_a_process_that_ends_takes_its_window_at_once(host_page: Page, origins: Origins, popup: bool) -> None:
    """As by a JavaScript heap that a worker of the page fills. No request waits, so nothing asks for an answer."""
    listener = Listener()
    framing = Framing(f"{origins.bundle}/page.html?inner", visible=True)
    async with PlaywrightWindow(host_page, framing, popup=popup) as window:
        window.listen(listener.deliver, listener.gone)
        await listener.until(1)
        devtools = await host_page.context.new_cdp_session(await window.frame())
        crashing = asyncio.ensure_future(devtools.send("Page.crash"))  # never answered
        await listener.until(1, departures=1)
        crashing.cancel()
    assert listener.departures == [Departure.REMOVED]
