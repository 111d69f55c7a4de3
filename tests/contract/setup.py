"""The setup phase, with pages that a test plays by hand."""

from __future__ import annotations

import pytest

from tests.contract.outer import Origins, Outer
from tests.contract.playing import say

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


@pytest.mark.parametrize(("deadline", "hint"), [("handshake", "sent no handshake"), ("setup", "not completed")])
async def test_deadlines_of_a_setup(outer: Outer, origins: Origins, deadline: str, hint: str) -> None:
    await outer.set_up(f"{origins.neighbour}/page.html", deadlines={deadline: 0.5 if deadline == "handshake" else 0.1})
    if deadline == "setup":
        await say(await outer.framed(), HANDSHAKE)
    failed = await outer.next("setup failed")
    assert failed["error"] == "HandshakeTimeout"
    assert hint in failed["message"]


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
