"""The matrix of bad input and attacks for a host of MCP Apps: `AppHost` with bad views, proxies, servers and strangers.

    line                                                        what must happen
    every field of ui/initialize wrong; messages too early      refused; a good one still opens, nothing was sent before
    other versions; ui/initialize again                         answered with ours; once open the view is over
    policies and HTML that break out                            no script, frame, request or window gets out
    links that run code or read files; odd content              an error; the host's function is not called
    tools that are not for views, prototype names, odd calls    an error; the tool is not called
    odd sizes, thousands of them                                passed over; the frame follows the last
    ids that collide, floods, 50 MB                             each gets its own answer
    a proxy of another origin, one that speaks twice; strangers not heard
    a proxy that forges what its view says                      no more than a view can do
    a resource of another address, type or size                 no view is shown

After each of them a good call works.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from mcp.server.apps import Apps
from mcp.server.mcpserver import MCPServer
from playwright.async_api import BrowserContext, Page

from mcpframe.frame.core.errors import AppError, HandshakeTimeout, PeerGone
from mcpframe.frame.core.roles import Options
from tests.browser.app_hosting import URI, Asked, Shown, showing, weather
from tests.browser.by_hand import framed
from tests.browser.conftest import Origins, Troubles
from tests.browser.test_matrix import UNSPEAKABLE
from tests.contract.damaged import Record
from tests.contract.playing import POLL
from tests.support.damage import nested

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
INITIALIZE: Json = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "ui/initialize",
    "params": {
        "appInfo": {"name": "By hand", "version": "1"},
        "appCapabilities": {},
        "protocolVersion": "2026-01-26",
    },
}
INITIALIZED: Json = {"jsonrpc": "2.0", "method": "ui/notifications/initialized", "params": {}}


@pytest.fixture
async def page(context: BrowserContext, troubles: Troubles, origins: Origins) -> Page:
    page = await context.new_page()
    await page.goto(f"{origins.host}/page.html")
    return page


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


def _params(**members: Any) -> Json:
    return {**INITIALIZE, "params": {**INITIALIZE["params"], **members}}


BAD_OPENINGS: dict[str, Any] = {
    **{f"id {value!r}": {**INITIALIZE, "id": value} for value in (None, 1.5, True, [], {})},
    "no id": {key: value for key, value in INITIALIZE.items() if key != "id"},
    **{f"jsonrpc {value!r}": {**INITIALIZE, "jsonrpc": value} for value in ("1.0", 2, None)},
    **{f"params {value!r}": {**INITIALIZE, "params": value} for value in (7, "x", [], None)},
    **{
        f"{member} {value!r}": _params(**{member: value})
        for member in ("appInfo", "appCapabilities")
        for value in (7, "x", [1], True)
    },
    **{f"protocolVersion {value!r}": _params(protocolVersion=value) for value in (7, [], {}, True)},
    "too deep": _params(more=nested(200)),
    "__proto__": _params(appInfo={"__proto__": {"polluted": True}}),
    "an answer nobody asked for": {"jsonrpc": "2.0", "id": 1, "result": {}},
    "a notification too early": {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}},
    "initialized before the request": INITIALIZED,
    "a size too early": {"jsonrpc": "2.0", "method": "ui/notifications/size-changed", "params": {"height": 9}},
    "a link too early": {"jsonrpc": "2.0", "id": 1, "method": "ui/open-link", "params": {"url": "https://a.example/"}},
    "the proxy's message": {"jsonrpc": "2.0", "method": "ui/notifications/sandbox-proxy-ready", "params": {}},
    "the proxy's other message": {
        "jsonrpc": "2.0",
        "method": "ui/notifications/sandbox-resource-ready",
        "params": {"html": "<h1>mine"},
    },
    "a list": [INITIALIZE],
    "a text": "hello",
    "null": None,
}


async def test_damaged_openings_open_nothing(page: Page, origins: Origins, record_property: Record) -> None:
    async with showing(page, origins.sandbox, HAND, ready=False) as shown:
        await inside(shown)
        shown.running.input({"place": "Wien"})
        shown.running.change_context({"theme": "dark"})
        await post(shown, *BAD_OPENINGS.values())
        await post(shown, INITIALIZE)
        answer = await shown.inside("() => hears(({ result }) => result?.hostInfo)")
        assert answer["result"]["protocolVersion"] == "2026-01-26"
        methods = await shown.inside("() => heard.map(({ data }) => data.method).filter(Boolean)")
        assert methods == [], "nothing is sent before initialized"
        await opens(shown)
        assert await shown.inside("() => heard.every(({ known }) => known)")
        assert shown.asked.notes == []
    record_property("lines", len(BAD_OPENINGS))


@pytest.mark.parametrize("version", ["2025-11-21", "1999-01-01", "<script>", "x" * 10_000, None])
async def test_another_version_is_answered_with_ours(page: Page, origins: Origins, version: str | None) -> None:
    async with showing(page, origins.sandbox, HAND, ready=False) as shown:
        await inside(shown)
        await post(shown, _params(protocolVersion=version))
        answer = await shown.inside("() => hears(({ id }) => id === 'hello')")
        assert answer["result"]["protocolVersion"] == (version if version == "2025-11-21" else "2026-01-26")
        await opens(shown)


async def test_a_view_that_begins_again_is_over(page: Page, origins: Origins) -> None:
    async with showing(page, origins.sandbox, HAND, ready=False) as shown:
        await inside(shown)
        await post(shown, INITIALIZE, INITIALIZE)
        await opens(shown)
        await post(shown, INITIALIZED)
        await works(shown)
        await post(shown, {**INITIALIZE, "id": "again"})
        with anyio.fail_after(30):
            assert isinstance((await shown.running.ended()).error, PeerGone)
        await post(
            shown, {"jsonrpc": "2.0", "id": 1, "method": "ui/open-link", "params": {"url": "https://a.example/"}}
        )
        assert shown.asked.notes == []


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


# What it asks for


LINKS: list[Any] = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "\x01javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/html,<script>alert(1)</script>",
    "blob:https://a.example/1",
    "vbscript:x",
    "about:blank",
    "chrome://settings",
    "view-source:https://a.example",
    "intent://x#Intent;end",
    "filesystem:https://a.example/x",
    "//a.example/",
    "/relative",
    "https:/\\a.example",
    "https://user:word@a.example/",
    "https://a.example/\r\nx",
    "https://",
    "",
    "https://a.example/" + "x" * 10_000,
    7,
    None,
    ["https://a.example/"],
    {"href": "https://a.example/"},
]
ODD: list[tuple[str, Any]] = [
    ("ui/message", {"role": "assistant", "content": []}),
    ("ui/message", {"role": "user"}),
    ("ui/message", {"role": "user", "content": "text"}),
    ("ui/message", {"role": "user", "content": [{"type": "script", "text": "x"}]}),
    ("ui/message", {"role": "user", "content": [None]}),
    ("ui/message", {"role": "system", "content": [{"type": "text", "text": "x"}]}),
    ("ui/download-file", {}),
    ("ui/download-file", {"contents": []}),
    ("ui/download-file", {"contents": [{"type": "resource", "resource": {"uri": "x", "blob": "no base64!"}}]}),
    ("ui/download-file", {"contents": [{"type": "resource_link", "uri": "javascript:alert(1)", "name": "x"}]}),
    ("ui/download-file", {"contents": [{"type": "resource_link", "uri": "file:///etc/passwd", "name": "x"}]}),
    ("ui/update-model-context", {"content": "x"}),
    ("ui/update-model-context", {"structuredContent": [1]}),
    ("ui/request-display-mode", {"mode": 7}),
    ("ui/request-display-mode", {}),
    ("ui/of-tomorrow", {}),
    ("initialize", {}),
    ("elicitation/create", {}),
    ("logging/setLevel", {"level": "debug"}),
    ("resources/subscribe", {"uri": "x://y"}),
    ("prompts/get", {"name": "ask"}),
    ("constructor", {}),
    ("toString", {}),
    ("", {}),
    ("tools/call", {"name": "erase", "arguments": {}}),
    ("tools/call", {"name": "ERASE", "arguments": {}}),
    ("tools/call", {"name": ["erase"], "arguments": {}}),
    ("tools/call", {"name": "__proto__", "arguments": {}}),
    ("tools/call", {"name": "constructor"}),
    ("tools/call", {"name": "forecast", "arguments": [1]}),
    ("tools/call", {"name": "forecast", "arguments": {"__proto__": {"place": "x"}}}),
    ("tools/call", {}),
    ("resources/read", {}),
    ("resources/read", {"uri": 7}),
    ("resources/read", {"uri": "file:///etc/passwd"}),
    ("resources/read", {"uri": "ui://another/server"}),
    ("resources/list", {"cursor": 7}),
    ("sampling/createMessage", None),
]


async def test_what_is_no_link_is_not_opened(page: Page, origins: Origins, record_property: Record) -> None:
    async with showing(page, origins.sandbox, HAND, ready=False) as shown:
        await inside(shown)
        await opens(shown)
        for number, url in enumerate(LINKS):
            answer = await ask(shown, f"link {number}", "ui/open-link", {"url": url})
            assert answer.get("error", {}).get("code") == -32602, (url, answer)
        assert shown.asked.notes == []
        assert "result" in await ask(shown, "good", "ui/open-link", {"url": "https://a.example/?q=1#x"})
        assert await shown.asked.taken("link") == "https://a.example/?q=1#x"
        await works(shown)
    record_property("lines", len(LINKS))


async def test_odd_requests_are_errors(page: Page, origins: Origins, record_property: Record) -> None:
    async with showing(page, origins.sandbox, HAND, ready=False) as shown:
        await inside(shown)
        await opens(shown)
        for number, (method, params) in enumerate(ODD):
            answer = await ask(shown, f"odd {number}", method, params)
            failed = "error" in answer or answer["result"].get("isError")
            assert failed, (method, params, answer)
        assert shown.asked.notes == []
        await works(shown)
    record_property("lines", len(ODD))


SIZES: list[Any] = [
    {"height": -5},
    {"height": "900"},
    {"height": None},
    {"height": True},
    {"height": [900]},
    {"height": 1e308, "width": 1e308},
    {"height": 10**15},
    {"width": 0},
    {"height": {"toString": "x"}},
    {},
    [],
    None,
    7,
]


async def test_odd_sizes_and_thousands_of_them(page: Page, origins: Origins, record_property: Record) -> None:
    async with showing(page, origins.sandbox, HAND, ready=False) as shown:
        await inside(shown)
        await opens(shown)
        method = "ui/notifications/size-changed"
        await post(shown, *({"jsonrpc": "2.0", "method": method, "params": size} for size in SIZES))
        await works(shown)
        height = await page.evaluate("document.querySelector('iframe').clientHeight")
        assert 0 <= height <= 10_000
        await page.evaluate(
            """() => {
                self.resizes = 0;
                new ResizeObserver(() => { resizes += 1; }).observe(document.querySelector("iframe"));
            }"""
        )
        await shown.inside(
            """() => {
                for (let height = 1; height <= 5000; height++) {
                    say({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: { height } });
                }
                say({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: { height: 321 } });
            }"""
        )
        await works(shown)
        await page.wait_for_function("() => document.querySelector('iframe').clientHeight === 321")
        assert await page.evaluate("resizes") < 1000
        assert shown.running.size[1] == 321
    record_property("lines", len(SIZES) + 1)


async def test_ids_that_collide_and_floods(page: Page, origins: Origins, record_property: Record) -> None:
    async with showing(page, origins.sandbox, HAND, ready=False) as shown:
        await inside(shown)
        await opens(shown)
        async with anyio.create_task_group() as tasks:
            answers: list[Any] = []

            async def asking() -> None:
                answers.append(await shown.running.request("ping", {}))

            tasks.start_soon(asking)
            waiting = await shown.inside("() => hears(({ method }) => method === 'ping')")
            answer = await ask(shown, waiting["id"], "ui/open-link", {"url": "https://a.example/"})
            assert answer["result"] == {}
            assert answers == []
            await post(shown, {"jsonrpc": "2.0", "id": waiting["id"], "result": {"mine": 1}})
        assert answers == [{"mine": 1}]
        await post(shown, {"jsonrpc": "2.0", "id": waiting["id"], "result": {"mine": 2}})
        for expression in UNSPEAKABLE.values():
            if "oddities" not in expression:
                await shown.inside(f"() => say({expression})")
        await shown.inside(
            """() => {
                for (let i = 0; i < 3000; i++) {
                    say({ jsonrpc: "2.0", id: `flood ${i}`, method: "ping", params: {} });
                    say({ jsonrpc: "2.0", id: `nobody's ${i}`, result: {} });
                    say({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: i } });
                }
                say({ jsonrpc: "2.0", id: "large", method: "ui/message",
                      params: { role: "user", content: [{ type: "text", text: "x".repeat(50_000_000) }] } });
            }"""
        )
        await shown.inside("() => hears(({ id, method }) => id === 'large' && !method)")
        await works(shown)
    record_property("lines", 6 + len(UNSPEAKABLE))


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


async def test_a_malicious_proxy_can_do_no_more_than_a_view(
    page: Page, origins: Origins, record_property: Record
) -> None:
    """It is of the right origin, and speaks for its view: it knows the view, and gets no further."""
    calls = '<script>say({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} });</script>'

    async def serve(route: Any) -> None:
        await route.fulfill(content_type="text/html", body=HAND + calls)

    await page.route("**/evil.html", serve)
    evil = origins.sandbox.replace("sandbox.html", "evil.html")
    async with showing(page, evil, HAND, ready=False) as shown:
        proxy = shown.frames[0]

        async def say(message: Json) -> None:
            await proxy.evaluate("text => say(JSON.parse(text))", json.dumps(message))

        async def answer(method: str, params: Json) -> Json:
            given = [f"its {method}", method, json.dumps(params)]
            found: Json = await proxy.evaluate("([id, method, text]) => ask(id, method, JSON.parse(text))", given)
            return found

        with anyio.fail_after(30):
            await proxy.wait_for_url(evil)
            await proxy.wait_for_function("() => typeof ask === 'function'", polling=POLL)
            await proxy.evaluate("() => hears(({ method }) => method === 'ui/notifications/sandbox-resource-ready')")
            await say(INITIALIZE)
            await proxy.evaluate("() => hears(({ id }) => id === 'hello')")
            await say(INITIALIZED)
            await shown.running.initialized()
        assert "error" in await answer("tools/call", {"name": "erase", "arguments": {}})
        assert "error" in await answer("ui/open-link", {"url": "javascript:alert(1)"})
        assert "error" in await answer("ui/notifications/sandbox-resource-ready", {"html": "<h1>mine"})
        async with anyio.create_task_group() as tasks:
            failed: list[AppError] = []

            async def asking() -> None:
                try:
                    await shown.running.request("ping", {}, within=2)
                except AppError as error:
                    failed.append(error)

            tasks.start_soon(asking)
            asked = await proxy.evaluate("() => hears(({ method }) => method === 'ping')")
            for id_ in (f"{asked['id']}0", None, {"id": asked["id"]}, [asked["id"]]):
                await say({"jsonrpc": "2.0", "id": id_, "result": {"forged": True}})
        assert len(failed) == 1, "an answer with another id is none"
        assert shown.asked.notes == []
        await say({"jsonrpc": "2.0", "method": "ui/notifications/sandbox-proxy-ready", "params": {}})
        with anyio.fail_after(30):
            assert isinstance((await shown.running.ended()).error, PeerGone)
    async with showing(page, origins.sandbox, HAND, ready=False) as shown:
        await inside(shown)
        await opens(shown)
    record_property("lines", 9)


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


@pytest.mark.parametrize("uri", ["ui://other/view", "ui://weather/forecast/../x", "UI://weather/forecast", ""])
async def test_a_resource_of_another_address_is_no_view(page: Page, origins: Origins, uri: str) -> None:
    def claiming(html: str, asked: Asked) -> MCPServer:
        server = _server(html)
        inner = server._lowlevel_server.get_request_handler("resources/read")
        assert inner is not None

        async def read(ctx: Any, params: Any) -> Any:
            result = await inner.handler(ctx, params)
            for content in result.contents:
                content.uri = uri
            return result

        server._lowlevel_server.add_request_handler("resources/read", inner.params_type, read)
        return server

    with pytest.RaisesGroup(AppError, flatten_subgroups=True):
        async with showing(page, origins.sandbox, HAND, server=claiming):
            pass
    assert len(page.frames) == 1


async def test_a_view_of_50_mb_is_not_shown(page: Page, origins: Origins) -> None:
    with pytest.RaisesGroup(pytest.RaisesExc(AppError, match="characters"), flatten_subgroups=True):
        async with showing(page, origins.sandbox, HAND + "x" * 50_000_000):
            pass
    assert len(page.frames) == 1


def _server(html: str) -> MCPServer:
    apps = Apps()

    @apps.tool(resource_uri=URI)
    def forecast(place: str) -> str:
        return place

    apps.add_html_resource(URI, html)
    return MCPServer("claiming", extensions=[apps])
