"""The dialects that a page offers at boot."""

from __future__ import annotations

from tests.support.page_rig import Rig, rig
from tests.unit.frame.boot.test_boot import SERVER

__all__ = ["rig"]


async def test_only_offered_dialects_are_spoken(rig: Rig) -> None:
    rig.write(SERVER, "authored_few")
    options = {"handshake_timeout": 0.01}
    await rig.start("authored_few:server", dialects=["mcp_ui"], options=options)
    posted = [message for message, _ in rig.inner.posted]
    assert posted
    assert {message.get("type", "")[:3] for message in posted} == {"ui-"}
    rig.fragment = "#setup"
    await rig.start("authored_few:server", dialects=["mcp_ui"], options=options)
    assert rig.loader.last[0] == "fail"
    assert "Nobody may set up this server" in rig.loader.last[1]
    rig.framed = False
    await rig.start("authored_few:server", dialects=["mcp_ui"])  # it ends, as nobody could use it
    assert rig.loader.last[0] == "standalone"
    assert rig.own.posted == []
