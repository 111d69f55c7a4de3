"""The hub in an extension: who is served at which port, and what the service worker does for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mcpframe.hub.core.errors import TabClosed, TabLoadError
from mcpframe.hub.core.limits import WORKER_SECONDS
from mcpframe.hub.homes.extension.home import SITES_KEY, ExtensionHub, ExtensionSettings
from mcpframe.hub.homes.extension.runtime import ExtensionPort
from tests.support.fake_extension import ID, FakeExtension, FarEnd
from tests.support.fake_hub import FakeClock, text_result, tool
from tests.support.settling import settled

SHOP = "https://shop.example/cart"
PROXY = "mcp-content-script-proxy"
ADD = "website_tool_shop_example_tab1_add"
CART = "website_tool_shop_example_cart"
LEAVE = {"half": "page", "call": "leave", "arguments": []}


class World:
    def __init__(self, extension: FakeExtension, **settings: Any) -> None:
        self.extension = extension
        self.clock = FakeClock()
        self.home = ExtensionHub(extension, ExtensionSettings(**settings), self.clock)

    @property
    def names(self) -> set[str]:
        return {each["name"] for each in self.home.hub.definitions}

    def proxied(self, tab: int, *tools: dict[str, Any], url: str = SHOP) -> FarEnd:
        """Connect a content script of MCP-B that registers tools."""
        end = self.extension.connect_page(tab, url, PROXY)
        end.post({"type": "register-tools", "tools": list(tools), "tabUrl": url})
        return end


@asynccontextmanager
async def world(extension: FakeExtension | None = None, **settings: Any) -> AsyncIterator[World]:
    made = World(extension or FakeExtension(), **settings)
    async with made.home.running():
        await settled()
        yield made
    assert not made.clock.pending


async def answered(end: FarEnd, text: str) -> None:
    """Answer the last call that a content script of MCP-B has got."""
    await settled()
    message = end.heard[-1]
    assert message["type"] == "execute-tool"
    end.post(
        {
            "type": "tool-result",
            "requestId": message["requestId"],
            "data": {"success": True, "payload": text_result(text)},
        }
    )
    await settled()


async def test_a_content_script_of_mcp_b_is_served() -> None:
    async with world() as here:
        end = here.proxied(7, tool("add"))
        assert here.names == {ADD}
        calling = asyncio.ensure_future(here.home.hub.call(ADD, {"a": 1}))
        await answered(end, "2")
        assert (end.heard[-1]["toolName"], end.heard[-1]["args"]) == ("add", {"a": 1})
        assert await calling == text_result("2")
        end.post({"type": "tools-updated", "tools": [tool("more")]})
        end.post({"type": "keep-alive", "timestamp": 1})
        await here.clock.pass_(1)
        assert here.names == {ADD.replace("add", "more")}
        calling = asyncio.ensure_future(here.home.hub.call(ADD.replace("add", "more"), {}))
        await settled()
        end.close()
        with pytest.raises(TabClosed):
            await calling
        assert not here.names


@pytest.mark.parametrize(
    "sender",
    [
        {"frame": 3},
        {"origin": "null"},
        {"url": "https://evil.example/"},
        {"url": "data:text/html,x", "origin": "null"},
        {"tab": None},
    ],
    ids=["frame", "sandboxed", "other origin", "no origin", "no tab"],
)
@pytest.mark.parametrize("name", [PROXY, "mcpframe-relay"])
async def test_pages_that_are_not_allowed_are_left(name: str, sender: dict[str, Any]) -> None:
    async with world(sites=["https://shop.example"]) as here:
        end = here.extension.connect(
            name, **{"id": ID, "tab": 7, "frame": 0, "url": SHOP, "origin": "https://shop.example", **sender}
        )
        end.post({"type": "register-tools", "tools": [tool("add")]})
        await here.clock.pass_(1)
        assert not here.names
        assert end.is_closed


@pytest.mark.parametrize(
    ("name", "external"), [("else", False), ("mcpframe-relay", True), (PROXY, True)], ids=["name", "relay", "proxy"]
)
async def test_ports_for_nobody_are_closed(name: str, external: bool) -> None:
    async with world() as here:
        assert here.extension.connect(name, external=external, id=ID, tab=7, frame=0, url=SHOP).is_closed


async def test_a_content_script_is_no_client() -> None:
    async with world() as here:
        assert here.extension.connect_page(7, SHOP, "mcp").is_closed
        client = here.extension.connect("mcp", id=ID, url=f"chrome-extension://{ID}/popup.html")
        client.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        client.post({"jsonrpc": "2.0", "id": 2, "method": 3})
        client.post({"type": "keep-alive", "timestamp": 1})
        await settled()
        assert {each["id"] for each in client.heard} == {1, 2}
        client.close()
        await settled()


async def test_the_first_list_waits_for_the_pages_that_are_open() -> None:
    extension = FakeExtension()
    extension.tabs = {1: SHOP, 2: "https://shop.example/asleep", 3: "chrome://newtab/"}
    extension.unloaded = {2}
    async with world(extension) as here:
        client = extension.connect("mcp", id=ID, url=f"chrome-extension://{ID}/popup.html")
        info = {"name": "c", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        client.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        client.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        client.post({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        await settled()
        assert [each["id"] for each in client.heard] == [1]
        here.proxied(1, tool("add"))
        await settled()
        [answer] = [each for each in client.heard if each.get("id") == 2]
        assert [each["name"] for each in answer["result"]["tools"]] == [ADD]
        client.close()
        await settled()


async def test_the_list_of_the_user_counts() -> None:
    extension = FakeExtension()
    extension.store[SITES_KEY] = json.dumps(["https://shop.example"])
    async with world(extension) as here:
        kept = here.proxied(1, tool("add"))
        other = here.proxied(2, tool("add"), url="https://other.example/")
        assert here.names == {ADD}
        assert other.is_closed
        for stored in (["https://other.example"], "no list", ["no origin"]):
            extension.store[SITES_KEY] = json.dumps(stored)
            extension.event("stored", keys=[SITES_KEY])
            await settled()
            assert kept.is_closed
            assert not here.names
            assert extension.connect_page(1, SHOP, PROXY).is_closed
        here.proxied(2, tool("add"), url="https://other.example/")


@pytest.mark.parametrize("happens", ["complete", "removed", "error page", "nothing"])
@pytest.mark.parametrize("early", [True, False], ids=["early", "later"])
async def test_a_cached_tool_opens_a_tab(happens: str, early: bool) -> None:
    async with world() as here:
        extension = here.extension
        here.proxied(1, tool("cart", cache=True)).close()
        assert here.names == {CART}
        ends: list[FarEnd] = []

        def load(tab: int) -> None:
            if happens == "complete":
                ends.append(here.proxied(tab, tool("cart", cache=True), url=extension.tabs[tab]))
            if happens == "removed":
                del extension.tabs[tab]
                extension.event("removed", tab=tab)
            elif happens != "nothing":
                extension.event("updated", tab=tab, status="loading")
                extension.event("updated", tab=tab, status="complete")

        def later(tab: int) -> None:
            here.clock.call_later(3, lambda: load(tab))

        extension.on_open = load if early else later
        calling = asyncio.ensure_future(here.home.hub.call(CART, {}))
        await here.clock.pass_(5)
        if happens == "complete":
            [end] = ends
            await answered(end, "empty")
            assert await calling == text_result("empty")
            return
        await here.clock.pass_(1000)
        with pytest.raises(TabLoadError):
            await calling
        assert extension.asked.count("open") == 4  # with three more tries
        assert list(extension.tabs) == [1]


def commands(end: FarEnd) -> list[dict[str, Any]]:
    """Return what a content script of the extension was told."""
    whole, pieces = [], ""
    for piece in end.heard:
        pieces += piece[1:]
        if piece[0] == ".":
            whole.append(json.loads(pieces))
            pieces = ""
    assert not pieces
    return whole


def say(end: FarEnd, payload: Any, size: int = 100) -> None:
    """Say what a page server says, as the content script reports it, in pieces."""
    data = {"channel": "mcp-default", "type": "mcp", "direction": "server-to-client", "payload": payload}
    report = {"kind": "message", "source": 0, "origin": "https://shop.example", "url": "", "text": json.dumps(data)}
    text = json.dumps(report)
    for start in range(0, len(text), size):
        end.post(f"{'.' if start + size >= len(text) else '+'}{text[start : start + size]}")


def said(end: FarEnd, method: str) -> dict[str, Any]:
    """Return the last message of the hub to a page server, of this method."""
    posts = [each["arguments"] for each in commands(end) if each["call"] == "post"]
    payloads = [json.loads(text)["payload"] for _, text, origin in posts if origin == "https://shop.example"]
    return [each for each in payloads if isinstance(each, dict) and each.get("method") == method][-1]


def serve(end: FarEnd, *tools: dict[str, Any]) -> None:
    """Be a page server, up to its list of tools."""
    say(end, "mcp-server-ready")
    capabilities = {"tools": {"listChanged": True}}
    info = {"name": "shop", "version": "1"}
    result = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
    say(end, {"jsonrpc": "2.0", "id": said(end, "initialize")["id"], "result": result})
    say(end, {"jsonrpc": "2.0", "id": said(end, "tools/list")["id"], "result": {"tools": list(tools)}})


async def test_a_page_is_relayed_in_pieces_of_its_messages(caplog: pytest.LogCaptureFixture) -> None:
    async with world() as here:
        end = here.extension.connect_page(7, SHOP)
        await settled()
        assert [(each["half"], each["call"]) for each in commands(end)[:2]] == [
            ("document", "begin"),
            ("page", "listen"),
        ]
        for text in (3, None, [".x"], ".", ".{}", ".3", '.{"kind": "message"}', '.{"kind": "message", "source": "x"}'):
            end.post(text)
        end.post('.{"kind": "answer", "id": 99, "value": 1}')
        for _ in range(100):
            end.post("+x")
        end.post(".")
        assert len([record for record in caplog.records if "is ignored" in record.message]) >= 5
        serve(end, tool("add"))
        assert here.names == {ADD}
        calling = asyncio.ensure_future(here.home.hub.call(ADD, {"text": "é" * 6_000_000}))
        await settled()
        call = said(end, "tools/call")
        assert len(call["params"]["arguments"]["text"]) == 6_000_000
        assert max(map(len, end.heard)) <= 4_000_001
        say(end, {"jsonrpc": "2.0", "id": call["id"], "result": text_result("2")}, size=10)
        assert await calling == text_result("2")

        # A content script of MCP-B speaks for the page while it is there.
        proxy = here.proxied(7, tool("other"))
        assert here.names == {ADD.replace("add", "other")}
        assert commands(end)[-1]["call"] == "stop"
        proxy.close()
        assert not here.names
        await settled()
        serve(end, tool("add"))
        assert here.names == {ADD}

        # Another document in the tab; what the one before still says is not heard.
        other = here.extension.connect_page(7, f"{SHOP}?again")
        await settled()
        assert end.is_closed
        say(end, {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        serve(other, tool("add"))
        assert here.names == {ADD}
        calling = asyncio.ensure_future(here.home.hub.call(ADD, {}))
        await settled()
        end.close()
        other.close()
        with pytest.raises(TabClosed):
            await calling
        await settled()


async def test_two_relays_of_one_document_do_not_replace_each_other_for_ever() -> None:
    async with world() as here:
        first = here.extension.connect_page(7, SHOP, document="D1")
        await settled()
        serve(first, tool("add"))
        ends = [here.extension.connect_page(7, SHOP, document="D1")]
        for _ in range(10):  # a script opens its port again, unless it was told to leave
            await settled()
            if ends[-1].is_closed and LEAVE not in commands(ends[-1]):
                ends.append(here.extension.connect_page(7, SHOP, document="D1"))
        assert first.is_closed
        assert LEAVE in commands(first)
        assert len(ends) == 1
        serve(ends[-1], tool("add"))
        assert here.names == {ADD}
        # Another document of the tab: the browser may keep the one before, which comes back.
        other = here.extension.connect_page(7, SHOP, document="D2")
        await settled()
        assert ends[-1].is_closed
        assert LEAVE not in commands(ends[-1])
        assert not other.is_closed
        other.close()
        await settled()


async def test_a_port_that_the_hub_has_closed_is_not_heard() -> None:
    async with world() as here:
        heard: list[str] = []

        def take(port: ExtensionPort) -> None:
            port.on_message = heard.append
            port.close()

        here.home.ports.serve("else", take)
        end = here.extension.connect("else", id=ID)
        end.post("late")
        assert end.is_closed
        assert not heard


async def test_a_worker_that_does_not_answer_is_an_error() -> None:
    async with world() as here:
        here.proxied(1, tool("cart", cache=True)).close()
        await settled()
        here.extension.stops = True
        calling = asyncio.ensure_future(here.home.hub.call(CART, {}))
        await here.clock.pass_(10 * WORKER_SECONDS)
        with pytest.raises(TabLoadError):
            await calling
        opening = asyncio.ensure_future(here.home.tabs.open(SHOP))
        await settled()
        opening.cancel()  # before the tab has a number
        await here.clock.pass_(WORKER_SECONDS)
        assert opening.cancelled()
        asking = asyncio.ensure_future(here.home.tabs.active())
        await here.clock.pass_(WORKER_SECONDS)
        with pytest.raises(TabLoadError):
            await asking
        here.extension.stops = False


async def test_a_tab_keeps_its_number_while_the_hub_starts_again() -> None:
    extension = FakeExtension()
    async with world(extension) as here:
        here.proxied(1, tool("add"))
        here.proxied(2, tool("add"))
        await settled()
    for text in (None, "[]", "[[[1]], {}]", "no JSON"):
        if text is not None:
            [key] = extension.session
            extension.session[key] = text
        async with world(extension) as here:
            here.proxied(2, tool("add"))
            expected = ADD.replace("tab1", "tab2") if text is None else ADD
            assert here.names == {expected}
            here.proxied(3, tool("add"))
            assert here.names == {expected, ADD.replace("tab1", "tab3" if text is None else "tab2")}
            await settled()


async def test_what_is_cached_is_stored_and_the_active_tab_is_followed() -> None:
    extension = FakeExtension()
    async with world(extension) as here:
        end = here.proxied(1, tool("cart", cache=True))
        here.proxied(2, tool("cart", cache=True))
        extension.active = 2
        extension.event("active")
        await settled()
        [description] = {each["description"] for each in here.home.hub.definitions}
        assert "Tab 2 Active" in description
        assert await here.home.tabs.list() == {1: SHOP, 2: SHOP}
        assert await here.home.tabs.url(1) == SHOP
        assert await here.home.tabs.url(3) is None
        assert not end.is_closed
    assert end.is_closed
    async with world(extension) as here:
        assert here.names == {CART}
