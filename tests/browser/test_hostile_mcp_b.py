"""The matrix of bad input and attacks for page servers of MCP-B and their clients, as far as only a browser shows it.

    line                                                        what must happen
    frames in the page, of any origin, and pages it opened      not heard by the server, the client, the relay
    what JSON cannot spell, what cannot be cloned, 50 MB        refused or nothing; the page goes on
    a server that answers with ids made to break a parser       nobody's; the client's Python goes on
    a framed server that goes to another origin in mid-call     the call fails; nothing is posted there
    addresses that are no page's                                an error, and no frame

`tests/unit/hostile/test_page_server.py` and `test_page_clients.py` have what the connection decides.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.async_api import Browser, BrowserContext, Frame, Page

from mcpframe.kit.base.data import static_dir
from tests.browser.by_hand import framed, loaded, newest_frame
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles, watched
from tests.contract.playing import POLL
from tests.hostile.values import UNCLONEABLE, Record
from tests.support.mcpb import MESSAGES, to_client, to_server

Json = dict[str, Any]
TAB = "mcp-default"
ADDRESSES = [
    *("javascript:parent.document.title = 'broken'", "data:text/html,<script>parent.document.title = 'x'</script>"),
    *("about:blank", "about:srcdoc", "file:///etc/passwd", "ftp://a.example/", "blob:null/1", "ui://a/b", "https://"),
]
ODD_MEMBERS = [
    "1",
    "null",
    "[]",
    "['mcp-default']",
    "{ toString: 1 }",
    "{ toString: null, valueOf: null }",
    "new Map()",
]
TURN = "new Promise((done) => { addEventListener('message', done, { once: true }); postMessage(1, '*'); })"


def posting(messages: list[str], target: str) -> str:
    """Return a script that posts messages, which are expressions, one by one."""
    return f"() => {{ for (const message of [{','.join(messages)}]) {target}.postMessage(message, '*'); }}"


async def heard_by(frame: Page | Frame) -> list[Any]:
    """Return what a page by hand has heard of MCP-B, after what was posted to it before."""
    await frame.evaluate(TURN)
    heard: list[Any] = await frame.evaluate("heard.map(({ data }) => data).filter((data) => data?.type === 'mcp')")
    return heard


async def test_a_page_that_relays_hears_nobody_else(
    context: BrowserContext, troubles: Troubles, origins: Origins, site: Path, record_property: Record
) -> None:
    """`page-server.js` around a page by hand: it relays between its own window and the frame, and no more."""
    shutil.copy(static_dir() / "host" / "page-server.js", site)
    page = await context.new_page()
    await page.goto(f"{origins.host}/page.html")
    for url in ADDRESSES:
        script = (
            "async (url) => { try { (await import('./page-server.js')).embedPageServer(url); } catch { return 1; } }"
        )
        assert await page.evaluate(script, url) == 1, url
    assert await page.evaluate("[document.title, frames.length]") == ["A page", 0]
    embed = "async (url) => { self.end = (await import('./page-server.js')).embedPageServer(url); }"
    await page.evaluate(embed, f"{origins.bundle}/page.html")
    server = await loaded(newest_frame(page), f"{origins.bundle}/page.html")
    strangers = [await framed(page, f"{origin}/page.html") for origin in (origins.host, origins.stranger)]
    strangers.append(await framed(server, f"{origins.host}/page.html"))
    envelopes = [
        f"{{ type: {kind}, channel: {channel}, direction: {direction}, payload: 'x' }}"
        for odd in ODD_MEMBERS
        for kind, channel, direction in (
            (odd, "'mcp-default'", "'client-to-server'"),
            ("'mcp'", odd, "'client-to-server'"),
            ("'mcp'", "'mcp-default'", odd),
            ("'mcp'", "'mcp-iframe'", f"[{odd}]"),
        )
    ]
    lies = [json.dumps(message) for message in (*MESSAGES, *(to_client("mcp-server-ready", TAB), to_server({}, TAB)))]

    async def lie() -> None:
        for stranger in strangers:
            await stranger.evaluate(posting([*lies, *envelopes], "top"))
        await page.evaluate(posting(envelopes, "self"))
        await server.evaluate(posting(envelopes, "parent"))

    call = to_server({"jsonrpc": "2.0", "id": 1, "method": "ping"}, TAB)
    await lie()
    await page.evaluate("text => say(text, window)", json.dumps(call))
    await page.evaluate(TURN)
    assert await heard_by(server) == [], "the frame has not said that it is ready"
    await server.evaluate("text => say(text)", json.dumps(to_client("its own")))
    await page.wait_for_function(
        "() => heard.some(({ data }) => data.channel === 'mcp-default' && data.payload === 'its own')"
    )
    await lie()
    await page.evaluate("text => say(text, window)", json.dumps(call))
    await server.wait_for_function("() => heard.some(({ data }) => data.type === 'mcp')", polling=POLL)
    assert await heard_by(server) == [to_server(call["payload"])]
    troubles.expect("Failed to execute 'postMessage'")
    await server.goto(f"{origins.stranger}/page.html")
    await page.wait_for_function(
        "() => heard.some(({ data }) => data.channel === 'mcp-default' && data.payload === 'mcp-server-stopped')"
    )
    relayed = (
        "heard.filter(({ origin, data }) => origin === self.origin && data.direction === 'server-to-client').length"
    )
    before = await page.evaluate(relayed)
    await server.evaluate("texts => texts.forEach((text) => say(text))", lies)
    await page.evaluate("text => say(text, window)", json.dumps(call))
    await page.evaluate(TURN)
    assert await heard_by(server) == []
    assert await page.evaluate(relayed) == before
    await page.evaluate("end()")
    assert await page.evaluate("document.querySelectorAll('iframe[hidden]').length") == 0
    record_property("lines", len(ADDRESSES) + 2 * len(envelopes) * (len(strangers) + 2) + len(lies) * 7)


# Pages in Python


@pytest.fixture(scope="module")
def tabbed(bundle_of: BundleOf) -> Bundle:
    """The bundle of `servers/tabbed`, whose page is a client of page servers, and one itself."""
    return bundle_of("tabbed")


@pytest.fixture
async def python(browser: Browser, tabbed: Bundle) -> AsyncIterator[tuple[Page, Troubles]]:
    """Its page, in which frames of any origin are allowed, as in the pages of others."""
    context = await browser.new_context(bypass_csp=True)
    async with context, watched(context) as troubles:
        page = await context.new_page()
        page.set_default_timeout(BOOT_PATIENCE * 1000)
        await page.goto(tabbed.url)
        await page.wait_for_selector("html[data-state=loaded]")
        await page.evaluate(
            """() => {
                self.heard = [];
                addEventListener("message", ({ data }) => {
                    if (data?.direction === "server-to-client") heard.push(data.payload);
                });
                self.client = (payload) =>
                    ({ channel: "mcp-default", type: "mcp", direction: "client-to-server", payload });
                self.server = (payload) =>
                    ({ channel: "mcp-default", type: "mcp", direction: "server-to-client", payload });
                self.calls = async (id) => {
                    const params = { name: "add", arguments: { a: 2, b: 3 } };
                    postMessage(client({ jsonrpc: "2.0", id, method: "tools/call", params }), origin);
                    for (;;) {
                        const answer = heard.find((payload) => payload?.id === id);
                        if (answer) return answer.result?.content[0].text ?? answer;
                        await new Promise((done) => addEventListener("message", done, { once: true }));
                    }
                };
            }"""
        )
        yield page, troubles


PAYLOADS = {
    "a Map": "new Map([['jsonrpc', '2.0'], ['method', 'ping']])",
    "a Date": "new Date()",
    "a BigInt": "{ jsonrpc: '2.0', id: 'bigint', method: 'ping', params: { n: 1n } }",
    "a BigInt as id": "{ jsonrpc: '2.0', id: 1n, method: 'ping' }",
    "not a number": "{ jsonrpc: '2.0', id: NaN, method: 'ping' }",
    "bytes": "new Uint8Array(1000)",
    "an Error": "new Error('x')",
    "a boxed text": "new String('mcp-check-ready')",
    "cyclic": "(() => { const m = { jsonrpc: '2.0', id: 'cyclic', method: 'ping' }; m.params = m; return m; })()",
    "sparse": "(() => { const l = []; l[4e9] = 1; return { jsonrpc: '2.0', id: 'sparse', method: 'ping', l }; })()",
    "shared": "(() => { let p = {}; for (let i = 60; i--; ) p = { p, q: p }; return { id: 7, p }; })()",
    "a getter": "{ jsonrpc: '2.0', method: 'ping', get id() { return 'got'; } }",
    "prototype keys": 'JSON.parse(\'{ "jsonrpc": "2.0", "id": "proto", "method": "ping", "__proto__": {} }\')',
    "deep": "(() => { let p = {}; for (let i = 1000; i--; ) p = { p }; return { id: 7, p }; })()",
    "a deep text": "'['.repeat(1e6)",
    "50 MB": "{ jsonrpc: '2.0', id: 'large', method: 'ping', params: { text: 'x'.repeat(5e7) } }",
    "a ping that asks for nothing": "{ jsonrpc: '2.0', method: 'ping' }",
    "a token": "{ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: {}, progress: 1 } }",
    "a cancellation": "{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: [] } }",
}


async def test_a_page_server_in_bad_company(
    python: tuple[Page, Troubles], origins: Origins, record_property: Record
) -> None:
    page, _ = python
    await page.evaluate("() => { beServer(); }")
    await page.wait_for_function("() => heard.includes('mcp-server-ready')")
    for expression in PAYLOADS.values():
        await page.evaluate(f"() => {{ postMessage(client({expression}), origin); }}")
    for name, expression in UNCLONEABLE.items():
        script = (
            f"() => {{ try {{ postMessage(client({expression}), origin); }} catch (error) {{ return error.name; }} }}"
        )
        assert await page.evaluate(script) == "DataCloneError", name
    assert await page.evaluate("calls('first')") == "5"
    call = {"jsonrpc": "2.0", "id": "stranger", "method": "tools/list"}
    lies = [json.dumps(to_server(payload, TAB)) for payload in ("mcp-check-ready", call)]
    for url in (f"{origins.stranger}/page.html", f"{origins.host}/page.html", "about:blank"):
        await page.evaluate(
            "(src) => document.body.append(Object.assign(document.createElement('iframe'), { src }))", url
        )
        stranger = newest_frame(page)
        await stranger.wait_for_url(url)
        await stranger.wait_for_function(
            "() => document.readyState === 'complete' && self.origin !== undefined", polling=POLL
        )
        await stranger.evaluate(posting(lies * 1000, "parent"))
    before = await page.evaluate("heard.length")
    assert await page.evaluate("calls('second')") == "5"
    assert await page.evaluate("heard.length") == before + 1
    # What a script of the window does in the server's name, the server does not hear; clients of the window do.
    await page.evaluate("() => { postMessage(server('mcp-server-stopped'), origin); }")
    await page.evaluate("() => { postMessage(server({ jsonrpc: '2.0', id: 'third', method: 'ping' }), origin); }")
    await page.evaluate(
        """() => {
            const about = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } };
            for (let id = 0; id < 500; id++) {
                postMessage(client({ jsonrpc: "2.0", id, method: "initialize", params: about }), origin);
            }
        }"""
    )
    assert await page.evaluate("calls('last')") == "5"
    assert "first" not in await page.evaluate("Object.keys(Object.prototype)")
    record_property("lines", len(PAYLOADS) + len(UNCLONEABLE) + 3 * 2 + 3)


BY_HAND = """(target) => {
    const answers = {
        initialize: ({ params: { protocolVersion } }) =>
            ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "by hand", version: "1" } }),
        "tools/list": () => ({ tools: [{ name: "add", inputSchema: { type: "object" } }] }),
        "tools/call": () => ({ content: [{ type: "text", text: "right" }] }),
    };
    const channel = target === self ? "mcp-default" : "mcp-iframe";
    const say = (payload) =>
        target.postMessage({ channel, type: "mcp", direction: "server-to-client", payload }, "*");
    self.lies = (say, request) => {};
    addEventListener("message", ({ source, data }) => {
        if (source !== target || data?.direction !== "client-to-server") return;
        const request = data.payload;
        if (request === "mcp-check-ready") say("mcp-server-ready");
        if (request.id === undefined) return;
        if (lies(say, request)) return;
        say({ jsonrpc: "2.0", id: request.id, result: answers[request.method]?.(request) ?? {} });
    });
    say("mcp-server-ready");
}"""
LYING = """() => {
    self.lies = (say, { id, method }) => {
        const prefix = String(id).split("/")[0] + "/";
        const deep = ["[".repeat(1e5), '{"a":'.repeat(1e5), "[".repeat(50000) + "]".repeat(50000), "9".repeat(1e5)];
        for (const text of [...deep, "", "x", "null", "1.5", "-", ":", "\\ud800"]) {
            const own = prefix + text;
            say({ jsonrpc: "2.0", id: own, result: { content: [] } });
            say({ jsonrpc: "2.0", id: own, error: { code: -32001, message: "forged" } });
            const params = { progressToken: own, progress: 1 };
            say({ jsonrpc: "2.0", method: "notifications/progress", params });
        }
        for (const odd of [new Map(), new Date(), 1n, [], new Error("x"), { id: prefix, result: { n: 1n } }]) say(odd);
        say({ jsonrpc: "2.0", id: prefix, result: { text: "x".repeat(2e7) } });
        if (method === "tools/call") for (let i = 0; i < 2000; i++) say("mcp-server-ready");
    };
}"""


async def test_clients_of_servers_that_lie_and_leave(
    python: tuple[Page, Troubles], origins: Origins, record_property: Record
) -> None:
    page, troubles = python
    await page.evaluate(f"() => ({BY_HAND})(self)")
    await page.evaluate(LYING)
    with anyio.fail_after(BOOT_PATIENCE):
        used = json.loads(await page.evaluate("useTab()"))
    assert (used["server"], used["tools"], used["texts"]) == ("by hand", ["add"], ["right", "right"])
    using = page.evaluate(
        "url => useFrame(url).then(() => 'used', (error) => String(error))", f"{origins.host}/page.html"
    )
    task = asyncio.ensure_future(using)
    await page.wait_for_function("() => frames.length > 0")
    server = await loaded(newest_frame(page), f"{origins.host}/page.html")
    troubles.expect("Failed to execute 'postMessage'")
    elsewhere = f"{origins.stranger}/page.html"
    leave = f"""() => {{
        self.lies = (say, {{ method }}) => {{
            if (method !== "tools/call") return false;
            location.replace({json.dumps(elsewhere)});
            return true;
        }};
    }}"""
    await server.evaluate(f"() => {{ ({BY_HAND})(parent); ({leave})(); }}")
    with anyio.fail_after(BOOT_PATIENCE):
        assert await task != "used"
    assert await page.evaluate("[frames.length, document.title !== 'broken']") == [0, True]
    record_property("lines", 3 * 11 + 8 + 1)
