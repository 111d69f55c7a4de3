"""The framed page goes away in mid-session: the session ends at once, what is pending fails, and nobody takes over."""

from playwright.async_api import BrowserContext, Frame, Page

from tests.browser.conftest import Origins, Troubles
from tests.browser.outers import Outer
from tests.browser.playing import HANDSHAKE, accept, heard, say


async def open_by_hand(outer: Outer, origins: Origins) -> Frame:
    """Open a session with a page that does only what it is told, and leave a request pending."""
    frame = await outer.ready(f"{origins.bundle}/page.html")
    await accept(frame)
    await outer.next("opened")
    await outer.send({"jsonrpc": "2.0", "id": "pending", "method": "silence"})
    await heard(frame, 2)
    return frame


async def fails_and_closes(outer: Outer, hint: str) -> None:
    """The pending request is told why, and then the session is over."""
    payload = (await outer.next("received"))["payload"]
    assert payload["id"] == "pending"
    assert payload["error"]["code"] == -32000
    assert hint in payload["error"]["message"]
    closed = await outer.next("closed")
    assert closed["error"] == "PeerGone"
    assert await outer.rest() == []


async def test_a_reload_ends_the_session(outer: Outer, origins: Origins) -> None:
    frame = await open_by_hand(outer, origins)
    await frame.evaluate("location.reload()")
    await fails_and_closes(outer, "reloaded")


async def test_a_navigation_within_the_origin_ends_the_session(outer: Outer, origins: Origins) -> None:
    frame = await open_by_hand(outer, origins)
    await frame.goto(f"{origins.bundle}/page.html?next")
    await fails_and_closes(outer, "navigated away")
    assert await frame.evaluate("heard") == []


async def test_a_navigation_elsewhere_ends_the_session_and_tells_the_new_page_nothing(
    outer: Outer, origins: Origins
) -> None:
    frame = await open_by_hand(outer, origins)
    await frame.goto(f"{origins.stranger}/page.html?elsewhere")
    await fails_and_closes(outer, "navigated away")
    await say(frame, HANDSHAKE)
    assert await frame.evaluate("heard") == []


async def test_a_second_handshake_ends_the_session_and_takes_over_nothing(outer: Outer, origins: Origins) -> None:
    frame = await open_by_hand(outer, origins)
    before = await frame.evaluate("heard")
    await say(frame, HANDSHAKE)
    await fails_and_closes(outer, "")
    assert await frame.evaluate("heard") == before


async def test_a_repeated_acceptance_changes_nothing(outer: Outer, origins: Origins) -> None:
    frame = await outer.ready(f"{origins.bundle}/page.html")
    session_id = await accept(frame)
    await outer.next("opened")
    await say(frame, {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": session_id})
    await outer.send({"jsonrpc": "2.0", "method": "notifications/still-here"})
    await heard(frame, 2)
    assert await outer.rest() == []


async def test_removing_the_iframe_ends_the_session(host_page: Page, outer: Outer, origins: Origins) -> None:
    await open_by_hand(outer, origins)
    await host_page.evaluate("document.querySelector('iframe').remove()")
    await fails_and_closes(outer, "")


async def test_moving_the_iframe_ends_the_session(host_page: Page, outer: Outer, origins: Origins) -> None:
    """To move it is to load its page anew."""
    await open_by_hand(outer, origins)
    await host_page.evaluate("document.body.append(document.querySelector('iframe'))")
    await fails_and_closes(outer, "")


async def test_what_is_sent_while_another_page_loads_reaches_nobody(
    context: BrowserContext, outer: Outer, origins: Origins, troubles: Troubles
) -> None:
    """Until the new page's load event the session still seems open: but its messages are for one origin only."""
    troubles.expect("does not match the recipient window's origin")  # what Chromium may log
    await context.route("**/never.png", lambda route: None)
    frame = await open_by_hand(outer, origins)
    await frame.goto(f"{origins.stranger}/stuck.html", wait_until="commit")
    await frame.wait_for_function("() => typeof say === 'function'")
    await outer.send({"jsonrpc": "2.0", "id": "secret", "method": "echo"})
    await outer.page.evaluate("frames[0].postMessage('the last', '*')")
    assert [message["data"] for message in await heard(frame, 1)] == ["the last"]
    await say(frame, {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": "secret", "result": {}}})
    assert (await outer.next("refused"))["error"] == "UnexpectedOrigin"
    assert await outer.rest() == []
