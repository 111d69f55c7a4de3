"""Pages in Python as clients and servers of MCP-B, and `page-server.js`, with npm's `@mcp-b/transports`."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.async_api import BrowserContext, Page

from mcpframe.kit.base.data import static_dir
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles
from tests.browser.mcpb import Peer, bring, bundle_peers, posted

TOOLS = ["add", "fail", "wait", "grow"]
DEAF_TO_SIGNALS = """() => addEventListener("message", (event) => {
    if (typeof event.data?.payload === "string") event.stopImmediatePropagation();
})"""


@pytest.fixture(scope="module")
def peers(site: Path) -> str:
    """The text of the script with the official peers, as a module of the site."""
    return bundle_peers(site)


@pytest.fixture(scope="session")
def tabbed(bundle_of: BundleOf) -> Bundle:
    """The bundle of `servers/tabbed`."""
    return bundle_of("tabbed")


@pytest.fixture
async def page(context: BrowserContext, troubles: Troubles, tabbed: Bundle, peers: str) -> Page:
    """The page in Python, with the official peers in it."""
    page = await context.new_page()
    page.set_default_timeout(BOOT_PATIENCE * 1000)
    await page.goto(tabbed.url)
    await page.wait_for_selector("html[data-state=loaded]")
    await bring(page, peers)
    return page


async def test_two_clients_of_a_server_in_their_window_keep_to_their_own_answers(page: Page) -> None:
    await page.evaluate("mcpb.serve('tab', [location.origin])")
    both = await page.evaluate("Promise.all([useTab(), useTab()])")
    expected = {"server": "a tab server", "tools": TOOLS, "texts": ["5", "no luck"]}
    assert [json.loads(used) for used in both] == [expected, expected]


@pytest.mark.extended
async def test_a_client_of_a_server_that_comes_later(page: Page) -> None:
    await page.evaluate("() => { globalThis.used = useTab(); }")
    await page.evaluate("mcpb.serve('tab', [location.origin])")
    assert json.loads(await page.evaluate("used"))["tools"] == TOOLS


async def test_a_client_of_a_server_of_transports_0_1(page: Page) -> None:
    """It neither announces itself nor answers a check, as its signals reach nobody."""
    await page.evaluate(DEAF_TO_SIGNALS)
    await page.evaluate("mcpb.serve('tab', [location.origin])")
    assert json.loads(await page.evaluate("useTab()"))["texts"] == ["5", "no luck"]


async def test_a_client_of_a_framed_server(page: Page, origins: Origins, tabbed: Bundle) -> None:
    url = f"{origins.host}/mcpb.html#serve={tabbed.origin}"
    used = json.loads(await page.evaluate("url => useFrame(url)", url))
    assert used == {"server": "a iframe server", "tools": TOOLS, "texts": ["5", "no luck"]}
    assert await page.locator("iframe").count() == 0


async def test_a_page_without_python_that_frames_a_bundle(
    context: BrowserContext, troubles: Troubles, origins: Origins, site: Path, peers: str, bundle_of: BundleOf
) -> None:
    shutil.copy(static_dir() / "host" / "page-server.js", site)
    url = bundle_of("pageserver").url
    page = await context.new_page()
    await page.goto(f"{origins.host}/mcpb.html")
    await page.wait_for_selector("html[data-state=loaded]")
    embed = """async ([url, options]) => {
        const { embedPageServer } = await import("./page-server.js");
        globalThis.end = embedPageServer(url, options);
    }"""
    await page.evaluate(embed, [url, {}])
    one, two = await Peer.tab(page), await Peer.tab(page)
    assert (await one.tools())[0] == "add"
    assert (await two.tool("add", a=2, b=3))["structuredContent"] == {"result": 5}

    # The frame's page is reloaded: its clients are gone, new ones are served.
    await page.evaluate("document.querySelector('iframe').src += ''")
    for client in (one, two):
        await client.heard("closed")
    three = await Peer.tab(page)
    assert (await three.tool("add", a=2, b=4))["structuredContent"] == {"result": 6}

    # It ends while a call waits, and another begins.
    waiting = asyncio.create_task(three.call("callTool", {"name": "wait"}))
    assert (await three.tool("add", a=1, b=1))["structuredContent"] == {"result": 2}
    await page.evaluate("end()")
    await three.heard("closed")
    assert "error" in await waiting
    assert await page.locator("iframe").count() == 0
    await page.evaluate("end()")
    said = [message["payload"] for message in await posted(page) if message["channel"] == "mcp-default"]
    assert said.count("mcp-server-stopped") == 2
    await page.evaluate(embed, [url, {"channel": "mine"}])
    four = await Peer.tab(page, None, "mine")
    assert (await four.tool("add", a=2, b=5))["structuredContent"] == {"result": 7}
    await page.close()


async def held(page: Page, method: str, *parameters: Any) -> Any:
    """Call what `held.py` offers, and return what it has answered."""
    with anyio.fail_after(BOOT_PATIENCE):
        answer = await page.evaluate("([method, given]) => held[method](...given)", [method, parameters])
    return json.loads(answer) if isinstance(answer, str) and answer[:1] == "{" else answer


async def opened(page: Page, kind: str, **parameters: Any) -> Any:
    """Open a client in Python."""
    return await held(page, "open", kind, json.dumps(parameters))


@pytest.mark.extended
async def test_a_page_server_that_stops_and_starts_again(page: Page) -> None:
    """A client in Python and one of npm's transports end with it; clients that are early wait for the next one."""
    browser = {"multiTabSupport": True, "cacheSupported": True, "elicitation": False}
    await page.evaluate("() => { globalThis.early = held.open('tab', '{}'); }")
    for turn in range(2):
        await held(page, "serve", json.dumps({"browser": browser}))
        theirs = await Peer.tab(page)
        ours = await opened(page, "tab") if turn else json.loads(await page.evaluate("early"))
        assert ours == {"number": turn, "name": "tabbed", "browser": browser}
        assert (await theirs.tool("add", a=2, b=3))["structuredContent"] == {"result": 5}
        assert await held(page, "call", ours["number"], "add", '{"a": 2, "b": 3}') == {"text": "5"}
        assert (await theirs.call("getServerCapabilities"))["result"]["tools"] == {"listChanged": True}
        await held(page, "stop")
        await theirs.heard("closed")
        assert await held(page, "ended", ours["number"]) == "PeerGone"
    introductions = [m["payload"] for m in await posted(page) if isinstance(m["payload"], dict)]
    told = [m["result"]["capabilities"] for m in introductions if "capabilities" in m.get("result", {})]
    assert [capabilities["browser"] for capabilities in told] == [browser] * 4


@pytest.mark.extended
async def test_a_framed_server_is_left_reloaded_and_kept(page: Page, origins: Origins, tabbed: Bundle) -> None:
    """The page has the iframe: it stays where a session ends, and a new one can begin in it."""
    url = f"{origins.host}/mcpb.html#serve={tabbed.origin}"
    make = """url => new Promise((done) => {
        const iframe = Object.assign(document.createElement("iframe"), { src: url, id: "kept", onload: done });
        document.body.append(iframe);
    })"""
    await page.evaluate(make, url)
    given = {"url": url, "place": "#kept"}
    first = await opened(page, "iframe", **given)
    assert await held(page, "call", first["number"], "add", '{"a": 2, "b": 3}') == {"text": "5"}
    await held(page, "close", first["number"])
    assert await page.locator("#kept").get_attribute("src") == url

    again = await opened(page, "iframe", **given)
    assert again["name"] == "a iframe server"
    frame = page.frame(url=url)
    assert frame is not None
    calling = "number => { globalThis.calling = held.call(number, 'wait'); }"
    await page.evaluate(calling, again["number"])
    await held(page, "call", again["number"], "add", '{"a": 2, "b": 3}')
    await frame.evaluate("location.reload()")
    assert json.loads(await page.evaluate("calling"))["code"] == -32000
    assert await held(page, "ended", again["number"]) == "PeerGone"

    third = await opened(page, "iframe", **given)
    assert await held(page, "call", third["number"], "add", '{"a": 2, "b": 3}') == {"text": "5"}
    await page.evaluate(calling, third["number"])
    await held(page, "call", third["number"], "add", '{"a": 2, "b": 3}')
    await page.evaluate("document.querySelector('#kept').remove()")
    assert json.loads(await page.evaluate("calling"))["code"] == -32000
    assert await held(page, "ended", third["number"]) == "PeerGone"

    # One that has just been made, without an address.
    await page.evaluate("document.body.append(Object.assign(document.createElement('iframe'), { id: 'kept' }))")
    fourth = await opened(page, "iframe", **given)
    assert await held(page, "call", fourth["number"], "add", '{"a": 2, "b": 3}') == {"text": "5"}
    await held(page, "close", fourth["number"])
