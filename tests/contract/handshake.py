"""The outer frame's half of the handshake, against a framed page that a test plays by hand."""

from __future__ import annotations

import pytest

from tests.contract.outer import Origins, Outer
from tests.contract.playing import accept, heard
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
