"""A host of MCP Apps in Chromium with hostile views, proxies and strangers, as far as only a browser decides.

`tests/hostile` has the lines, `tests/unit/hostile/test_app_host.py` those that the host's Python decides.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import MCPServer
from playwright.async_api import Page

from mcpframe.frame.core.errors import HandshakeTimeout, PeerGone
from mcpframe.frame.core.roles import Options
from tests.browser.app_hosting import Asked, Shown, showing, weather
from tests.browser.by_hand import framed
from tests.browser.conftest import Origins, Troubles
from tests.contract.playing import POLL
from tests.hostile.mcp_apps import INITIALIZE, INITIALIZED
from tests.hostile.values import UNSPEAKABLE, Record

Json = dict[str, Any]
HAND = """<!doctype html><meta charset="utf-8"><title>By hand</title><p>A view<script>
const heard = [];
let waiting = [];
addEventListener("message", ({ origin, source, data }) => {
  heard.push({ origin, data, known: source === parent });
  waiting.splice(0).forEach((wake) => wake());
});
const say = (message) => parent.postMessage(message, "*");
const hears = async (accepts) => {
  for (;;) {
    const found = heard.find((each) => accepts(each.data));
    if (found) return found.data;
    await new Promise((resolve) => waiting.push(resolve));
  }
};
const ask = (id, method, params) => {
  say({ jsonrpc: "2.0", id, method, params });
  return hears((data) => data.id === id && !data.method);
};
</script>"""


async def inside(shown: Shown) -> None:
    """Wait until the view's page is there."""
    with anyio.fail_after(30):
        while len(shown.page.frames) < 3:
            await shown.page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
        view = shown.frames[1]
        await view.wait_for_url("about:srcdoc")  # a wait that began in the empty document before it could be lost
        await view.wait_for_function("() => typeof ask === 'function'", polling=POLL)


async def opens(shown: Shown) -> None:
    """A good handshake opens the session."""
    await post(shown, INITIALIZE)
    await shown.inside("() => hears(({ id }) => id === 'hello')")
    await post(shown, INITIALIZED)
    with anyio.fail_after(30):
        await shown.running.initialized()
    await works(shown)


async def works(shown: Shown) -> None:
    """A good call works."""
    number = await shown.inside("() => heard.length")
    answer = await shown.inside(
        "id => ask(id, 'tools/call', { name: 'forecast', arguments: { place: 'x' } })", f"w{number}"
    )
    assert answer["result"]["structuredContent"] == {"place": "x", "degrees": 21}, answer


async def post(shown: Shown, *messages: Any) -> None:
    texts = [json.dumps(message) for message in messages]
    await shown.inside("texts => texts.forEach((text) => say(JSON.parse(text)))", texts)


async def ask(shown: Shown, id_: Any, method: str, params: Any) -> Json:
    answer: Json = await shown.inside(
        "([id, method, text]) => ask(id, method, JSON.parse(text))", [id_, method, json.dumps(params)]
    )
    return answer


# Getting out


DECLARED = [
    "*",
    "https:",
    "data:",
    "'unsafe-eval'",
    "https://x; script-src * 'unsafe-eval'",
    "https://x\nscript-src *",
    "https://x, default-src *",
    "http://*",
    "*.com",
    "https://*.localhost@x",
    "'none'; frame-src *",
    "",
    "a" * 5000,
]
ATTEMPTS = {
    "eval": "eval('1')",
    "fetch": "fetch(stranger + '/page.html')",
    "websocket": "new Promise((_, no) => { new WebSocket(stranger.replace('http', 'ws')).onerror = no; })",
    "a script": "new Promise((yes, no) => add('script', { src: stranger + '/page.js', onload: yes, onerror: no }))",
    "an image": "new Promise((yes, no) => add('img', { src: stranger + '/x.png', onload: yes, onerror: no }))",
    "a wasm module": "WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))",
    "a worker": "new Worker(stranger + '/page.js')",
    "storage": "localStorage.setItem('a', 'b')",
    "a cookie": "(() => { document.cookie = 'a=b'; if (!document.cookie) throw 1; })()",
    "the proxy's page": "parent.document.title",
    "the host's page": "top.document.title",
    "the host's address": "(() => { top.location.href = stranger; throw 1; })()",
    "a window": "(() => { if (!open(stranger)) throw 1; })()",
    "a dialog": "(() => { alert('x'); if (!prompt('x')) throw 1; })()",
}


async def test_nothing_gets_out_of_a_view(
    page: Page, origins: Origins, troubles: Troubles, record_property: Record
) -> None:
    troubles.expect("")
    before = len(page.context.pages)
    # Scripts of the view's own, in a task of their own: what a debugger evaluates may do more.
    attempts = ",".join(f"{json.dumps(name)}: (stranger) => {attempt}" for name, attempt in ATTEMPTS.items())
    trying = f"""<script>
        const add = (name, members) => document.body.append(Object.assign(document.createElement(name), members));
        const attempts = {{ {attempts} }};
        const tried = (name, stranger) => new Promise((done) => setTimeout(async () => {{
            try {{ await attempts[name](stranger); done(name); }} catch {{ done("held"); }}
        }}));
    </script>"""
    loose = (
        "<meta http-equiv=Content-Security-Policy content=\"default-src * 'unsafe-eval' 'unsafe-inline'\">"
        f"<base href='{origins.stranger}/'></iframe></body></html><!--\"'><script>self.second = true</script>-->"
    )
    names = ("connect_domains", "resource_domains", "frame_domains", "base_uri_domains")
    async with showing(
        page, origins.sandbox, HAND + trying + loose, csp=dict.fromkeys(names, DECLARED), ready=False
    ) as shown:
        await inside(shown)
        await opens(shown)
        assert not shown.running.policy.csp
        assert len(shown.running.policy.refused) == len(names) * len(DECLARED)
        for name in ATTEMPTS:
            assert await shown.inside("([name, stranger]) => tried(name, stranger)", [name, origins.stranger]) == "held"
        await shown.inside("url => add('iframe', { src: url })", f"{origins.stranger}/page.html?framed")
        await works(shown)
        assert page.url == f"{origins.host}/page.html"
        assert len(page.context.pages) == before
        assert not [frame for frame in page.frames if frame.url.startswith(origins.stranger)]
        assert await page.evaluate("heard.every(({ data }) => data.jsonrpc === '2.0')")
    record_property("lines", len(ATTEMPTS) + len(DECLARED) * len(names) + 3)


async def test_a_view_that_leaves_its_page_is_over_or_stays(
    page: Page, origins: Origins, troubles: Troubles, record_property: Record
) -> None:
    troubles.expect("")
    async with showing(page, origins.sandbox, HAND, ready=False) as shown:
        await inside(shown)
        await opens(shown)
        await shown.inside("url => { location.href = url; }", f"{origins.stranger}/page.html?elsewhere")
        with anyio.fail_after(30):
            assert isinstance((await shown.running.ended()).error, PeerGone)
        assert not [frame for frame in page.frames if frame.url.startswith(origins.stranger)]
    record_property("lines", 1)


# What it posts


@pytest.mark.extended
async def test_what_is_no_message_and_50_mb(page: Page, origins: Origins, record_property: Record) -> None:
    async with showing(page, origins.sandbox, HAND, ready=False) as shown:
        await inside(shown)
        await opens(shown)
        for expression in UNSPEAKABLE.values():
            if "oddities" not in expression:
                await shown.inside(f"() => say({expression})")
        text = "[{ type: 'text', text: 'x'.repeat(50_000_000) }]"
        answer = await shown.inside(
            f"() => ask('large', 'ui/message', {{ role: 'user', content: {text} }}).then(({{ id }}) => id)"
        )
        assert answer == "large"
        await works(shown)
    record_property("lines", 1 + len(UNSPEAKABLE))


@pytest.mark.extended
async def test_a_flood_of_sizes_moves_the_frame_now_and_then(page: Page, origins: Origins) -> None:
    async with showing(page, origins.sandbox, HAND, ready=False) as shown:
        await inside(shown)
        await opens(shown)
        await page.evaluate(
            """() => {
                self.resizes = 0;
                new ResizeObserver(() => { resizes += 1; }).observe(document.querySelector("iframe"));
            }"""
        )
        await shown.inside(
            """() => {
                for (let height = 5321; height >= 321; height--) {
                    say({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: { height } });
                }
            }"""
        )
        await page.wait_for_function("() => document.querySelector('iframe').clientHeight === 321")
        assert await page.evaluate("resizes") < 1000


# Strangers, proxies, servers


async def test_strangers_are_not_heard(page: Page, origins: Origins, record_property: Record) -> None:
    forged = [
        {"jsonrpc": "2.0", "method": "ui/notifications/sandbox-proxy-ready", "params": {}},
        INITIALIZE,
        INITIALIZED,
        {"jsonrpc": "2.0", "id": 1, "method": "ui/open-link", "params": {"url": "https://forged.example/"}},
    ]
    texts = [json.dumps(message) for message in forged]
    async with showing(page, origins.sandbox, HAND, ready=False) as shown:
        await inside(shown)
        for url in (f"{origins.stranger}/page.html", f"{origins.sandbox.removesuffix('/sandbox.html')}/page.html"):
            sibling = await framed(page, url)
            await sibling.evaluate("texts => texts.forEach((text) => say(text))", texts)
            await sibling.evaluate("texts => texts.forEach((text) => say(text, parent.frames[0]))", texts)
        # The view speaks to the host's page past its proxy.
        await shown.page.frames[2].evaluate("texts => texts.forEach((t) => top.postMessage(JSON.parse(t), '*'))", texts)
        await page.evaluate("texts => texts.forEach((text) => say(text, window))", texts)
        (frame,) = [each for each in page.frames if each.url == "about:srcdoc"]
        await frame.evaluate("text => say(JSON.parse(text))", json.dumps(INITIALIZE))
        await frame.evaluate("() => hears(({ id }) => id === 'hello')")
        await frame.evaluate("text => say(JSON.parse(text))", json.dumps(INITIALIZED))
        with anyio.fail_after(30):
            await shown.running.initialized()
        assert (await frame.evaluate("() => ask('x', 'ping', {})"))["result"] == {}
        assert shown.asked.notes == []
    record_property("lines", 6 * len(forged))


async def test_a_proxy_of_another_origin_is_told_nothing(page: Page, origins: Origins) -> None:
    async def redirect(route: Any) -> None:
        await route.fulfill(status=302, headers={"location": f"{origins.stranger}/sandbox.html"})

    await page.route("**/moved.html", redirect)
    moved = origins.sandbox.replace("sandbox.html", "moved.html")
    options = Options(handshake_timeout=3)
    async with showing(page, moved, HAND, ready=False, options=options) as shown:
        with anyio.fail_after(30), pytest.raises(HandshakeTimeout):
            await shown.running.initialized()
        assert len(page.frames) == 2, "the proxy got no view"


async def test_a_proxy_that_speaks_twice(page: Page, origins: Origins, record_property: Record) -> None:
    async with showing(page, origins.sandbox, HAND, ready=False) as shown:
        await inside(shown)
        proxy = shown.frames[0]
        ready = {"jsonrpc": "2.0", "method": "ui/notifications/sandbox-proxy-ready", "params": {}}
        await proxy.evaluate("message => parent.postMessage(message, '*')", ready)
        await opens(shown)
        again = await shown.inside("() => heard.filter(({ data }) => data.method?.includes('sandbox')).length")
        assert again == 0
    record_property("lines", 2)


@pytest.mark.extended
async def test_a_view_that_reads_50_mb(page: Page, origins: Origins) -> None:
    def large(html: str, asked: Asked) -> MCPServer:
        server = weather(html, asked)

        @server.resource("data://large")
        def data() -> str:
            return "x" * 50_000_000

        return server

    async with showing(page, origins.sandbox, HAND, ready=False, server=large) as shown:
        await inside(shown)
        await opens(shown)
        asked = "ask('large', 'resources/read', { uri: 'data://large' })"
        length = await shown.inside(f"() => {asked}.then(({{ result }}) => result.contents[0].text.length)")
        assert length == 50_000_000
        await works(shown)
