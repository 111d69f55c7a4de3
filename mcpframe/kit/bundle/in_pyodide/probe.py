"""List the modules that serving needs: those imported after a small server has answered.

The server runs once for each protocol era, and answers a list of tools, a structured result and an error.
"""

from __future__ import annotations

import sys
from typing import Any


async def main() -> list[str]:
    """Serve and call a small server; return the names of the imported modules."""
    from mcpframe.frame.compat import sdk

    sdk.prepare()
    sdk.load_fastmcp()
    if sdk.major() == 1:
        await _ask_a_server_of_mcp_1()
        return sorted(sys.modules)
    from mcp import Client

    import mcpframe.frame.boot.boot
    import mcpframe.frame.browser.window  # noqa: F401
    from mcpframe.frame.serving import server as servers
    from mcpframe.frame.serving.server import FrameServer

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


_CLIENT = {"name": "probe", "version": "1"}
_ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT}),
    ("tools/list", {}),
    ("tools/call", {"name": "double", "arguments": {"number": 2}}),
    ("tools/call", {"name": "double", "arguments": {"number": "two"}}),
)


async def _ask_a_server_of_mcp_1() -> None:
    import anyio
    from mcp.server.fastmcp import FastMCP  # type: ignore[attr-defined]

    import mcpframe.frame.boot.boot
    import mcpframe.frame.browser.window  # noqa: F401
    from mcpframe.frame.serving import other_server

    server = FastMCP("probe")

    @server.tool()  # type: ignore[untyped-decorator]
    def double(number: int) -> int:
        """Doubles a number."""
        return number * 2

    asking, read = anyio.create_memory_object_stream[Any](1)
    write, answers = anyio.create_memory_object_stream[Any](10)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other_server.serve, server, read, write)
        for number, (method, params) in enumerate(_ASKED):
            await asking.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            await answers.receive()
        await asking.aclose()
