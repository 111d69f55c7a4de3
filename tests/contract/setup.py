"""The setup phase, with pages that a test plays by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.outer import Origins, Outer
from tests.contract.playing import heard, say

HANDSHAKE = {"type": "MCP_SETUP_HANDSHAKE", "protocolVersion": "1.0", "requiresVisibleSetup": False}
COMPLETE = {
    "type": "MCP_SETUP_COMPLETE",
    "status": "success",
    "serverTitle": "Pi",
    "ephemeralMessage": "Ready",
    "transportVisibility": {"requirement": "optional", "optionalMessage": "See the points"},
}
CAMERA = {"name": "camera", "phase": ["setup"], "required": True, "purpose": "Scan a code"}
CLIPBOARD = {"name": "clipboard-read", "phase": ["transport"], "required": False, "purpose": ""}


@pytest.mark.parametrize(
    "handshake",
    [
        {"protocolVersion": "1.0"},
        {"minProtocolVersion": "0.9", "maxProtocolVersion": "1.10", "requestedPermissions": []},
        {"protocolVersion": "1.0", "minProtocolVersion": "1.0", "maxProtocolVersion": "1.0"},
    ],
    ids=["A, B", "C", "the union"],
)
@pytest.mark.parametrize(
    "complete",
    [
        {"serverTitle": "Pi", "transportVisibility": {"requirement": "optional", "optionalMessage": "See"}},
        {"displayName": "Pi", "transportVisibility": {"requirement": "optional", "description": "See"}},
    ],
    ids=["A", "B, C"],
)
async def test_every_dialect_is_understood(
    outer: Outer, origins: Origins, handshake: dict[str, Any], complete: dict[str, Any]
) -> None:
    await outer.set_up(f"{origins.neighbour}/page.html")
    frame = await outer.framed()
    await say(frame, {"type": "MCP_SETUP_HANDSHAKE", "requiresVisibleSetup": False, **handshake})
    await heard(frame, 1)
    await say(frame, {"type": "MCP_SETUP_COMPLETE", "status": "success", **complete})
    done = await outer.next("set up")
    assert (done["title"], done["visibility"], done["visibilityMessage"]) == ("Pi", "optional", "See")


@pytest.mark.parametrize(
    "code", ["USER_CANCELLED", "AUTH_FAILED", "TIMEOUT", "CONFIG_ERROR", "VERSION_MISMATCH", "NO_LICENCE"]
)
async def test_a_setup_that_fails_says_how(outer: Outer, origins: Origins, code: str) -> None:
    await outer.set_up(f"{origins.neighbour}/page.html")
    frame = await outer.framed()
    await say(frame, HANDSHAKE)
    await heard(frame, 1)
    await say(frame, {"type": "MCP_SETUP_COMPLETE", "status": "error", "error": {"code": code, "message": "Sorry"}})
    assert (await outer.next("set up"))["error"] == {"code": code, "message": "Sorry"}


@pytest.mark.parametrize(
    ("complete", "error"),
    [({}, "MalformedMessage"), ({**COMPLETE, "more": [{"__proto__": {}}]}, "PrototypeKey")],
    ids=["no status", "a prototype key"],
)
async def test_a_setup_whose_end_cannot_be_read_is_over(
    outer: Outer, origins: Origins, complete: dict[str, Any], error: str
) -> None:
    """The page considers the setup as over, too: it does not wait, and a session can begin."""
    await outer.set_up(f"{origins.neighbour}/page.html")
    frame = await outer.framed()
    await say(frame, HANDSHAKE)
    await heard(frame, 1)
    await say(frame, {"type": "MCP_SETUP_COMPLETE", **complete})
    assert (await outer.next("refused"))["error"] == error
    assert (await outer.next("set up"))["error"]["code"] == "CONFIG_ERROR"
    assert await outer.rest() == []


@pytest.mark.parametrize(("deadline", "hint"), [("handshake", "sent no handshake"), ("setup", "not completed")])
async def test_deadlines_of_a_setup(outer: Outer, origins: Origins, deadline: str, hint: str) -> None:
    await outer.set_up(f"{origins.neighbour}/page.html", deadlines={deadline: 0.5 if deadline == "handshake" else 0.1})
    if deadline == "setup":
        await say(await outer.framed(), HANDSHAKE)
    failed = await outer.next("setup failed")
    assert failed["error"] == "HandshakeTimeout"
    assert hint in failed["message"]


async def test_transport_messages_have_no_place_in_a_setup(outer: Outer, origins: Origins) -> None:
    await outer.set_up(f"{origins.neighbour}/page.html")
    frame = await outer.framed()
    await say(frame, HANDSHAKE)
    (reply,) = await heard(frame, 1)
    for message in (
        {"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"},
        {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": reply["data"]["sessionId"]},
        {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": 1, "method": "ping"}},
        {"type": "MCP_SETUP_REQUIRED", "reason": "OTHER", "message": "x", "canContinue": True},
    ):
        await say(frame, message)
        assert (await outer.next("refused"))["error"] == "UnexpectedMessage"
    await say(frame, COMPLETE)
    await outer.next("set up")
    assert await outer.rest() == []


@pytest.mark.parametrize("name", ["camera *; microphone *", "camera;microphone", "Camera", "", "*", "camera\n"])
async def test_a_name_that_is_none_is_never_granted(outer: Outer, origins: Origins, name: str) -> None:
    await outer.set_up(f"{origins.neighbour}/page.html", grants=[name])
    frame = await outer.framed()
    await say(frame, {**HANDSHAKE, "requestedPermissions": [{**CAMERA, "name": name}]})
    assert (await outer.next("setup failed"))["error"] == "OriginError"


@pytest.mark.parametrize("grants", [None, [], ["clipboard-read"]])
async def test_a_required_permission_that_is_denied_ends_the_setup_before_it_began(
    outer: Outer, origins: Origins, grants: list[str] | None
) -> None:
    await outer.set_up(f"{origins.neighbour}/page.html", grants=grants)
    frame = await outer.framed()
    await say(frame, {**HANDSHAKE, "requestedPermissions": [CAMERA, CLIPBOARD]})
    failed = await outer.next("setup failed")
    assert failed["error"] == "PermissionsDenied"
    assert "camera" in failed["message"]
