"""Tabs of one hub in Chromium: Python in a bundle, and a page without Python with the official server of MCP-B."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.async_api import BrowserContext, Page, Route

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, Troubles
from tests.browser.engines import until
from tests.browser.firefox import ensure_firefox, running
from tests.browser.mcpb import bring, bundle_peers
from tests.release.host_package import HUB_SCRIPTS, hub_scripts
from tests.support.built import built

PLAIN = "<!doctype html><meta charset='utf-8'><title>Without Python</title><link rel='icon' href='data:,'>"
JOIN = "async () => { Object.assign(globalThis, await import('/page-hub.js')); globalThis.leave = joinHub('shop'); }"
WEBMCP = """() => {
    const greet = { name: "greet", description: "Greets", inputSchema: '{"type": "object"}' };
    const context = Object.assign(new EventTarget(), {
        getTools: async () => [greet],
        executeTool: async (tool, input) => `Hello, ${input.who}`,
    });
    Object.defineProperty(document, "modelContext", { value: context });
}"""
CHANGED = {"reason": "HubChanged", "mayHaveRun": True}


@pytest.fixture(scope="module")
def peers(site: Path) -> str:
    """The text of the script with the official peers, as a module of the site."""
    return bundle_peers(site)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bundle]:
    """The bundle of `servers/apptab`, and beside it a page without Python."""
    folder = tmp_path_factory.mktemp("app")
    root, result = built("apptab")
    shutil.copytree(root, folder, dirs_exist_ok=True)
    (folder / "plain.html").write_text(PLAIN)
    for name in ("page-hub.js", "hub-port.js", "host-json.js"):
        shutil.copy(static_dir() / "host" / name, folder)
    (folder / HUB_SCRIPTS).write_text(hub_scripts())
    with serve_folder(folder) as served:
        yield Bundle(folder, f"http://bundle.localhost:{served.port}", result.url_path)


async def open_tab(context: BrowserContext, app: Bundle) -> Page:
    """Open a tab with Python."""
    page = await context.new_page()
    page.set_default_timeout(BOOT_PATIENCE * 1000)
    await page.goto(app.url)
    await page.wait_for_selector("html[data-state=joined]")
    return page


async def open_plain(context: BrowserContext, app: Bundle, peers: str) -> Page:
    """Open a tab without Python, with a page server."""
    page = await context.new_page()
    page.set_default_timeout(BOOT_PATIENCE * 1000)
    await page.goto(f"{app.origin}/plain.html")
    await serve_plain(page, peers)
    return page


async def serve_plain(page: Page, peers: str) -> None:
    """Start the page server, and join."""
    await bring(page, peers)
    await page.evaluate("mcpb.serve('tab', [location.origin])")
    await page.evaluate(JOIN)


async def tools(page: Page, count: int) -> list[str]:
    """Wait until a tab sees so many tools."""
    with anyio.fail_after(BOOT_PATIENCE):
        return list(json.loads(await page.evaluate("count => tab.tools(count)", count)))


async def call(page: Page, name: str, **arguments: Any) -> Any:
    """Call a tool from a tab."""
    with anyio.fail_after(BOOT_PATIENCE):
        answer = await page.evaluate("([name, given]) => tab.call(name, given)", [name, json.dumps(arguments)])
    return json.loads(answer) if str(answer)[:1] == "{" else answer


async def called_to_wait(plain: Page, times: int) -> None:
    """Wait until the tool `wait` was called so often."""
    await plain.wait_for_function(
        "times => mcpb.posted.filter(({ payload }) => payload.params?.name === 'wait').length === times", arg=times
    )


async def leads(page: Page) -> None:
    """Wait until a tab has the hub."""
    await page.wait_for_function("() => tab.leads()")


async def test_tabs_share_their_tools_and_survive_each_other(
    context: BrowserContext, troubles: Troubles, app: Bundle, peers: str
) -> None:
    one = await open_tab(context, app)
    await leads(one)
    two = await open_tab(context, app)
    plain = await open_plain(context, app, peers)
    ofs = ["add", "fail", "grow", "wait"]
    everything = sorted([*(f"{tab}_{name}" for tab in (1, 2) for name in ("add", "wait")), *(f"3_{n}" for n in ofs)])
    for page in (one, two):
        assert await tools(page, 8) == everything
        for tab in (1, 2, 3):
            assert await call(page, f"{tab}_add", a=tab, b=10) == str(tab + 10)
    assert not await two.evaluate("tab.leads()")

    # A call is under way in the second tab, and the one that leads is closed.
    waiting = asyncio.create_task(call(two, "2_wait"))
    await two.wait_for_selector("html[data-waiting=yes]")
    await one.close()
    assert await waiting == CHANGED
    await two.wait_for_selector("html[data-waiting=cancelled]")
    await leads(two)
    assert await tools(two, 6) == [name for name in everything if name[0] != "1"]
    assert await call(two, "3_add", a=1, b=1) == "2"

    # A page that is loaded again keeps its number.
    await plain.reload()
    assert await tools(two, 2) == ["2_add", "2_wait"]
    await serve_plain(plain, peers)
    await tools(two, 6)
    assert await call(two, "3_add", a=2, b=1) == "3"

    # A document's tools (WebMCP), and the end of what it offers.
    other = await context.new_page()
    await other.goto(f"{app.origin}/plain.html")
    await other.evaluate(WEBMCP)
    await other.evaluate(JOIN)
    assert "4_greet" in await tools(two, 7)
    assert await call(two, "4_greet", who="Ada") == "Hello, Ada"
    await other.evaluate("leave()")
    await tools(two, 6)

    # What a tool keeps in its tab is read through the hub.
    with anyio.fail_after(BOOT_PATIENCE):
        place, rows, last, total = json.loads(await two.evaluate("tab.keep()"))
    assert place == "website://bundle.localhost/tab2/"
    assert (rows, last, total) == (2500, [2499, 2499**2], sum(range(2500)))


@pytest.mark.extended
async def test_a_tab_that_leads_may_crash_freeze_or_hang(
    context: BrowserContext, troubles: Troubles, app: Bundle, peers: str
) -> None:
    troubles.expect("does not respond")
    one = await open_tab(context, app)
    await leads(one)
    two = await open_tab(context, app)
    plain = await open_plain(context, app, peers)
    connect = """async () => {
        globalThis.number = await mcpb.use(new PageHubTransport("shop"));
        return (await mcpb.clients[number].listTools()).tools.length;
    }"""
    await tools(two, 8)
    assert await plain.evaluate(connect) == 8

    async def call_from_plain() -> Any:
        full = "website_tool_bundle_localhost_tab2_add"
        return await plain.evaluate("name => mcpb.clients[number].callTool({ name, arguments: { a: 2, b: 2 } })", full)

    assert (await call_from_plain())["structuredContent"] == {"result": 4}

    # It crashes.
    waiting = asyncio.create_task(call(two, "3_wait"))
    await called_to_wait(plain, 1)
    devtools = await context.new_cdp_session(one)
    crashed = asyncio.Event()
    one.on("crash", lambda _: crashed.set())
    crashing = asyncio.create_task(devtools.send("Page.crash"))
    with anyio.fail_after(BOOT_PATIENCE):
        await crashed.wait()
    crashing.cancel()
    await asyncio.gather(crashing, return_exceptions=True)  # an error that nobody takes would fail another test
    await leads(two)
    assert await waiting == CHANGED
    await tools(two, 6)
    assert await plain.evaluate("mcpb.heard(number, 'closed')") == "closed"
    assert await plain.evaluate(connect) == 6
    assert (await call_from_plain())["structuredContent"] == {"result": 4}

    # It is frozen: another one leads, and it comes back later. Headless Chromium freezes no page, as all are visible to
    # it: what it tells a page before, and afterwards, is dispatched here.
    three = await open_tab(context, app)
    await tools(three, 8)
    waiting = asyncio.create_task(call(three, "3_wait"))
    await called_to_wait(plain, 2)
    await two.evaluate("() => { document.dispatchEvent(new Event('freeze')); }")
    await leads(three)
    assert await waiting == CHANGED
    assert "2_add" not in await tools(three, 6)
    await two.evaluate("() => { document.dispatchEvent(new Event('resume')); }")
    assert "2_add" in await tools(three, 8)
    assert not await two.evaluate("tab.leads()")

    # It hangs: another one takes the lead from it, and it knows when it goes on.
    answered = asyncio.Event()

    async def answer(route: Route) -> None:
        await answered.wait()
        await route.fulfill(body="")

    await two.evaluate("tab.hurry()")  # not before: on a busy machine a tab may take its time
    await three.route("**/hang", answer)
    hang = "() => { const asked = new XMLHttpRequest(); asked.open('GET', '/hang', false); asked.send(); }"
    hanging = asyncio.create_task(three.evaluate(hang))
    await leads(two)
    assert "4_add" not in await tools(two, 6)
    assert await call(two, "3_add", a=5, b=1) == "6"
    answered.set()
    await hanging
    await tools(two, 8)
    assert not await three.evaluate("tab.leads()")
    assert await call(three, "2_add", a=6, b=1) == "7"


@pytest.mark.extended
def test_in_firefox(app: Bundle, tmp_path: Path) -> None:
    """In frames of one page, which are tabs of the hub like others."""
    program = ensure_firefox()
    if program is None:
        pytest.skip("no Firefox is installed, and none could be: install firefox or firefox-esr")
    add = "document.body.append(Object.assign(document.createElement('iframe'), {{ id: '{}', src: '{}' }}));"
    with running(program, tmp_path / "profile") as firefox:
        firefox.open(f"{app.origin}/plain.html")
        for name in ("one", "two"):
            firefox.run(add.format(name, app.url))
            until(
                firefox,
                f"document.querySelector('#{name}').contentDocument?.documentElement?.dataset.state === 'joined'",
            )
        assert json.loads(firefox.run("return await tab.tools(4)", "#two")) == ["1_add", "1_wait", "2_add", "2_wait"]
        until(firefox, "tab.leads()", "#one")
        assert firefox.run("return await tab.call('1_add', '{\"a\": 1, \"b\": 2}')", "#two") == "3"
        firefox.run("document.querySelector('#one').remove()")
        until(firefox, "tab.leads()", "#two")
        assert json.loads(firefox.run("return await tab.tools(2)", "#two")) == ["2_add", "2_wait"]
        assert firefox.run("return await tab.call('2_add', '{\"a\": 2, \"b\": 2}')", "#two") == "4"
