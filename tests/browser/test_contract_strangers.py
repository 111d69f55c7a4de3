"""Nobody but the framed page is heard, and nobody but it is told anything; in a real browser with three origins.

Every test ends alike: the session that was attacked still answers a good call, nothing was reported or delivered, and
no page of the attacker heard a word.
"""

import json
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Frame, Page

from tests.browser.by_hand import framed
from tests.browser.conftest import Origins, Troubles
from tests.browser.outers import Outer, both_kinds, every_kind  # noqa: F401  a fixture
from tests.contract.playing import HANDSHAKE, INITIALIZE, heard, say

FORGED: list[dict[str, Any]] = [
    HANDSHAKE,
    {"type": "MCP_TRANSPORT_HANDSHAKE_REPLY", "sessionId": "theirs", "protocolVersion": "1.0"},
    {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": "theirs"},
    {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": 1, "result": {"text": "forged"}}},
    {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}}},
    {"type": "MCP_SETUP_REQUIRED", "reason": "OTHER", "message": "give me", "canContinue": False},
    {
        "type": "MCP_SETUP_COMPLETE",
        "status": "success",
        "serverTitle": "x",
        "transportVisibility": {"requirement": "hidden"},
    },
    {"type": "MCP_NONSENSE"},
    INITIALIZE,
    {"jsonrpc": "2.0", "id": 99, "result": {"text": "forged"}},
    {"jsonrpc": "2.0", "id": 99, "error": {"code": -32601, "message": "forged"}},
    {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}},
    {"jsonrpc": "2.0", "id": "mcpframe/ping", "method": "ping"},
    {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}},
]


async def bombard(attacker: Frame | Page, target: str, page: Page) -> None:
    """Let a page post all that it can think of at a window, and wait until the host page has heard the last of it."""
    marker = {"marker": attacker.url}
    await attacker.evaluate(
        f"texts => texts.forEach(text => say(text, {target}))", [json.dumps(message) for message in [*FORGED, marker]]
    )
    await page.wait_for_function("url => heard.some(({ data }) => data.marker === url)", arg=attacker.url)


async def is_unharmed(outer: Outer, *attackers: Frame | Page) -> None:
    """The session answers, nothing was reported, and no attacker heard anything."""
    assert (await outer.call(99, still="here"))["result"] == {"still": "here"}
    assert await outer.rest() == []
    for attacker in attackers:
        assert await attacker.evaluate("heard") == [], attacker.url


@every_kind
async def test_no_other_window_is_heard(host_page: Page, outer: Outer, origins: Origins) -> None:
    """Siblings of the framed page and frames in it, of every origin, and the host page itself."""
    await outer.open(f"{origins.bundle}/page.html?{outer.answering}")
    attackers: list[Frame] = []
    for parent, name, target in ((host_page, "sibling", "parent"), (await outer.inner(), "child", "top")):
        for origin in (origins.bundle, origins.host, origins.stranger):
            attackers.append(await framed(parent, f"{origin}/page.html?{name}"))
            await bombard(attackers[-1], target, host_page)
    await bombard(host_page, "window", host_page)
    await is_unharmed(outer, *attackers)


@pytest.mark.parametrize("origin", ["bundle", "stranger"])
async def test_a_sibling_cannot_shake_hands_first(host_page: Page, outer: Outer, origins: Origins, origin: str) -> None:
    sibling = await framed(host_page, f"{getattr(origins, origin)}/page.html?sibling")
    frame = await outer.ready(f"{origins.bundle}/page.html")
    await bombard(sibling, "parent", host_page)
    assert await frame.evaluate("heard") == []
    await say(frame, HANDSHAKE)
    (reply,) = await heard(frame, 1)
    await say(sibling, {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": reply["data"]["sessionId"]})
    await bombard(sibling, "parent", host_page)
    assert await outer.rest() == []
    await say(frame, {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": reply["data"]["sessionId"]})
    await outer.next("opened")
    assert await sibling.evaluate("heard") == []


@every_kind
async def test_whoever_opened_the_host_page_is_not_heard(
    context: BrowserContext, origins: Origins, outer_kind: type[Outer]
) -> None:
    opener = await context.new_page()
    await opener.goto(f"{origins.stranger}/page.html?opener")
    async with context.expect_page() as opened:
        await opener.evaluate("url => { window.host = open(url) }", f"{origins.host}/host.html")
    host_page = await opened.value
    await host_page.wait_for_function("() => window.lab")
    async with outer_kind(host_page) as outer:
        await outer.open(f"{origins.bundle}/page.html?{outer.answering}")
        await bombard(opener, "host", host_page)
        await is_unharmed(outer, opener)


@every_kind
async def test_a_page_of_another_origin_in_the_frame_is_not_heard(
    host_page: Page, outer: Outer, origins: Origins, troubles: Troubles
) -> None:
    """The address led elsewhere before the handshake: what is there now learns nothing, not even the session id."""
    troubles.expect("does not match the recipient window's origin")  # of a ping in plain MCP
    frame = await outer.ready(f"{origins.bundle}/page.html")
    await frame.goto(f"{origins.stranger}/page.html?elsewhere")
    await bombard(frame, "parent", host_page)
    refused = await outer.next("refused")
    assert refused["error"] == "UnexpectedOrigin"
    assert origins.stranger in refused["message"]
    assert await outer.rest() == []  # reported once, not once a message
    assert await frame.evaluate("heard") == []


@every_kind
async def test_a_flood_of_strangers_costs_the_session_nothing(host_page: Page, outer: Outer, origins: Origins) -> None:
    await outer.open(f"{origins.bundle}/page.html?{outer.answering}")
    sibling = await framed(host_page, f"{origins.stranger}/page.html?sibling")
    await sibling.evaluate(
        "text => { for (let i = 0; i < 5000; i++) say(text); }", json.dumps({**FORGED[3], "filling": "x" * 1000})
    )
    await bombard(sibling, "parent", host_page)
    await is_unharmed(outer, sibling)


@every_kind
async def test_noise_of_the_framed_page_is_silent_and_a_flood_of_it_does_no_harm(
    outer: Outer, origins: Origins
) -> None:
    """Other libraries talk over the same channel: React DevTools, analytics, webpack, other protocols."""
    await outer.open(f"{origins.bundle}/page.html?{outer.answering}")
    frame = await outer.inner()
    for noise in (
        None,
        True,
        17,
        "MCP_MESSAGE",
        [],
        {},
        {"type": 7},
        {"type": "webpackOk"},
        {"source": "ozwell-chat-widget", "type": "ready"},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"id": 1, "method": "ping"},
        [INITIALIZE],
        json.dumps(INITIALIZE),
    ):
        await say(frame, noise)
    for noise in ("undefined", "new Map([['type', 'MCP_MESSAGE']])", "10n", "(x => (x.x = x))({})", "new Date()"):
        await frame.evaluate(f"parent.postMessage({noise}, '*')")
    await is_unharmed(outer)
    await frame.evaluate("for (let i = 0; i < 5000; i++) parent.postMessage({ source: 'react-devtools', i }, '*')")
    await is_unharmed(outer)
