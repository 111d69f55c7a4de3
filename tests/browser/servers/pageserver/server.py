"""A page server: tools that answer, fail, wait for each other, and are added while it runs."""

import asyncio

from mcp.server.mcpserver import Context

from mcpframe import FrameServer

server = FrameServer("pageserver", instructions="Add numbers.")
met = asyncio.Event()


@server.tool(title="Add", annotations={"readOnlyHint": True})
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("no luck")


@server.tool()
async def wait() -> str:
    """Waits for `meet`."""
    await met.wait()
    return "met"


@server.tool()
def meet() -> str:
    """Ends the wait."""
    met.set()
    return "here"


@server.tool()
async def grow(context: Context) -> str:
    """Adds a tool."""
    server.add_tool(lambda: "more", name="more", description="More.")
    await context.session.send_tool_list_changed()
    return "grown"
