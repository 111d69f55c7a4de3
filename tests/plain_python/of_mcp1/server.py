"""A server of mcp 1.x, which runs in a process of its own."""

import os
import sys

from mcp.server.fastmcp import Context, FastMCP  # type: ignore[attr-defined]
from pydantic import BaseModel

server = FastMCP("of-mcp1")
calls = 0


class Age(BaseModel):
    """What is asked."""

    age: int


@server.tool()
def process() -> int:
    """Return the id of the process."""
    return os.getpid()


@server.tool()
def count() -> int:
    """Count one further, in a global of the module."""
    global calls
    calls += 1
    return calls


@server.tool()
def variables() -> list[str]:
    """Return the names of variables that are not the server's business, and a value of its own."""
    return [*(name for name in os.environ if name.startswith(("MCPFRAME_STATE", "PYTHONPATH"))), os.environ["GREETING"]]


@server.tool()
async def ask(ctx: Context) -> str:
    """Ask in the middle of a call, log and report progress."""
    await ctx.info("logged")
    await ctx.report_progress(1, 2, "half")
    answer = await ctx.elicit("How old?", Age)
    return f"{answer.data.age}" if answer.action == "accept" else answer.action


@server.tool()
def end() -> None:
    """End the process."""
    print("It ends itself.", file=sys.stderr, flush=True)
    os._exit(3)
