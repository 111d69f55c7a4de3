"""List the modules that serving needs: those imported after a small server has answered.

The server runs once for each protocol era, and is asked for its tools, a structured result and an error.
"""

from __future__ import annotations

import sys


async def main() -> list[str]:
    """Serve and call a small server; return the names of the imported modules."""
    from mcpframe.frame.compat import sdk

    sdk.prepare()
    from mcp import Client

    import mcpframe.frame.boot
    import mcpframe.frame.browser.window  # noqa: F401
    from mcpframe.frame import server as servers
    from mcpframe.frame.server import FrameServer

    server = FrameServer("probe", allowed_origins=["https://host.example"])

    @server.tool()
    def double(number: int) -> int:
        """Doubles a number."""
        return number * 2

    servers.equip(server)
    for mode in ("legacy", "auto"):
        async with Client(server, mode=mode) as client:
            await client.list_tools()
            await client.call_tool("double", {"number": 2})
            await client.call_tool("double", {"number": "two"})
    return sorted(sys.modules)
