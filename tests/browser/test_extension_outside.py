"""Around the extension in a real Chromium: other extensions, web pages and programs as clients, and the popup."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from playwright.async_api import Error, Page, expect

from mcpframe.kit.hub.extension.build import build_extension
from mcpframe.kit.hub.extension.identity import EXTENSION_ID
from tests.bridge.hub_pages import Site, has_waits, hub_site
from tests.bridge.programs import ROOT
from tests.browser.extension import Extended, chromium_with
from tests.browser.mcpb import Peer, bundle_peers
from tests.browser.outers import PATIENCE
from tests.support.polling import until

ADD, WAIT = "website_tool_shop_localhost_tab1_add", "website_tool_shop_localhost_tab1_wait"
HOSTILE = "<script>globalThis.pwned = 1</script><img src=x onerror='globalThis.pwned = 2'> \u202etxt.exe\u0007"
AS_PROGRAM = """id => new Promise(done => {
    const port = chrome.runtime.connect(id, { name: "mcpframe-native" });
    port.onMessage.addListener(done);
    port.onDisconnect.addListener(() => done("closed"));
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    for (const frame of [{ begin: true }, { text }]) port.postMessage({ session: "1", ...frame });
})"""
REGISTER = """text => mcpb.servers[0].registerTool("evil", { title: text, description: text }, () => {
    throw new Error(text);
})"""

# So that a test can have the popup hear once more what the hub has said last.
REPEAT = """
const connect = chrome.runtime.connect.bind(chrome.runtime);
chrome.runtime.connect = (...given) => {
  const port = connect(...given);
  const heard = (show) => (state) => {
    globalThis.repeat = () => show(state);
    show(state);
  };
  return {
    onMessage: { addListener: (show) => port.onMessage.addListener(heard(show)) },
    onDisconnect: port.onDisconnect,
    postMessage: (message) => port.postMessage(message),
  };
};
"""
CHOOSE = """() => {
  const late = repeat;
  const ask = document.getElementById("ask");
  ask.click();
  late();
  return ask.checked;
}"""

FOCUS = """selector => {
    dispatchEvent(new Event("focus"));
    const enabled = [...document.querySelectorAll(selector)].filter(({ disabled }) => !disabled);
    return [...new Set(enabled.map(({ textContent }) => textContent))];
}"""
"""The window gets the focus, as when one that has covered it is closed. Returns what can be clicked then."""
FRAMED = """url => new Promise(done => {
    const frame = document.body.appendChild(document.createElement("iframe"));
    frame.onload = () => done(Boolean(frame.contentDocument));
    frame.src = url;
    window.open(url);
})"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with hub_site(tmp_path_factory.mktemp("pages")) as served:
        yield served


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory, pages: Site) -> Path:
    out = tmp_path_factory.mktemp("extension") / "built"
    return build_extension(out, sites=[pages.origin("shop")], clients=[pages.origin("chat")])


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another extension, with a client in its page."""
    folder = tmp_path_factory.mktemp("assistant")
    manifest = {"manifest_version": 3, "name": "An assistant", "version": "1", "action": {}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    bundle_peers(folder)
    page = (
        '<!doctype html><meta charset="utf-8"><title>A client</title><script type="module" src="mcpb_page.js"></script>'
    )
    (folder / "page.html").write_text(page)
    return folder


@pytest.fixture
async def extended(extension: Path, assistant: Path, tmp_path: Path) -> AsyncIterator[Extended]:
    async with chromium_with(extension, tmp_path, assistant) as running:
        expect.set_options(timeout=PATIENCE * 1000)
        yield running


async def opened(extended: Extended, url: str) -> Page:
    page = await extended.context.new_page()
    await page.goto(url)
    return page


async def assistants_page(extended: Extended) -> Page:
    """Return a page of the other extension, whose id is that of its folder."""
    targets = await extended.client_page.evaluate("chrome.runtime.id")
    assert targets == EXTENSION_ID
    page = await opened(extended, "chrome://extensions")
    script = "() => new Promise(done => chrome.developerPrivate.getExtensionsInfo({}, done))"
    [id_] = [each["id"] for each in await page.evaluate(script) if each["name"] == "An assistant"]
    await page.goto(f"chrome-extension://{id_}/page.html")
    await page.wait_for_function("globalThis.mcpb")
    return page


@pytest.mark.extended
async def test_other_extensions_and_web_pages_are_clients(extended: Extended, pages: Site, tmp_path: Path) -> None:
    assert extended.id == EXTENSION_ID
    popup = await extended.context.new_page()
    await popup.add_init_script(REPEAT)
    await popup.goto(f"{extended.origin}/popup.html")
    shop = await opened(extended, pages.shop())
    await shop.wait_for_function("document.title === 'Served'")

    # Another extension waits until the user has decided.
    page = await assistants_page(extended)
    assert await page.evaluate(AS_PROGRAM, EXTENSION_ID) == "closed"
    connecting = asyncio.ensure_future(Peer.at_extension(page, EXTENSION_ID))
    clients = popup.locator("#clients")
    await expect(clients).to_contain_text("wants to connect")
    assert not connecting.done()
    allow = clients.get_by_role("button", name=re.compile("^Allow"))
    await expect(allow).to_be_enabled()
    assert "Allow" not in await popup.evaluate(FOCUS, "#clients button")
    await expect(allow).to_be_enabled()
    await allow.press("Enter")
    peer = await connecting
    await expect(clients.get_by_role("button", name=re.compile("^Deny chrome-extension"))).to_be_focused()
    await until(lambda: has(peer, ADD), PATIENCE, pause=0.05)
    assert (await peer.tool(ADD, a=2, b=3))["content"][0]["text"] == "5"
    await expect(popup.locator("#status")).to_contain_text("1 client")

    # A web page that the build has allowed; another one has no way to connect.
    chat = await opened(extended, pages.shop("chat"))
    await chat.wait_for_function("globalThis.mcpb")
    other = await Peer.at_extension(chat, EXTENSION_ID, "2026-07-28")
    assert ADD in await other.tools()
    assert (await other.tool(ADD, a=3, b=3))["content"][0]["text"] == "6"
    evil = await opened(extended, pages.shop("evil"))
    assert not await evil.evaluate("Boolean(globalThis.chrome?.runtime?.connect)")
    await expect(popup.locator("#status")).to_contain_text("2 clients")
    waiting = asyncio.ensure_future(other.call("callTool", {"name": WAIT, "arguments": {}}))
    await chat.close()
    await asyncio.gather(waiting, return_exceptions=True)
    await expect(popup.locator("#status")).to_contain_text("1 client")

    # No page can have the popup in a frame, or in a window.
    for each in ("popup.html?ask", "hub/index.html"):
        await evil.evaluate(FRAMED, f"{extended.origin}/{each}")
        assert not [frame for frame in evil.frames if frame.url.startswith(extended.origin)]
        opened_there = [page.url for page in extended.context.pages if page != popup]
        assert f"{extended.origin}/{each}" not in opened_there

    # Hostile text is text.
    await shop.evaluate(REGISTER, HOSTILE)
    tools = popup.locator("#tabs")
    await tools.locator("summary").click()
    await expect(tools).to_contain_text("<script>globalThis.pwned = 1</script><img src=x")
    await expect(tools).not_to_contain_text("\u202e")
    assert await popup.locator("#tabs script, #tabs img").count() == 0

    # Consent: denied, then allowed once.
    assert await popup.evaluate(CHOOSE)  # also where the hub has said something just before
    await until(lambda: asks(extended), PATIENCE, pause=0.05)
    await expect(popup.get_by_label("Ask before each call")).to_be_checked()
    for answer in ("Deny", "Allow once"):
        async with extended.context.expect_page() as asking:
            calling = asyncio.ensure_future(
                peer.call("callTool", {"name": ADD, "arguments": {"a": 1, "b": 1, "x": HOSTILE}})
            )
        window = await asking.value
        await expect(window.locator("#question-arguments")).to_contain_text("<script>")
        await expect(window.locator("#question-tool")).to_have_text("add")
        await expect(window.locator("#question-client")).to_contain_text("chrome-extension://")
        assert await window.locator("#question-named").inner_text()
        await expect(window.get_by_role("button", name=answer, exact=True)).to_be_enabled()
        assert await window.evaluate(FOCUS, "#question button") == ["Deny"]
        closing = asyncio.ensure_future(window.wait_for_event("close"))
        with suppress(Error):  # the window closes itself, which may be before the click has returned
            await window.get_by_role("button", name=answer, exact=True).click()
        await closing
        outcome = await calling
        assert ("result" in outcome) is (answer == "Allow once"), outcome
    await popup.get_by_label("Ask before each call").uncheck()
    for tab in (popup, shop):
        assert await tab.evaluate("globalThis.pwned") is None

    # The service worker, through which the ports go, may be ended by the browser.
    await extended.stop_worker()
    assert await peer.heard("closed")
    again = await Peer.at_extension(page, EXTENSION_ID)
    await until(lambda: has(again, ADD), PATIENCE, pause=0.05)

    # A page that the user excludes, and a client that may not connect any more.
    await shop.bring_to_front()
    await popup.locator("#page-switch").click()
    await expect(tools).to_contain_text("No open page offers tools")
    await popup.locator("#page-switch").click()
    await clients.get_by_role("button", name=re.compile("^Deny chrome-extension")).click()
    assert await again.heard("closed")
    async with asyncio.timeout(PATIENCE):
        refused = (await asyncio.gather(Peer.at_extension(page, EXTENSION_ID), return_exceptions=True))[0]
    assert isinstance(refused, Exception)


async def has(peer: Peer, name: str) -> bool:
    return name in await peer.tools()


async def asks(extended: Extended) -> bool:
    """Return whether the hub has heard that it is to ask before each call: then it stores that."""
    key = "mcpframe:choices"
    stored = await extended.client_page.evaluate("async key => (await chrome.storage.local.get(key))[key]", key)
    return bool(json.loads(stored or "{}").get("ask"))


@pytest.mark.extended  # bridge/test_hub_native.py has such programs, without the extension
async def test_programs_of_this_machine_are_clients(
    extension: Path, pages: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-m", "mcpframe"]
    profile = f"--profile={tmp_path / 'profile'}"
    home = {**os.environ, "HOME": str(tmp_path)}  # where no client is configured
    await anyio.run_process([*command, "install", "--hub", "--native", profile, "--yes"], env=home, cwd=tmp_path)
    server = StdioServerParameters(
        command=command[0], args=[*command[1:], "hub", "--connect"], env=dict(os.environ), cwd=ROOT
    )
    async with Client(stdio_client(server), mode="legacy", cache=None) as client:

        async def offers(*wanted: str) -> bool:
            return set(wanted) == {tool.name for tool in (await client.list_tools()).tools} & {ADD}

        assert await offers()

        async def offers_nothing() -> bool:
            with suppress(MCPError):  # a request that is on its way when the browser ends
                return await offers()
            return False

        async with chromium_with(extension, tmp_path) as extended:
            shop = await opened(extended, pages.shop())
            await until(lambda: offers(ADD), PATIENCE, pause=0.05)
            long = "½" * 700_000  # more than the browser takes of a program at once
            with anyio.fail_after(PATIENCE):
                result = await client.call_tool(ADD, {"a": 2, "b": 3, "more": long})
            assert result.content[0].text == "5"
            popup = await opened(extended, f"{extended.origin}/popup.html")
            await expect(popup.locator("#native")).to_contain_text("are served")
            await expect(popup.locator("#log")).to_contain_text("Tool 'add' is executed")
            # The hub's document ends, and with it the program; both are started again.
            calling = asyncio.ensure_future(client.call_tool(WAIT, {}))
            await has_waits(shop, 1)
            await extended.end_hub()
            with anyio.fail_after(PATIENCE), pytest.raises(MCPError):
                await calling
            await until(lambda: offers(ADD), PATIENCE, pause=0.05)
            # So does the service worker, which has started the program; the hub goes on.
            calling = asyncio.ensure_future(client.call_tool(WAIT, {}))
            await has_waits(shop, 2)
            await extended.stop_worker()
            with anyio.fail_after(PATIENCE), pytest.raises(MCPError) as ended:
                await calling
            assert ended.value.error.data["mayHaveRun"]
            await until(lambda: offers(ADD), PATIENCE, pause=0.05)
            calling = asyncio.ensure_future(client.call_tool(WAIT, {}))
        with anyio.fail_after(PATIENCE), pytest.raises(MCPError):
            await calling
        await until(offers_nothing, PATIENCE, pause=0.05)
