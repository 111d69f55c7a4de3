"""The outer frame's half of the handshake, against a framed page that a test plays by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.outer import Origins, Outer
from tests.contract.playing import HANDSHAKE, accept, heard, say
from tests.support.suites import extended


async def test_a_session_opens_and_carries_a_call(outer: Outer, origins: Origins) -> None:
    opened = await outer.open(f"{origins.bundle}/page.html?inner")
    assert opened["origin"] == origins.bundle
    assert len(opened["sessionId"]) >= 16
    assert await outer.call(7, text="Ünïcödé ✓ 🐍") == {"jsonrpc": "2.0", "id": 7, "result": {"text": "Ünïcödé ✓ 🐍"}}
    assert await outer.rest() == []


async def test_the_reply_names_session_and_version_and_goes_to_the_page_itself(outer: Outer, origins: Origins) -> None:
    frame = await outer.ready(f"{origins.bundle}/page.html")
    session_id = await accept(frame)
    assert (await outer.next("opened"))["sessionId"] == session_id
    (reply,) = await heard(frame, 1)
    assert reply == {
        "origin": origins.host,
        "data": {"type": "MCP_TRANSPORT_HANDSHAKE_REPLY", "sessionId": session_id, "protocolVersion": "1.0"},
    }


@pytest.mark.parametrize(
    "versions",
    [
        {"protocolVersion": "1.0"},
        {"minProtocolVersion": "1.0", "maxProtocolVersion": "1.0"},
        {"minProtocolVersion": "0.9", "maxProtocolVersion": "1.10"},
        {"protocolVersion": "1.0", "requiresVisibleSetup": False, "requestedPermissions": []},
    ],
    ids=["A", "C", "a range", "the union"],
)
async def test_every_dialect_is_understood(outer: Outer, origins: Origins, versions: dict[str, Any]) -> None:
    frame = await outer.ready(f"{origins.bundle}/page.html")
    await say(frame, {"type": "MCP_TRANSPORT_HANDSHAKE", **versions})
    assert (await heard(frame, 1))[0]["data"]["protocolVersion"] == "1.0"


@pytest.mark.parametrize(
    "versions",
    [
        {"protocolVersion": "2.0"},
        {"minProtocolVersion": "1.1", "maxProtocolVersion": "1.10"},
        {"minProtocolVersion": "0.2", "maxProtocolVersion": "0.10"},
    ],
    ids=["another", "newer", "older"],
)
async def test_a_version_that_nobody_here_speaks_ends_it(
    outer: Outer, origins: Origins, versions: dict[str, Any]
) -> None:
    frame = await outer.ready(f"{origins.bundle}/page.html")
    await say(frame, {"type": "MCP_TRANSPORT_HANDSHAKE", **versions})
    closed = await outer.next("closed")
    assert closed["error"] == "VersionMismatch"
    assert "1.0" in closed["message"]
    assert await frame.evaluate("heard") == []


async def test_a_repeated_handshake_is_answered_again_with_the_same_session(outer: Outer, origins: Origins) -> None:
    frame = await outer.ready(f"{origins.bundle}/page.html")
    for _ in range(3):
        await say(frame, HANDSHAKE)
    replies = [message["data"] for message in await heard(frame, 3)]
    assert replies == [replies[0]] * 3
    await say(frame, {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": replies[0]["sessionId"]})
    await outer.next("opened")
    assert await outer.rest() == []


async def test_accepting_another_session_is_refused(outer: Outer, origins: Origins) -> None:
    frame = await outer.ready(f"{origins.bundle}/page.html")
    await say(frame, HANDSHAKE)
    (reply,) = await heard(frame, 1)
    await say(frame, {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": "guessed"})
    assert (await outer.next("refused"))["error"] in ("MalformedMessage", "UnexpectedMessage")
    await say(frame, {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": reply["data"]["sessionId"]})
    await outer.next("opened")


@pytest.mark.parametrize(
    "message",
    [
        {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": "guessed"},
        {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": 1, "method": "ping"}},
        {"type": "MCP_SETUP_REQUIRED", "reason": "OTHER", "message": "again", "canContinue": False},
        {"type": "MCP_SETUP_HANDSHAKE", "protocolVersion": "1.0", "requiresVisibleSetup": False},
        {"type": "MCP_TRANSPORT_HANDSHAKE_REPLY", "sessionId": "mine", "protocolVersion": "1.0"},
    ],
    ids=lambda message: message["type"],
)
async def test_what_comes_before_the_handshake_is_refused_and_changes_nothing(
    outer: Outer, origins: Origins, message: dict[str, Any]
) -> None:
    frame = await outer.ready(f"{origins.bundle}/page.html")
    await say(frame, message)
    assert (await outer.next("refused"))["error"] == "UnexpectedMessage"
    assert await frame.evaluate("heard") == []
    await accept(frame)
    await outer.next("opened")


async def test_a_page_that_never_speaks_runs_into_the_deadline(outer: Outer, origins: Origins) -> None:
    await outer.connect(f"{origins.bundle}/page.html", deadlines={"handshake": 0.3})
    closed = await outer.next("closed")
    assert closed["error"] == "HandshakeTimeout"
    assert "sent no handshake" in closed["message"]


@pytest.mark.parametrize(
    "deadlines", [{"accept": 0.3}, extended({"handshake": 5.0})], ids=["its own", "as for the handshake"]
)
async def test_a_page_that_never_accepts_runs_into_the_deadline(
    outer: Outer, origins: Origins, deadlines: dict[str, float]
) -> None:
    await outer.connect(f"{origins.bundle}/page.html?handshake", deadlines=deadlines)
    closed = await outer.next("closed")
    assert closed["error"] == "HandshakeTimeout"
    assert "did not accept" in closed["message"]


async def test_a_sandbox_that_keeps_the_origin_works(outer: Outer, origins: Origins) -> None:
    opened = await outer.open(f"{origins.bundle}/page.html?inner", sandbox="allow-scripts allow-same-origin")
    assert opened["origin"] == origins.bundle


async def test_an_opaque_sandbox_works_where_it_was_opted_in_to(outer: Outer, origins: Origins) -> None:
    opened = await outer.open(f"{origins.bundle}/page.html?inner", sandbox="allow-scripts", opaque=True)
    assert opened["origin"] == "null"
    assert (await outer.call(text="from nowhere"))["result"] == {"text": "from nowhere"}
