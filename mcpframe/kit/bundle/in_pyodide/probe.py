"""Lists the modules that serving needs: what is imported once a small server has answered.

It is served as boot serves it, once for each protocol era, and asked for its tools, a structured result and an error.
"""

from __future__ import annotations

import sys


async def main() -> list[str]:
    """Serve, ask, and return the names."""
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
