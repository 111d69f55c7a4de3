"""The matrix of bad input and attacks for a host of mcp-ui in Chromium: what a page in it tries in earnest.

    line                                                        what must happen
    the page around, its storage, its address, windows          out of reach
    messages that are not JSON, cannot be cloned, are endless    nothing, or refused
    frames in the page, siblings, the page around itself        not heard
    the page goes to another origin in mid-request              it gets no answer, no data, no function
    two hosts in one page, floods                               each hears its own page

`tests/unit/hostile/test_ui_host.py` has what the connection decides.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from playwright.async_api import Frame, Page

from mcpframe import ui_resource
from mcpframe.frame.hosting.mcp_ui.actions import ShownUi, UiAction
from mcpframe.hosts import UiHost
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.app_views import view_frame
from tests.browser.by_hand import framed
from tests.browser.conftest import Origins, Troubles
from tests.contract.playing import POLL
from tests.hostile.values import UNCLONEABLE, UNSPEAKABLE, Record
from tests.support.ui import MESSAGES

Json = dict[str, Any]
URI = "ui://test/hostile"
WAIT = "{ type: 'intent', messageId: 'wait', payload: { intent: 'wait' } }"
DATA = {"secret": "render data"}


class Host:
    """`UiHost` around a page in Chromium; it notes what its functions are asked."""

    def __init__(self, page: Page, resource: Any, **options: Any) -> None:
        self.actions: list[UiAction] = []
        self.release = anyio.Event()
        self._called = anyio.Event()
        self.place = PlaywrightPlace(page)
        self.shown: ShownUi
        self.frame: Frame
        self._options = {"render_data": DATA, "auto_resize": True, **options}
        self._resource = resource

    async def _act(self, action: UiAction) -> Any:
        self.actions.append(action)
        self._called.set()
        if action.payload.get("intent") == "wait":
            await self.release.wait()
        return {"secret": "answer"}

    @asynccontextmanager
    async def showing(self) -> AsyncIterator[Host]:
        host = UiHost(self._resource, on_action=self._act, **self._options)
        with anyio.fail_after(60):
            async with host.show(self.place) as self.shown:
                assert self.place.window is not None
                outer = await self.place.window.frame()
                self.frame = await view_frame(outer.page) if "proxy" in self._options else outer
                await self.frame.wait_for_url(lambda url: url not in ("", "about:blank"))
                await self.frame.wait_for_function("() => typeof say === 'function'", polling=POLL)
                await self.frame.evaluate(f"() => {{ {ASK} }}")
                yield self

    async def asked(self, message: str) -> None:
        """Let the page post an action, and wait until it is handled."""
        self._called = anyio.Event()
        await self.frame.evaluate(f"() => {{ parent.postMessage({message}, '*'); }}")
        await self._called.wait()

    async def works(self) -> None:
        """Let the page ask something."""
        asked = "ask({ type: 'intent', messageId: 'good', payload: { intent: 'good' } })"
        answer = await self.frame.evaluate(f"() => {asked}")
        assert answer["payload"] == {"response": {"secret": "answer"}}
        assert self.actions.pop().payload == {"intent": "good"}


ASK = """
    globalThis.ask = (message) => new Promise((done) => {
        const on = ({ data }) => {
            if (data?.type !== "ui-message-response" || data.messageId !== message.messageId) return;
            removeEventListener("message", on);
            done(data);
        };
        addEventListener("message", on);
        parent.postMessage(message, "*");
    });
"""
HELPERS = """
    const heard = [];
    addEventListener("message", ({ data, origin }) => heard.push({ data, origin }));
    const say = (text, target = parent) => target.postMessage(JSON.parse(text), "*");
"""
ATTEMPTS = {
    "the host's page": "parent.document.title",
    "its address": "(() => { parent.location.href = stranger; throw 1; })()",
    "its address, by a script": "(() => { top.location = 'javascript:document.title = 1'; throw 1; })()",
    "its name": "top.name",
    "its frame": "frameElement.title",
    "its siblings": "parent.frames[0].document.title",
    "storage": "localStorage.setItem('a', 'b')",
    "storage of the session": "sessionStorage.setItem('a', 'b')",
    "a database": "indexedDB.open('a')",
    "a cookie": "(() => { document.cookie = 'a=b'; if (!document.cookie) throw 1; })()",
    "a window": "(() => { if (!open(stranger)) throw 1; })()",
    "a dialog": "(() => { alert('x'); if (!prompt('x')) throw 1; })()",
    "a form": "(() => { const f = add('form', { action: stranger, target: '_top' }); f.submit(); throw 1; })()",
    "a link to the top": "(() => { add('a', { href: stranger, target: '_top' }).click(); throw 1; })()",
    "a link to a new window": "(() => { add('a', { href: stranger, target: '_blank' }).click(); throw 1; })()",
    "the camera": "navigator.mediaDevices.getUserMedia({ video: true })",
    "the clipboard": "navigator.clipboard.readText()",
    "its place": "navigator.geolocation.getCurrentPosition(() => {}, () => {}) ?? Promise.reject()",
    "its sandbox": "(() => { frameElement.removeAttribute('sandbox'); })()",
}
TRIED = ",".join(f"{json.dumps(name)}: (stranger) => {attempt}" for name, attempt in ATTEMPTS.items())
HOSTILE = f"""<!doctype html><title>Hostile</title><body><script>
    {HELPERS}
    const add = (name, members) => {{
        const element = Object.assign(document.createElement(name), members);
        document.body.append(element);
        return element;
    }};
    const attempts = {{ {TRIED} }};
    const tried = (name, stranger) => new Promise((done) => setTimeout(async () => {{
        try {{ await attempts[name](stranger); done(name); }} catch {{ done("held"); }}
    }}));
</script></body>"""


def by_hand(origins: Origins) -> Any:
    """Return HTML text that tries everything."""
    return ui_resource(URI, html=HOSTILE)


async def test_nothing_gets_out_of_html_text(
    page: Page, origins: Origins, troubles: Troubles, record_property: Record
) -> None:
    troubles.expect("")
    before = len(page.context.pages)
    await page.evaluate("url => embed(url)", f"{origins.host}/page.html")
    async with Host(page, by_hand(origins)).showing() as host:
        assert await host.frame.evaluate("self.origin") == "null"
        for name in ATTEMPTS:
            assert await host.frame.evaluate("([name, to]) => tried(name, to)", [name, origins.stranger]) == "held"
        await host.works()
        assert page.url == f"{origins.host}/page.html"
        assert len(page.context.pages) == before
        assert await page.evaluate("[document.title, localStorage.length, document.cookie]") == ["A page", 0, ""]
    record_property("lines", len(ATTEMPTS))


async def test_an_address_of_the_host_s_own_origin_is_out_of_reach(
    page: Page, origins: Origins, troubles: Troubles, record_property: Record
) -> None:
    """Also where its sandbox says otherwise, and behind other spellings of that origin."""
    troubles.expect("")
    script = (
        f"{HELPERS}; const tried = (text) => {{ try {{ return String(eval(text)); }} catch {{ return 'held'; }} }};"
    )
    await page.route(
        "**/own.html*", lambda route: route.fulfill(content_type="text/html", body=f"<script>{script}</script>")
    )
    for url in (f"{origins.host}/own.html", f"{origins.host.upper().replace('HTTP', 'http')}/own.html?a#b"):
        try:
            resource = ui_resource(URI, url=url)
        except ValueError:
            continue
        async with Host(page, resource, sandbox="Allow-Same-Origin allow-forms").showing() as host:
            assert await host.frame.evaluate("self.origin") == "null"
            for text in ("parent.document.title", "localStorage.length", "frameElement.remove()"):
                assert await host.frame.evaluate("text => tried(text)", text) == "held"
    record_property("lines", 4)


async def test_what_is_no_message_and_floods(page: Page, origins: Origins, record_property: Record) -> None:
    async with Host(page, by_hand(origins)).showing() as host:
        lines = {
            **{name: text for name, text in UNSPEAKABLE.items() if "oddities" not in text},
            "a Map": "({ type: 'tool', messageId: 'x', payload: new Map([['toolName', 'x']]) })",
            "a BigInt": "({ type: 'tool', messageId: 'x', payload: { toolName: 'x', params: { n: 1n } } })",
            "a Date": "({ type: 'prompt', messageId: 'x', payload: { prompt: new Date() } })",
            "a boxed text": "({ type: 'prompt', messageId: 'x', payload: { prompt: new String('x'), params: [1] } })",
            "cyclic": "(() => { const m = { type: 'tool', payload: {} }; m.payload.m = m; return m; })()",
            "sparse": "(() => { const l = []; l[4e9] = 1; return { type: 'tool', payload: { toolName: 'x', l } }; })()",
            "shared": "(() => { let p = {}; for (let i = 60; i--; ) p = { p, q: p }; return { type: 'tool', p }; })()",
            "a getter": "({ get type() { return 'tool'; }, get payload() { throw 1; } })",
        }
        for expression in lines.values():
            await host.frame.evaluate(f"() => {{ try {{ parent.postMessage({expression}, '*'); }} catch {{}} }}")
        for name, expression in UNCLONEABLE.items():
            failed = (
                f"() => {{ try {{ parent.postMessage({expression}, '*'); }} catch (error) {{ return error.name; }} }}"
            )
            assert await host.frame.evaluate(failed) == "DataCloneError", name
        await host.works()
        assert all(action.payload.get("prompt") for action in host.actions), "what JSON makes of it is a text"
        host.actions.clear()
        await host.frame.evaluate(
            """() => {
                for (let i = 0; i < 3000; i++) {
                    say(`{ "type": "ui-size-change", "payload": { "height": ${i}, "width": -${i} } }`);
                    say(`{ "type": "ui-request-render-data", "messageId": ${i} }`);
                    say(`{ "type": "link", "messageId": ${i}, "payload": { "url": "javascript:alert(${i})" } }`);
                    say(`{ "type": "intent", "messageId": "i${i}", "payload": { "intent": "wait" } }`);
                }
                say(`{ "type": "ui-size-change", "payload": { "height": 321, "width": 1e308 } }`);
            }"""
        )
        await page.wait_for_function("() => document.querySelector('.mcpframe').style.height === '321px'")
        assert len(host.actions) <= 100
        host.release.set()
        last = "messageId: 'last', payload: { intent: 'last' }"
        while "response" not in (await host.frame.evaluate(f"() => ask({{ type: 'intent', {last} }})"))["payload"]:
            pass
        host.actions.clear()
        await host.works()
        assert await page.evaluate("document.querySelector('.mcpframe').clientWidth <= innerWidth")
    record_property("lines", len(lines) + len(UNCLONEABLE) + 4)


async def test_others_in_the_page_are_not_heard(page: Page, origins: Origins, record_property: Record) -> None:
    """Siblings of any origin, frames in the page itself, the host's own scripts, and the page of another host."""
    texts = [json.dumps(message) for message in MESSAGES.values()]
    async with Host(page, by_hand(origins)).showing() as host, Host(page, by_hand(origins)).showing() as other:
        for url in (f"{origins.stranger}/page.html", f"{origins.host}/page.html"):
            sibling = await framed(page, url)
            await sibling.evaluate("texts => texts.forEach((text) => say(text))", texts)
        nested = f"<script>for (const text of {json.dumps(texts)}) top.postMessage(JSON.parse(text), '*');</script>"
        done = "(html) => new Promise((onload) => add('iframe', { srcdoc: html, sandbox: 'allow-scripts', onload }))"
        await host.frame.evaluate(f"async (html) => {{ await ({done})(html); }}", nested)
        await page.evaluate("texts => texts.forEach((text) => say(text, window))", texts)
        # Answers for the other host's page, posted by this one's: its listener is not the host.
        await host.works()
        await other.works()
        assert host.actions == other.actions == []
        await host.frame.evaluate("texts => texts.forEach((text) => say(text))", texts)
        await host.works()
        assert other.actions == []
        assert await other.frame.evaluate(
            "heard.every(({ data }) => data.messageId === 'good' || data.payload.renderData)"
        )
    record_property("lines", 5 * len(texts))


@pytest.mark.parametrize("kind", ["html", "address"])
async def test_a_page_that_goes_elsewhere_in_mid_request(
    page: Page, origins: Origins, troubles: Troubles, kind: str, record_property: Record
) -> None:
    """The page there is at the stranger's origin, or at an opaque one as the first was, and posts as it would."""
    troubles.expect("Failed to execute 'postMessage'")
    url = f"{origins.bundle}/page.html"
    resource = by_hand(origins) if kind == "html" else ui_resource(URI, url=url)
    async with Host(page, resource).showing() as host:
        await host.asked(WAIT)
        await host.frame.evaluate(
            "url => { setTimeout(() => { location.replace(url); }); }", f"{origins.stranger}/page.html"
        )
        await host.frame.wait_for_url(f"{origins.stranger}/page.html")
        if kind == "html":
            await host.shown.closed.wait()
        host.release.set()
        for message in MESSAGES.values():
            await host.frame.evaluate("text => say(text)", json.dumps(message))
        # A turn of the browser's own queue of messages, through the host's page.
        turn = "new Promise((done) => { addEventListener('message', done, { once: true }); postMessage(1, '*'); })"
        await page.evaluate(turn)
        await host.frame.evaluate(turn)
        assert [item["data"] for item in await host.frame.evaluate("heard")] == [1]
        assert len(host.actions) == 1
        assert host.shown.closed.is_set() == (kind == "html")
    record_property("lines", len(MESSAGES) + 2)


async def test_a_host_that_is_removed_in_mid_request(page: Page, origins: Origins) -> None:
    async with Host(page, by_hand(origins)).showing() as host:
        await host.asked(WAIT)
        await page.evaluate("document.querySelector('.mcpframe').remove()")
        await host.shown.closed.wait()
    async with Host(page, by_hand(origins)).showing() as host:
        await host.works()
