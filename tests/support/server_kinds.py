"""The kinds of server objects that have sessions, setup and ui functions: one author's source, written for each."""

from __future__ import annotations

import re

FRAME_SERVER = "FrameServer"
IMPORTS = {
    "mcp 2.x": "from mcp.server.mcpserver import MCPServer as Sdk",
    "mcp 1.x": "from mcp.server.fastmcp import FastMCP as Sdk",
    "fastmcp": "from fastmcp import FastMCP as Sdk",
}
"""The servers of each SDK that are wrapped, imported as `Sdk`."""

_CALL = re.compile(r'FrameServer\(("[\w-]+")(?:, (allowed_origins=\[[^]]*\]))?([^()]*)\)')


def of_kind(source: str, kind: str) -> str:
    """Return the source of a server for another kind: `wrap(...)` in place of `FrameServer(...)`.

    Args:
        source: A module that imports `FrameServer` from mcpframe in one line, and calls it once.
        kind: `FRAME_SERVER`, or one of `IMPORTS`.
    """
    if kind == FRAME_SERVER:
        return source
    source, calls = _CALL.subn(lambda call: f"wrap(Sdk({call[1]}{call[3]}), {call[2] or ''})", source)
    source, lines = re.subn(
        r"from mcpframe import (.*)FrameServer", rf"{IMPORTS[kind]}; from mcpframe import \1wrap", source
    )
    assert (calls, lines) == (1, 1), source
    return source
