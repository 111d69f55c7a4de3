"""The matrix of bad input and attacks for a bundle framed by a host of mcp-ui, as far as only a browser shows it.

    line                                                        what must happen
    siblings of any origin, a popup, the page's own scripts     not heard: they choose no host, no data, no answer
    acknowledgements where data is awaited                      nothing is drawn before the host's data
    what JSON cannot spell, what cannot be cloned, floods       refused or nothing; the page goes on

`tests/unit/hostile/test_ui_page.py` has what the connection decides.
"""

from __future__ import annotations

import json
from typing import Any

from playwright.async_api import BrowserContext, Frame, Page, expect

from tests.browser.by_hand import framed
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, Origins, Troubles
from tests.browser.test_embedded_ui import embedded
from tests.contract.playing import POLL
from tests.hostile.values import UNCLONEABLE, UNSPEAKABLE, Record

__all__ = ["embedded"]
Json = dict[str, Any]
DATA = "ui-lifecycle-iframe-render-data"
FORGED = [
    {"type": DATA, "payload": {"renderData": {"forged": True}}},
    {"type": DATA, "messageId": "mcpframe/render-data", "payload": {"renderData": {"forged": True}}},
    {"type": "ui-message-received"},
    {"type": "ui-message-received", "messageId": "mcpframe/render-data"},
    {"type": "ui-message-response", "messageId": "mcpframe/render-data", "payload": {"response": {"forged": True}}},
]
PAYLOADS = {
    "a Map": "new Map([['renderData', 1]])",
    "a Map as data": "{ renderData: new Map([[1, 2]]) }",
    "a BigInt": "{ renderData: { n: 1n } }",
    "a Date": "new Date()",
    "bytes": "new Uint8Array(1000)",
    "an Error": "new Error('x')",
    "cyclic": "(() => { const p = {}; p.renderData = p; return p; })()",
    "sparse": "(() => { const l = []; l[4e9] = 1; return { renderData: l }; })()",
    "shared": "(() => { let p = {}; for (let i = 60; i--; ) p = { p, q: p }; return { renderData: p }; })()",
    "deep": "(() => { let p = {}; for (let i = 1000; i--; ) p = { p }; return { renderData: p }; })()",
    "prototype keys": 'JSON.parse(\'{ "renderData": { "__proto__": { "polluted": 1 } } }\')',
    "a lone surrogate": "{ renderData: '\\ud800' }",
}


async def test_a_bundle_in_bad_company(
    context: BrowserContext, troubles: Troubles, origins: Origins, embedded: Bundle, record_property: Record
) -> None:
    page = await context.new_page()
    page.set_default_timeout(BOOT_PATIENCE * 1000)
    await page.goto(f"{origins.host}/page.html")
    await page.evaluate("url => embed(url)", f"{embedded.url}?waitForRenderData=true")
    frame = page.main_frame.child_frames[0]
    strangers: list[Page | Frame] = [
        await framed(page, f"{origin}/page.html") for origin in (origins.host, origins.neighbour, origins.stranger)
    ]
    strangers.append(await framed(strangers[-1], f"{origins.host}/page.html"))
    async with page.expect_popup() as opening:
        await page.evaluate("url => void open(url)", f"{origins.host}/page.html")
    popup = await opening.value
    await popup.wait_for_url("**/page.html")
    await popup.wait_for_function("() => typeof say === 'function'", polling=POLL)

    async def lie(*more: Json) -> None:
        texts = [json.dumps(message) for message in (*FORGED, *more)]
        for stranger in strangers:
            await stranger.evaluate("texts => texts.forEach((text) => say(text, top.frames[0]))", texts)
        await popup.evaluate("texts => texts.forEach((text) => say(text, opener.frames[0]))", texts)
        posting = "texts => texts.forEach((text) => postMessage(JSON.parse(text), '*'))"
        await frame.evaluate(posting, texts)

    async def say(message: Json) -> None:
        text = json.dumps(message)
        await page.evaluate("([text, to]) => say(text, frames[0], to)", [text, embedded.origin])

    async def works() -> None:
        await frame.locator("#answer").evaluate("element => { element.textContent = ''; }")
        await frame.locator("#call").fill(json.dumps(["intent", {"intent": "good"}]))
        await frame.locator("#call").dispatch_event("change")
        asked = "heard.findLast(({ data }) => data.type === 'intent' && data.messageId)?.data.messageId"
        id_ = await (await page.wait_for_function(f"last => {asked} !== last && {asked}", arg=seen[-1])).json_value()
        seen.append(id_)
        await lie(*({"type": kind, "messageId": id_, "payload": {"response": "forged"}} for kind in ANSWERS))
        await say({"type": "ui-message-received", "messageId": id_})
        await say({"type": "ui-message-response", "messageId": f"{id_}0", "payload": {"response": "guessed"}})
        await say({"type": "ui-message-response", "messageId": id_, "payload": {"response": "good"}})
        await expect(frame.locator("#answer")).to_contain_text('"good"')

    seen: list[Any] = [None]
    await page.wait_for_function("() => heard.some(({ data }) => data.type === 'ui-request-render-data')")
    await lie()
    for message in FORGED[2:4]:
        await say(message)
    await frame.locator("#mcpframe-app").wait_for(state="attached")
    await page.wait_for_function("heard.filter(({ data }) => data.type === 'ui-request-render-data').length > 0")
    await lie()
    assert await frame.locator("#drawn").count() == 0, "nothing is drawn before the host's data"
    await say({"type": DATA, "payload": {"renderData": {"right": 1}}})
    await expect(frame.locator("#drawn")).to_have_text('{"right": 1}', timeout=BOOT_PATIENCE * 1000)
    await works()
    for expression in UNSPEAKABLE.values():
        await page.evaluate(f"to => frames[0].postMessage({expression}, to)", embedded.origin)
    for name, payload in PAYLOADS.items():
        message = f"{{ type: '{DATA}', messageId: {json.dumps(name)}, payload: {payload} }}"
        await page.evaluate(f"to => frames[0].postMessage({message}, to)", embedded.origin)
    for expression in UNCLONEABLE.values():
        message = f"{{ type: '{DATA}', payload: {{ renderData: {expression} }} }}"
        failed = f"to => {{ try {{ frames[0].postMessage({message}, to); }} catch ({{ name }}) {{ return name; }} }}"
        assert await page.evaluate(failed, embedded.origin) == "DataCloneError"
    await works()
    await page.evaluate(
        """(to) => {
            for (let i = 0; i < 3000; i++) {
                const payload = { renderData: { n: i >> 8 } };
                frames[0].postMessage({ type: "ui-lifecycle-iframe-render-data", payload }, to);
                frames[0].postMessage({ type: "ui-message-received", messageId: i }, to);
            }
            const payload = { renderData: { last: 1 } };
            frames[0].postMessage({ type: "ui-lifecycle-iframe-render-data", payload }, to);
        }""",
        embedded.origin,
    )
    await expect(frame.locator("#drawn")).to_have_text('{"last": 1}')
    await works()
    assert await frame.evaluate("({}).polluted") is None
    for stranger in (*strangers, popup):
        assert await stranger.evaluate("heard") == []
    lines = (len(FORGED) * 3 + 3 * len(ANSWERS)) * (len(strangers) + 2)
    record_property("lines", lines + len(UNSPEAKABLE) + len(PAYLOADS) + len(UNCLONEABLE) + 4)


ANSWERS = ("ui-message-response", "ui-message-received", DATA)
