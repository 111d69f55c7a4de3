"""A bundle's tools at the document's `modelContext`: Chromium's own, and npm's `@mcp-b/webmcp-polyfill`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.async_api import Browser, BrowserContext, Frame, Page

from tests.browser.by_hand import newest_frame
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles
from tests.browser.mcpb import Peer, bring, bundle_peers
from tests.browser.webmcp import polyfill_text, profile
from tests.support.built import SNAPSHOTS

TOOLS = ["add", "cancelled", "fail", "grow", "hang", "shrink", "who_asks_"]
HELPERS = """
    globalThis.names = async (options) =>
        (await document.modelContext.getTools(options)).map((tool) => tool.name).sort();
    globalThis.changed = (wanted) => new Promise((resolve) => {
        const look = async () => {
            if (JSON.stringify(await names(globalThis.from)) === JSON.stringify(wanted)) resolve(wanted);
        };
        document.modelContext.addEventListener("toolchange", look);
        look();
    });
    globalThis.toolOf = async (name) =>
        (await document.modelContext.getTools(globalThis.from)).find((tool) => tool.name === name);
    globalThis.call = async (name, input, options) => {
        const native = !document.modelContext.__isWebMCPPolyfill;
        const given = native ? input : JSON.stringify(input);
        return JSON.parse(await document.modelContext.executeTool(await toolOf(name), given, options));
    };
"""
ABORTED = """async () => {
    const ending = new AbortController();
    const call = document.modelContext.executeTool(await toolOf("hang"), {}, { signal: ending.signal });
    await globalThis.call("cancelled", {});
    ending.abort();
    return call.catch((error) => error.name);
}"""


@pytest.fixture
async def documents(webmcp_browser: Browser) -> AsyncIterator[BrowserContext]:
    """A profile of that Chromium."""
    async with profile(webmcp_browser, HELPERS) as (context, _):
        yield context


@pytest.fixture(scope="session")
def offered(bundle_of: BundleOf) -> Bundle:
    """The bundle of `servers/webmcp`, which the host's origin may embed."""
    return bundle_of("webmcp")


@pytest.fixture(scope="module")
def peers(site: Path) -> str:
    """The text of the script with the official peers of MCP-B."""
    return bundle_peers(site)


async def wait_for(page: Page | Frame, names: list[str]) -> None:
    """Wait until these are the tools that the page sees."""
    with anyio.fail_after(BOOT_PATIENCE):
        await page.evaluate("names => changed(names)", names)


async def call(page: Page | Frame, name: str, **arguments: Any) -> Any:
    """Call a tool with `executeTool`, and return its result."""
    with anyio.fail_after(BOOT_PATIENCE):
        return await page.evaluate("given => call(...given)", [name, arguments])


def text_of(result: Any) -> str:
    """Return the text of a result."""
    [block] = result["content"]
    return str(block["text"])


async def test_a_bundle_in_a_tab(documents: BrowserContext, offered: Bundle) -> None:
    page = await documents.new_page()
    await page.goto(offered.url)
    await wait_for(page, TOOLS)
    shown = await page.evaluate("async () => { const { window, ...tool } = await toolOf('add'); return tool; }")
    assert (shown["title"], shown["description"], shown["origin"]) == ("Add", "Adds two numbers.", offered.origin)
    assert shown["inputSchema"]["required"] == ["a", "b"]
    assert shown["annotations"]["readOnlyHint"]
    assert not shown["annotations"]["untrustedContentHint"]
    assert await page.evaluate("async () => (await toolOf('fail')).annotations.consequentialHint")

    assert (await call(page, "add", a=2, b=3))["structuredContent"] == {"result": 5}
    failed = await call(page, "fail")
    assert failed["isError"]
    assert "no luck" in text_of(failed)
    for arguments in ({"a": 2}, {"a": 2, "b": "three"}, {"a": 2, "b": []}):
        bad = await call(page, "add", **arguments)
        assert bad["isError"]
        assert "b" in text_of(bad)
    assert text_of(await call(page, "who_asks_")) == f"webmcp {offered.origin} transport"

    await call(page, "grow")
    await wait_for(page, sorted([*TOOLS, "more"]))
    assert text_of(await call(page, "more")) == "more"
    await call(page, "shrink")
    await wait_for(page, TOOLS)

    assert await page.evaluate(ABORTED) == "AbortError"
    assert (await call(page, "cancelled"))["structuredContent"] == {"result": ["cancelled"]}


async def host(documents: BrowserContext, origins: Origins, offered: Bundle, *permissions: str) -> Page:
    """Open a host's page that frames the bundle, and sees what it exposes."""
    page = await documents.new_page()
    await page.goto(f"{origins.host}/host.html")
    await page.wait_for_function("() => window.lab")
    await page.evaluate("origin => { globalThis.from = { fromOrigins: [origin] }; }", offered.origin)
    options = {"url": offered.url, "permissions": list(permissions)}
    await page.evaluate("options => lab.connect(options)", options)
    return page


async def ask(page: Page, number: int, method: str, **params: Any) -> Any:
    """Ask the framed server something over the host's own connection, and return the result."""
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    with anyio.fail_after(BOOT_PATIENCE):
        await page.evaluate("text => lab.send(text)", json.dumps(message))
        while (payload := (await page.evaluate("lab.next('received')"))["payload"]).get("id") != number:
            pass
    return payload["result"]


async def test_a_frame_whose_policy_allows_tools(documents: BrowserContext, origins: Origins, offered: Bundle) -> None:
    page = await host(documents, origins, offered, "tools")
    await page.evaluate("lab.next('opened')")
    await wait_for(page, TOOLS)
    assert (await call(page, "add", a=2, b=3))["structuredContent"] == {"result": 5}
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}}
    await ask(page, 1, "initialize", **about)
    # The host's own session goes on beside it, and each caller has a session of its own.
    who = await ask(page, 2, "tools/call", name="who asks?", arguments={})
    assert text_of(who) == f"sep {origins.host} transport"
    assert text_of(await call(page, "who_asks_")) == f"webmcp {offered.origin} transport"
    # A frame beside it that may use tools, too, is not in its list.
    script = """url => new Promise((resolve) => {
        const frame = Object.assign(document.createElement("iframe"), { allow: "tools", src: url, onload: resolve });
        document.body.append(frame);
    })"""
    await page.evaluate(script, f"{origins.stranger}/page.html")
    stranger = newest_frame(page)
    await stranger.wait_for_url(f"{origins.stranger}/page.html")
    assert await stranger.evaluate("origin => names({ fromOrigins: [origin] })", offered.origin) == []
    # What is announced to the host is a change for the document, too.
    await ask(page, 3, "tools/call", name="grow", arguments={})
    await wait_for(page, sorted([*TOOLS, "more"]))
    assert await page.evaluate(ABORTED) == "AbortError"
    # With the session all is over.
    hanging = """async () => {
        const call = globalThis.call("hang", {});
        await globalThis.call("cancelled", {});
        lab.iframe.remove();
        return call.catch((error) => error.name);
    }"""
    assert await page.evaluate(hanging) == "UnknownError"
    await wait_for(page, [])


async def test_frames_that_offer_nothing(documents: BrowserContext, origins: Origins, offered: Bundle) -> None:
    """One whose policy does not allow it imports nothing for it; an origin that is not allowed sees nothing."""
    page = await host(documents, origins, offered)
    await page.evaluate("lab.next('opened')")
    frame = next(frame for frame in page.frames if frame.url.startswith(offered.origin))
    assert await frame.evaluate("document.featurePolicy.allowsFeature('tools')") is False
    assert await page.evaluate("names(from)") == []


@pytest.mark.skipif(not SNAPSHOTS, reason="about pages from a snapshot")
async def test_its_first_answers_need_no_file(documents: BrowserContext, offered: Bundle) -> None:
    page = await documents.new_page()
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url) if request.resource_type == "xhr" else None)
    await page.goto(offered.url)
    await wait_for(page, TOOLS)
    await call(page, "add", a=2, b=3)
    await call(page, "who_asks_")
    assert found == []


async def test_the_polyfill_in_a_tab(context: BrowserContext, troubles: Troubles, offered: Bundle) -> None:
    """It has no `exposedTo`, its `executeTool` takes a text, and it passes no signal to what it calls."""
    await context.add_init_script(polyfill_text())
    await context.add_init_script(HELPERS)
    page = await context.new_page()
    await page.goto(offered.url)
    await wait_for(page, TOOLS)
    assert (await call(page, "add", a=2, b=3))["structuredContent"] == {"result": 5}
    bad = await call(page, "add", a=2)
    assert bad["isError"]
    assert "b" in text_of(bad)
    await call(page, "grow")
    await wait_for(page, sorted([*TOOLS, "more"]))


HOSTILE = {
    "a getter that throws": "Object.defineProperty(document, 'modelContext', { get() { throw new Error('no'); } })",
    "a policy that throws": "Object.defineProperty(document, 'featurePolicy', { get() { throw new Error('no'); } })",
    "no method": "Object.defineProperty(document, 'modelContext', { value: {} })",
    "a text": "Object.defineProperty(document, 'modelContext', { value: 'text' })",
    "a method that throws": "document.modelContext.registerTool = () => { throw null; }",
    "a method that never ends": "document.modelContext.registerTool = () => new Promise(() => {})",
    "a rejected value": "document.modelContext.registerTool = () => Promise.reject(undefined)",
    "something else": "document.modelContext.registerTool = () => 7",
}


@pytest.mark.extended
async def test_a_page_whose_scripts_have_replaced_it(documents: BrowserContext, offered: Bundle, peers: str) -> None:
    """The clients of MCP-B are served all the same."""
    for name, script in HOSTILE.items():
        page = await documents.new_page()
        await page.add_init_script(f"if (window === top) {{ {script}; }}")
        await page.goto(offered.url)
        await page.wait_for_selector("#mcpframe-page[data-state=standalone]", timeout=BOOT_PATIENCE * 1000)
        await bring(page, peers)
        client = await Peer.tab(page)
        assert (await client.tool("add", a=2, b=3))["structuredContent"] == {"result": 5}, name
        await page.close()


ODD_CALLS = (
    *("", "null", "7", "'text'", "[]", "1n", "() => {}", "{ a: 1n, b: 2 }", "{ get a() { throw 1; } }"),
    *(
        "{ toJSON() { throw 1; } }",
        "new Proxy({}, { ownKeys() { throw 1; } })",
        "{ a: 1 }, null",
    ),
    *("'x'.repeat(70_000_000)", "(() => { const own = {}; own.own = own; return own; })()"),
    *("{ a: 1 }, { get signal() { throw 1; } }", "{ a: 1 }, { signal: 7 }", "{ a: 1 }, { signal: {} }"),
    *("{ a: 1 }, { signal: AbortSignal.abort() }", "{ a: 1 }, { signal: { addEventListener: 7 } }"),
)
LYING = """async () => {
    const real = document.modelContext.registerTool.bind(document.modelContext);
    globalThis.tools = {};
    document.modelContext.registerTool = (tool, options) => {
        globalThis.tools[tool.name] = tool.execute;
        return real(tool, options);
    };
}"""


async def test_a_page_whose_scripts_call_as_no_browser_does(documents: BrowserContext, offered: Bundle) -> None:
    page = await documents.new_page()
    await page.add_init_script(f"({LYING})()")
    await page.goto(offered.url)
    await wait_for(page, TOOLS)
    for arguments in ODD_CALLS:
        result = await page.evaluate(f"async () => tools.add({arguments})")
        assert result["isError"], arguments
    assert (await call(page, "add", a=2, b=3))["structuredContent"] == {"result": 5}
