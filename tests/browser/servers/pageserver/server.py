"""A page server: tools that answer, fail, wait for each other, ask their client, and are added while it runs."""

import asyncio

from mcp.server.mcpserver import Context
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel

from mcpframe import FrameServer

server = FrameServer("pageserver", instructions="Add numbers.", browser={"cacheSupported": True})

met = asyncio.Event()
cancelled: list[str] = []


class Answer(BaseModel):
    """What is asked of a person."""

    name: str


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


@server.tool()
async def shrink(context: Context) -> str:
    """Removes what `grow` has added."""
    server.remove_tool("more")
    await context.session.send_tool_list_changed()
    return "shrunk"


@server.tool()
async def ask(context: Context) -> str:
    """Asks the client's person and its model."""
    person = await context.elicit("Who?", Answer)
    question = SamplingMessage(role="user", content=TextContent(type="text", text="Who?"))
    model = await context.session.create_message([question], max_tokens=5)
    return f"{person.data.name}, {model.content.text}"


@server.tool()
async def hang(tag: str, context: Context) -> str:
    """Reports progress and waits for `meet`."""
    await context.report_progress(1, 2, tag)
    try:
        await met.wait()
    except asyncio.CancelledError:
        cancelled.append(tag)
        raise
    return tag


@server.tool()
def ended() -> list[str]:
    """Returns the tags of cancelled calls."""
    return cancelled
