"""Every message type with one thing wrong in it, in the state that waits for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from playwright.async_api import Frame

from tests.contract.outer import Origins, Outer
from tests.contract.playing import heard, say
from tests.hostile.sep import LARGEST, damaged, example
from tests.hostile.values import Record

LIMITS = {"max_message_bytes": LARGEST}


async def all_refused(outer: Outer, frame: Frame, lines: Iterable[tuple[str, Any]]) -> int:
    """Let the page post each damaged message; each must be rejected, with no other effect."""
    named = list(lines)
    for name, message in named:
        await say(frame, message)
        refused = await outer.next("refused")
        assert refused["error"] in ("MalformedMessage", "MessageTooLarge", "MessageTooDeep", "PrototypeKey"), name
    assert await outer.rest() == []
    return len(named)


async def test_damaged_messages_in_a_setup(outer: Outer, origins: Origins, record_property: Record) -> None:
    await outer.set_up(f"{origins.bundle}/page.html", limits=LIMITS)
    frame = await outer.framed()
    lines = await all_refused(outer, frame, damaged("MCP_SETUP_HANDSHAKE"))
    assert await frame.evaluate("heard") == []
    await say(frame, example("MCP_SETUP_HANDSHAKE") | {"requiresVisibleSetup": False})
    await heard(frame, 1)
    assert len(await frame.evaluate("heard")) == 1
    await say(frame, example("MCP_SETUP_COMPLETE"))
    assert (await outer.next("set up"))["title"] == "Pi"
    record_property("lines", lines)


async def test_damaged_messages_in_a_session(outer: Outer, origins: Origins, record_property: Record) -> None:
    frame = await outer.ready(f"{origins.bundle}/page.html?inner", limits=LIMITS)
    await outer.next("opened")
    count = len(await frame.evaluate("heard"))
    lines = await all_refused(outer, frame, damaged("MCP_SETUP_REQUIRED"))
    assert len(await frame.evaluate("heard")) == count
    # A rejected request is answered with an error, so that its sender does not wait for ever.
    lines += await all_refused(outer, frame, damaged("MCP_MESSAGE"))
    answers = [message["data"]["payload"] for message in (await frame.evaluate("heard"))[count:]]
    assert all("error" in answer for answer in answers)
    assert (await outer.call(99, still="here"))["result"] == {"still": "here"}
    record_property("lines", lines)


async def test_damaged_messages_in_a_handshake(outer: Outer, origins: Origins, record_property: Record) -> None:
    frame = await outer.ready(f"{origins.bundle}/page.html", limits=LIMITS)
    lines = await all_refused(outer, frame, damaged("MCP_TRANSPORT_HANDSHAKE"))
    assert await frame.evaluate("heard") == []
    await say(frame, example("MCP_TRANSPORT_HANDSHAKE"))
    (reply,) = await heard(frame, 1)
    lines += await all_refused(outer, frame, damaged("MCP_TRANSPORT_ACCEPTED"))
    assert len(await frame.evaluate("heard")) == 1
    await accept_again(frame, reply)
    await outer.next("opened")
    record_property("lines", lines)


async def accept_again(frame: Frame, reply: dict[str, Any]) -> None:
    await say(frame, {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": reply["data"]["sessionId"]})
