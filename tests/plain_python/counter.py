"""A server that counts for each user, and asks."""

import asyncio
import os
from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, Resolve
from pydantic import BaseModel

from mcpframe import FrameServer, Kept, Tasks, kept

server = FrameServer("counter", allowed_origins=["https://chat.example"], extensions=[Tasks(after=0.05)])


class Age(BaseModel):
    """What is asked."""

    age: int


async def _age() -> Elicit[Age]:
    return Elicit("How old?", Age)


@server.tool()
async def count() -> int:
    """Count one further."""
    return await server.session.storage.update("n", lambda n: n + 1, 0)


@server.tool()
def keep() -> Kept[str]:
    """Keep the id of the process."""
    return kept(str(os.getpid()))


@server.tool()
def kept_and_here(one: Kept[str], other: Kept[str]) -> list[str]:
    """Return what is kept, and the id of the process."""
    return [one.value, other.value, str(os.getpid())]


@server.tool()
async def wait() -> None:
    """Wait without an end."""
    await asyncio.Event().wait()


@server.tool()
def process() -> int:
    """Return the id of the process."""
    return os.getpid()


@server.tool()
def variables() -> list[str]:
    """Return the names of mcpframe's variables."""
    return [name for name in os.environ if name.startswith("MCPFRAME_STATE")]


@server.resource("counter://n")
async def counted() -> str:
    """Return how far it has counted."""
    return str(await server.session.storage.get("n", 0))


@server.tool()
async def change() -> int:
    """Say that the resource and the tools have changed, and return the id of the process."""
    await server.resource_updated("counter://n")
    await server.tools_changed()
    return os.getpid()


@server.tool()
def whose() -> str:
    """Return the session's id."""
    return server.session.id


@server.tool()
async def ask_twice(ctx: Context) -> str:
    """Ask in the middle of the call."""
    ages = []
    for _ in range(2):
        answer = await ctx.elicit("How old?", Age)
        ages.append(answer.data.age if answer.action == "accept" else None)
    return f"{ages} {server.session.id}"


@server.tool()
async def ask_before(age: Annotated[Age, Resolve(_age)]) -> int:
    """Ask before the call, whose state the client keeps."""
    return age.age


@server.tool()
async def speak(ctx: Context) -> str:
    """Print, log and report progress."""
    print("printed")
    await ctx.info("logged")
    await ctx.report_progress(1, 2, "half")
    return "spoken"
