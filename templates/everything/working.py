"""Tools that send messages while they work, and one that fails."""

import asyncio

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from mcpframe import FrameServer

PAUSE = 0.05
"""Seconds between two messages, so that a client can tell them apart."""


async def test_tool_with_logging(ctx: Context) -> str:
    """Log three times, at level info."""
    await ctx.info("Tool execution started")
    await asyncio.sleep(PAUSE)
    await ctx.info("Tool processing data")
    await asyncio.sleep(PAUSE)
    await ctx.info("Tool execution completed")
    return "Tool with logging executed successfully"


async def test_logging_tool(ctx: Context) -> str:
    """Log once, which only a client that asked for logs hears."""
    await ctx.info("Logged by test_logging_tool")
    return "Logged."


async def test_tool_with_progress(ctx: Context) -> str:
    """Report progress: nothing, half and all of it."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"Completed step {done} of 100")
        if done < 100:
            await asyncio.sleep(PAUSE)
    return "Progress reported."


async def test_reconnection(ctx: Context) -> str:
    """Take a while, for clients that try what happens when their connection is lost meanwhile."""
    await ctx.info("Before the pause")
    await asyncio.sleep(PAUSE)
    await ctx.info("After the pause")
    return "Reconnection test completed"


def test_error_handling() -> str:
    """Fail, with a message for the model."""
    raise ToolError("This tool intentionally returns an error for testing")


def register(server: FrameServer) -> None:
    """Add the tools."""
    for tool in (
        test_tool_with_logging,
        test_logging_tool,
        test_tool_with_progress,
        test_reconnection,
        test_error_handling,
    ):
        server.add_tool(tool)
