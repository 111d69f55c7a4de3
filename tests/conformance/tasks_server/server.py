"""The tools that the suite's scenarios of the tasks extension (SEP-2663) call."""

import asyncio

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from mcpframe import FrameServer, Tasks

AFTER = 0.2
server = FrameServer("graded-tasks", extensions=[Tasks(after=AFTER, required=["failing_job"])])


class Name(BaseModel):
    """The answer to a question; the suite gives other members to some."""

    name: str = ""


@server.tool()
def greet(name: str) -> str:
    """Greet, at once."""
    return f"Hello, {name}!"


@server.tool()
async def slow_compute(seconds: float, label: str = "") -> str:
    """Take so many seconds."""
    await asyncio.sleep(seconds)
    return f"{label} took {seconds:g} s"


@server.tool()
async def failing_job() -> str:
    """Fail after a second."""
    await asyncio.sleep(1)
    raise ToolError("The job has failed.")


@server.tool()
async def protocol_error_job() -> str:
    """Fail with an error of the protocol."""
    await asyncio.sleep(2 * AFTER)
    raise MCPError(code=-32603, message="The job is out of order.")


@server.tool()
async def confirm_delete(filename: str, ctx: Context) -> str:
    """Ask for a confirmation, as a task."""
    await asyncio.sleep(2 * AFTER)
    answer = await ctx.elicit(f"Delete {filename}?", Name)
    return f"{filename}: {answer.action}"


@server.tool()
async def multi_input(ctx: Context) -> str:
    """Ask two questions at once, as a task."""
    await asyncio.sleep(2 * AFTER)
    answers = await asyncio.gather(*(ctx.elicit(f"{question}?", Name) for question in ("First", "Second")))
    return " ".join(answer.action for answer in answers)


@server.tool()
async def test_tool_with_task(ctx: Context) -> str:
    """Ask before the call becomes a task."""
    answer = await ctx.elicit("What is user_name?", Name)
    await asyncio.sleep(2 * AFTER)
    return f"Hello, {answer.data.name}!" if answer.action == "accept" else answer.action
