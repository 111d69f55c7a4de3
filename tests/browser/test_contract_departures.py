"""The framed page goes away in mid-session: the session ends at once, what is pending fails, and nobody takes over."""

import pytest
from playwright.async_api import BrowserContext, Page

from tests.browser.by_hand import loaded
from tests.browser.conftest import Origins, Troubles
from tests.browser.outers import both_kinds, every_kind  # noqa: F401  a fixture
from tests.contract.departures import *  # noqa: F403  the tests for every window
from tests.contract.departures import fails_and_closes, open_by_hand
from tests.contract.outer import Outer
from tests.contract.playing import HANDSHAKE, INITIALIZE, POLL, heard, say


@every_kind
async def test_a_reload_ends_the_session(outer: Outer, origins: Origins) -> None:
    frame = await open_by_hand(outer, origins)
    # Later, as the answer of `evaluate` may be lost where the page leaves at once.
    await frame.evaluate("() => { setTimeout(() => location.reload()) }")
    await fails_and_closes(outer, "reloaded")


@every_kind
@pytest.mark.parametrize("to", ["bundle", "stranger"])
async def test_a_navigation_ends_the_session_and_tells_the_new_page_nothing(
    outer: Outer, origins: Origins, to: str
) -> None:
    frame = await open_by_hand(outer, origins)
    elsewhere = f"{getattr(origins, to)}/page.html?elsewhere"
    await frame.evaluate("url => { setTimeout(() => location.replace(url)) }", elsewhere)
    await fails_and_closes(outer, "navigated away")
    await loaded(frame, elsewhere)
    for message in (HANDSHAKE, INITIALIZE):
        await say(frame, message)
    assert await frame.evaluate("heard") == []


@every_kind
@pytest.mark.parametrize("change", ["iframe.remove()", "document.body.append(iframe)"])
async def test_removing_or_moving_the_iframe_ends_the_session(
    host_page: Page, outer: Outer, origins: Origins, change: str
) -> None:
    """To move it is to load its page anew."""
    await open_by_hand(outer, origins)
    await host_page.evaluate(f"() => {{ const iframe = document.querySelector('iframe'); {change}; }}")
    await fails_and_closes(outer, "")


@every_kind
async def test_what_is_sent_while_another_page_loads_reaches_nobody(
    context: BrowserContext, outer: Outer, origins: Origins, troubles: Troubles
) -> None:
    """Until the new page's load event the session still seems open: but its messages are for one origin only."""
    troubles.expect("does not match the recipient window's origin")  # what Chromium may log
    await context.route("**/never.png", lambda route: None)
    frame = await open_by_hand(outer, origins)
    await frame.goto(f"{origins.stranger}/stuck.html", wait_until="commit")
    await frame.wait_for_function("() => typeof say === 'function'", polling=POLL)
    await outer.send({"jsonrpc": "2.0", "id": "secret", "method": "echo"})
    await outer.page.evaluate("frames[0].postMessage('the last', '*')")
    assert [message["data"] for message in await heard(frame, 1)] == ["the last"]
    answer = {"jsonrpc": "2.0", "id": "secret", "result": {}}
    for message in ({"type": "MCP_MESSAGE", "payload": answer}, answer):
        await say(frame, message)
    assert (await outer.next("refused"))["error"] == "UnexpectedOrigin"
    assert await outer.rest() == []
