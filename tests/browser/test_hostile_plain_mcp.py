"""A bundle with a host of plain MCP in Chromium, which is played by hand: bad input, and strangers.

    line                                                        what must happen
    other windows of each origin, before and after              not heard, and told nothing
    bad messages, floods, noise, ids that are in use            an error for whoever waits; the session goes on
    what JSON cannot spell                                      an error, by the id

`tests/unit/hostile/test_plain_mcp.py` has what the connection decides, of a framed client, too;
`test_contract_strangers.py` the page around a frame, `test_contract_bundle.py` a host of a wrong origin, and
`test_inbox.py` a reload.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Frame, Page

from tests.browser.by_hand import framed
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, Origins, Troubles
from tests.browser.test_contract_bundle import INITIALIZE, OPENINGS, PING, Host, framing
from tests.browser.test_contract_messages import UNSPELLABLE
from tests.hostile.values import UNCLONEABLE, UNSPEAKABLE, Record

Json = dict[str, Any]
HANDSHAKE = "MCP_TRANSPORT_HANDSHAKE"
CALL = {"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "hi"}}}
BAD: list[Any] = [
    {"jsonrpc": "2.0", "id": "poisoned", "method": "tools/list", "params": {"__proto__": {"polluted": True}}},
    {"jsonrpc": "2.0", "id": {}, "method": "ping"},
    {"jsonrpc": "2.0", "id": "listed", "method": "tools/list", "params": []},
    {"jsonrpc": "2.0", "id": "both", "method": "tools/list", "result": {}},
]
"""Requests that are answered with an error."""
NOISE: list[Any] = [
    *(None, 7, "init", "noise", [], {}, [PING], json.dumps(PING)),
    {"source": "ozwell-chat-widget", "type": "ready"},
    {"jsonrpc": "1.0", "id": 1, "method": "ping"},
    {"type": "MCP_MESSAGE", "payload": PING},
    {"jsonrpc": "2.0", "id": "never asked", "result": {}},
    {"jsonrpc": "2.0", "id": "mcpframe/initialize", "error": {"code": -32601, "message": "no"}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "nobody's"}},
]


async def heard(host: Host) -> list[Json]:
    """Return what the host has heard of MCP, but for the page's openings of other dialects."""
    messages = [message["data"] for message in await host.page.evaluate("heard")]
    return [message for message in messages if message.get("jsonrpc") == "2.0" and "method" not in message]


async def answer(host: Host, id_: str, count: int = 1) -> Json:
    """Wait for the answer to a request, the last of so many."""
    answered = "([id, count]) => heard.filter(({ data }) => data.id === id && !data.method).length >= count"
    await host.page.wait_for_function(answered, arg=[id_, count], timeout=BOOT_PATIENCE * 1000)
    return [message for message in await heard(host) if message["id"] == id_][-1]


@pytest.fixture
async def host(context: BrowserContext, troubles: Troubles, origins: Origins, everything: Bundle) -> Host:
    host = await framing(context, origins.host, everything)
    await host.hears(HANDSHAKE)  # its page listens
    return host


async def test_a_bundle_in_bad_company(
    host: Host, context: BrowserContext, troubles: Troubles, origins: Origins, record_property: Record
) -> None:
    troubles.expect("The host refused ui/initialize")  # one of the lines
    page = host.page
    strangers: list[tuple[Frame | Page, str]] = [
        (await framed(page, f"{origin}/page.html?sibling"), "parent.frames[0]")
        for origin in (origins.host, origins.bundle, origins.stranger)
    ]
    async with context.expect_page() as opening:
        await page.evaluate("url => void open(url)", f"{origins.host}/page.html?popup")
    popup = await opening.value
    await popup.wait_for_function("() => typeof say === 'function'")
    strangers.append((popup, "opener.frames[0]"))
    lies = [json.dumps(message) for message in (*OPENINGS, {**CALL, "id": "theirs"})]

    async def bombard() -> None:
        for stranger, target in strangers:
            await stranger.evaluate(f"texts => texts.forEach((text) => say(text, {target}))", lies)

    await bombard()  # before Python runs
    await host.say(*NOISE, INITIALIZE)
    assert (await answer(host, "first"))["result"]["serverInfo"]["name"] == "everything"
    await bombard()
    await host.say(*NOISE, {**CALL, "id": "used"}, {**CALL, "id": "used"}, *BAD)
    await host.say(*({"jsonrpc": "2.0", "method": "notifications/of-tomorrow", "n": n} for n in range(2000)))
    for expression in UNSPEAKABLE.values():
        await page.evaluate(f"origin => frames[0].postMessage(({expression})?.payload, origin)", host.bundle.origin)
    for name, expression in UNCLONEABLE.items():
        posting = f"try {{ frames[0].postMessage(({expression}).payload, '*') }} catch ({{ name }}) {{ return name }}"
        assert await page.evaluate(f"() => {{ {posting} }}") == "DataCloneError", name
    for name in UNSPELLABLE:
        await page.evaluate(
            "([name, origin]) => frames[0].postMessage(oddities[name]().payload, origin)", [name, host.bundle.origin]
        )
        assert (await answer(host, name))["error"]["code"] == -32600, name
    await host.say(CALL)
    assert (await answer(host, "call"))["result"]["structuredContent"] == {"result": "hi"}
    answers = await heard(host)
    errors = {message["id"]: message["error"]["code"] for message in answers if "error" in message}
    assert {id_: errors.pop(id_) for id_ in ("poisoned", "listed", "both", "used")} == dict.fromkeys(
        ("poisoned", "listed", "both", "used"), -32600
    )
    assert set(errors) <= {None, *UNSPELLABLE}
    assert [message["id"] for message in answers if "result" in message] == ["first", "used", "call"]
    assert {message["origin"] for message in await page.evaluate("heard")} == {host.bundle.origin}
    for stranger, _ in strangers:
        assert await stranger.evaluate("heard") == [], stranger.url
    record_property("lines", 2 * len(lies) * len(strangers) + 2 * len(NOISE) + len(BAD) + len(UNSPEAKABLE))
