"""Starts a server in an environment of its own, on its standard streams. Run by its path: mcpframe is not there.

    python -P in_environment.py ENTRY SOURCE PROGRAM [ARGUMENT ...]

ENTRY is `module:object` or `module:factory()`, SOURCE the folder of the author's files or nothing, PROGRAM the name of
the console script whose function ENTRY is, or nothing.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    """Import the entry, and run it until its input ends."""
    entry, source, program, *arguments = sys.argv[1:]
    sys.argv = [program or entry, *arguments]
    if source:
        sys.path.insert(0, source)
    module, _, name = entry.partition(":")
    target: Any = import_module(module)
    for part in name.removesuffix("()").split("."):
        target = getattr(target, part)
    if program:
        sys.exit(target())
    asyncio.run(_serve(target, is_factory=name.endswith("()")))


async def _serve(server: Any, *, is_factory: bool) -> None:
    if is_factory:
        server = server()
        if inspect.isawaitable(server):
            server = await server
    if hasattr(server, "run_stdio_async"):  # FastMCP of mcp 1.x and of the package fastmcp, MCPServer of mcp 2.x
        shows = "show_banner" in inspect.signature(server.run_stdio_async).parameters
        await server.run_stdio_async(**({"show_banner": False} if shows else {}))
    elif hasattr(server, "create_initialization_options"):
        lowlevel: Any = import_module("mcp.server.lowlevel")
        changes = lowlevel.NotificationOptions(True, True, True)
        async with import_module("mcp.server.stdio").stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options(changes))
    else:
        raise TypeError(f"an object of type {type(server).__name__} is not an MCP server")


if __name__ == "__main__":
    main()
