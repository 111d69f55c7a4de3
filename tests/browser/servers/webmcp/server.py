"""Tools that answer, fail, wait to be cancelled, and come and go."""

import asyncio

from mcp.server.mcpserver import Context

from mcpframe import FrameServer

server = FrameServer("webmcp")
log: list[str] = []
hanging = asyncio.Event()


@server.tool(title="Add", annotations={"readOnlyHint": True, "openWorldHint": False})
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool(annotations={"destructiveHint": True})
def fail() -> str:
    """Fails."""
    raise ValueError("no luck")


@server.tool()
async def hang() -> str:
    """Waits for the end of its call."""
    hanging.set()
    try:
        await asyncio.Event().wait()
    finally:
        log.append("cancelled")
    return "never"


@server.tool()
async def cancelled() -> list[str]:
    """Returns what was cancelled, once a call hangs or has hung."""
    await hanging.wait()
    return log


@server.tool(name="who asks?")
def who() -> str:
    """Returns the dialect of the caller, and its origin."""
    session = server.session
    return f"{session.host.dialect} {session.origin} {session.phase}"


@server.tool()
async def grow(context: Context) -> str:
    """Adds a tool."""
    server.add_tool(lambda: "more", name="more", description="More.")
    await context.session.send_tool_list_changed()
    return "grown"


@server.tool()
async def shrink(context: Context) -> str:
    """Removes it."""
    server.remove_tool("more")
    await context.session.send_tool_list_changed()
    return "shrunk"
