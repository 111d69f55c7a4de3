"""An observer of the wire is called back for every message that is sent, received or rejected."""

from __future__ import annotations

from typing import Any

from tests.contract.outer import Origins, Outer
from tests.contract.playing import HANDSHAKE, say

CALL = {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"text": "é"}}}


ANSWER = {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": 1, "result": {"text": "é"}}}


def told(direction: str, message: Any, origin: str, refused: str | None = None) -> dict[str, Any]:
    return {"direction": direction, "text": message, "origin": origin, "refused": refused}


async def begun(outer: Outer, url: str, **options: Any) -> str:
    """Open an observed session and return its id."""
    await outer.watch()
    opened = await outer.open(url, **options)
    return str(opened["sessionId"])


async def test_a_session_is_told_in_order(outer: Outer, origins: Origins) -> None:
    session_id = await begun(outer, f"{origins.bundle}/page.html?inner")
    await outer.call(text="é")
    reply = {"type": "MCP_TRANSPORT_HANDSHAKE_REPLY", "sessionId": session_id, "protocolVersion": "1.0"}
    accepted = {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": session_id}
    wires = [wire for wire in await outer.wires() if wire["refused"] is None]
    assert wires == [
        told("received", HANDSHAKE, origins.bundle),
        told("sent", reply, origins.bundle),
        told("received", accepted, origins.bundle),
        told("sent", CALL, origins.bundle),
        told("received", ANSWER, origins.bundle),
    ]


async def test_a_refused_message_of_the_page_is_told_before_what_follows_from_it(
    outer: Outer, origins: Origins
) -> None:
    await begun(outer, f"{origins.bundle}/page.html?inner", limits={"max_nesting": 5, "max_pending": 1})
    before = len(await outer.wires())
    request = {"jsonrpc": "2.0", "method": "ping"}
    unknown = {"type": "MCP_NONSENSE"}
    devtools = {"source": "react-devtools"}
    frame = await outer.inner()
    messages: list[Any] = [unknown, devtools]
    messages += [{"type": "MCP_MESSAGE", "payload": {**request, "id": number}} for number in (1, 2)]
    for message in messages:
        await say(frame, message)
    await outer.next("refused")
    many = await outer.next("refused")
    one, two, three, four, five = (await outer.wires())[before:]
    assert one == told("received", unknown, origins.bundle, one["refused"])
    assert "MCP_NONSENSE" in one["refused"]
    assert two == told("received", devtools, origins.bundle, "Not a message of this protocol.")
    assert three == told("received", messages[2], origins.bundle)
    assert four == told("received", messages[3], origins.bundle, many["message"])
    assert (five["direction"], five["text"]["payload"]["id"]) == ("sent", 2)
    assert five["text"]["payload"]["error"]["message"] == many["message"]


async def test_a_message_of_our_own_that_is_refused_is_told(outer: Outer, origins: Origins) -> None:
    await begun(outer, f"{origins.bundle}/page.html?inner", limits={"max_pending": 1})
    before = len(await outer.wires())
    request = {"jsonrpc": "2.0", "method": "never", "params": {}}
    await outer.send({**request, "id": 1})
    reason = await outer.failure({**request, "id": 2})
    sent, refused = (await outer.wires())[before:]
    assert sent == told("sent", {"type": "MCP_MESSAGE", "payload": {**request, "id": 1}}, origins.bundle)
    assert refused == told("sent", {"type": "MCP_MESSAGE", "payload": {**request, "id": 2}}, origins.bundle, reason)
