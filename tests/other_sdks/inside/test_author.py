"""The contract of an author's functions in a frame, with wrapped servers of the installed SDK."""

from __future__ import annotations

import asyncio

import pytest

from mcpframe.frame.compat import sdk
from tests.support.author_contract import *  # noqa: F403
from tests.support.author_contract import connected
from tests.support.page_rig import Rig, rig
from tests.support.sep import SESSION
from tests.support.server_kinds import FRAME_SERVER

__all__ = ["rig"]


@pytest.fixture(autouse=True)
def kind(rig: Rig) -> None:
    rig.kind = "fastmcp" if sdk.has_fastmcp() else "mcp 1.x"


LOWLEVEL = """
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcpframe import wrap

    server = Server("low")
    framed = wrap(server, allowed_origins=["https://chat.example"])

    @server.list_tools()
    async def list_tools():
        return [types.Tool(name=framed.session.id, inputSchema={"type": "object"})]
"""


@pytest.mark.skipif(sdk.major() != 1, reason="decorators of mcp 1.x")
@pytest.mark.parametrize("named", ["server", "framed"])
async def test_a_lowlevel_server_has_a_session_whichever_object_the_entry_names(rig: Rig, named: str) -> None:
    rig.kind = FRAME_SERVER
    rig.write(LOWLEVEL, f"authored_{named}")
    page = rig.start(f"authored_{named}:{named}")
    async with connected(rig) as client:
        answer = await client.request("tools/list")
        assert [tool["name"] for tool in answer["result"]["tools"]] == [SESSION]
    page.cancel()
    await asyncio.wait([page])
