"""Contain the failures of handlers, and let them ask, in programs written for mcp 2.x, which create their own servers.

`server.serve` does this for the object it gets; here it is done when the program runs its server.
"""

from __future__ import annotations

from functools import cache
from typing import Any
from weakref import WeakSet

from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from mcpframe.frame.compat.earlier_revisions import fit_results
from mcpframe.frame.serving.failures import contain_failures
from mcpframe.frame.serving.held_calls import hold_calls

BUNDLED_WITH = ("mcp2",)

_contained: WeakSet[Any] = WeakSet()


@cache
def contain() -> None:
    """Let an exception of a handler end only its request, send the client its message, and let handlers ask."""
    run, run_stdio_async = Server.run, MCPServer.run_stdio_async

    async def run_contained(self: Server[Any], *args: Any, **options: Any) -> None:
        if type(self) is Server:  # derived classes, such as fastmcp's, handle failures themselves
            _contain(self, self)
        hold_calls(self)
        fit_results(self)
        await run(self, *args, **options)

    async def run_stdio_contained(self: MCPServer[Any]) -> None:
        _contain(self, self._lowlevel_server)
        await run_stdio_async(self)

    Server.run = run_contained  # type: ignore[method-assign]
    MCPServer.run_stdio_async = run_stdio_contained  # type: ignore[method-assign]


def _contain(server: object, target: Server[Any]) -> None:
    if target not in _contained:
        _contained.add(target)
        contain_failures(server, target)
