"""Serve objects of mcp 1.x (`mcp.server.fastmcp.FastMCP`, lowlevel servers) and of the package fastmcp.

Their own SDK serves them over `lines`, in the protocol revisions that it knows. A `ServerModule`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Any

from mcpframe.frame.compat.sdk import is_of_fastmcp, major
from mcpframe.frame.serving import entries
from mcpframe.frame.serving.framed import unwrapped
from mcpframe.frame.serving.stdio import stdio_of
from mcpframe.frame.session import lines
from mcpframe.frame.session.lines import LineFiles, PlainMessages

BUNDLED_WITH = ("mcp1", "fastmcp")

_OF_MCP_1 = "a FastMCP or a lowlevel Server of mcp 1.x, which this bundle has"
_OF_MCP_2 = "a FastMCP of the package fastmcp, a FrameServer, an MCPServer or a lowlevel Server"

if major() == 1:
    import_module("mcpframe.frame.serving.mcp1_failures").contain()


def messages() -> PlainMessages:
    """Return the form of the messages in the streams of `serve`."""
    return PlainMessages()


def load_entry(entry: str) -> Any:
    """Import the server an entry names; see `ServerModule`."""
    return entries.load_server(entry, is_server, _kinds())


async def open_entry(entry: str) -> Any:
    """Import the server an entry names, or call its factory; see `ServerModule`."""
    return await entries.open_server(entry, is_server, _kinds())


def _kinds() -> str:
    return _OF_MCP_1 if major() == 1 else _OF_MCP_2


def is_server(target: object) -> bool:
    """Return whether an object is a server of an installed SDK."""
    target = unwrapped(target)
    return is_of_fastmcp(target) or isinstance(target, tuple(_classes()))


def _classes() -> list[type]:
    """The classes of the SDK's servers."""
    lowlevel_server: type = import_module("mcp.server.lowlevel").Server
    if major() == 1:
        return [lowlevel_server, import_module("mcp.server.fastmcp").FastMCP]
    return [lowlevel_server, import_module("mcp.server.mcpserver").MCPServer]


def lowlevel(server: Any) -> Any:
    """The lowlevel `Server` in a server object."""
    server = unwrapped(server)
    return getattr(server, "_mcp_server", server)


async def list_tools(server: Any) -> list[Any] | None:
    """Return the tools of a server object, in its SDK's types; None if it lists them only within a session."""
    server = unwrapped(server)
    if is_of_fastmcp(server) and hasattr(server, "list_tools"):  # since 3
        from mcpframe.frame.compat import fastmcp_package  # only in bundles with that package

        return await fastmcp_package.list_tools(server)
    if major() == 2:
        return await server.list_tools() if hasattr(server, "list_tools") else None
    types: Any = import_module("mcp.types")
    handler = lowlevel(server).request_handlers.get(types.ListToolsRequest)
    if handler is None:
        return []
    try:
        result = await handler(types.ListToolsRequest(method="tools/list"))
    except LookupError:  # the handler asks for the context of its request
        return None
    return list(result.root.tools)


async def serve(
    server: Any,
    read: Any,
    write: Any,
    *,
    experimental: Mapping[str, Any] | None = None,
    on_problem: Callable[[str, BaseException | None], None] = lines.log_problem,
) -> None:
    """Serve one connection until its read stream ends; see `ServerModule`."""

    async def program(files: LineFiles) -> None:
        with stdio_of(files):
            await _serve_stdio(unwrapped(server))

    await lines.serve_lines(
        program, read, write, discovers=major() == 2, experimental=experimental, on_problem=on_problem
    )


async def _serve_stdio(server: Any) -> None:
    if major() == 2:
        from mcpframe.frame.serving.held_calls import hold_calls  # of mcp 2.x

        hold_calls(lowlevel(server))
    if is_of_fastmcp(server):
        from mcpframe.frame.compat import fastmcp_package

        await fastmcp_package.serve_stdio(server)
        return
    target = lowlevel(server)
    stdio: Any = import_module("mcp.server.stdio")
    changes: Any = import_module("mcp.server.lowlevel").NotificationOptions(True, True, True)
    streams: AbstractAsyncContextManager[Any] = stdio.stdio_server()
    async with streams as (read, write):
        await target.run(read, write, target.create_initialization_options(changes))
