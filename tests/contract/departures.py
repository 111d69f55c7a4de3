"""The framed page reloads during a session: the session ends at once, pending requests fail, no page takes over."""

from __future__ import annotations

from playwright.async_api import Frame

from tests.contract.outer import Origins, Outer
from tests.contract.playing import HANDSHAKE, heard, say


async def open_by_hand(outer: Outer, origins: Origins) -> Frame:
    """Open a session with a page that the test plays by hand, and leave a request pending."""
    frame = await outer.ready(f"{origins.bundle}/page.html")
    await outer.opened_by_hand(frame)
    count = len(await frame.evaluate("heard"))
    await outer.send({"jsonrpc": "2.0", "id": "pending", "method": "silence"})
    await heard(frame, count + 1)
    return frame


async def fails_and_closes(outer: Outer, hint: str) -> None:
    """The pending request fails with the reason, and then the session is over."""
    payload = (await outer.next("received"))["payload"]
    assert payload["id"] == "pending"
    assert payload["error"]["code"] == -32000
    assert hint in payload["error"]["message"]
    closed = await outer.next("closed")
    assert closed["error"] == "PeerGone"
    assert await outer.rest() == []


async def test_a_second_handshake_ends_the_session_and_takes_over_nothing(outer: Outer, origins: Origins) -> None:
    frame = await open_by_hand(outer, origins)
    before = await frame.evaluate("heard")
    await say(frame, HANDSHAKE)
    await fails_and_closes(outer, "")
    assert await frame.evaluate("heard") == before
