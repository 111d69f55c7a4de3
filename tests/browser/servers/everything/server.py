"""A server with one of everything that MCP lets a server do, written as an author would."""

import importlib
import logging
import os
import sys
import time

import anyio
import mcp_types as types
from mcp.server.mcpserver import Audio, Context, Image
from mcp.server.mcpserver.prompts.base import AssistantMessage, UserMessage
from pydantic import BaseModel, Field

from mcpframe import FrameServer

logging.basicConfig(format="%(levelname)s %(message)s")  # keeps the present sys.stderr, also in a snapshot
server = FrameServer("everything", version="1.2.3", instructions="One of everything.")

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c626001000000050001a5f645400000000049454e44ae426082"
)
CITIES = ["Oslo", "Osaka", "Paris", "Quito"]
cancelled: list[str] = []


@server.tool()
def echo(text: str) -> str:
    """Return the text back."""
    return text


class Weather(BaseModel):
    """What a city's sky is like."""

    city: str
    degrees: float = Field(description="In Celsius")
    sunny: bool


@server.tool()
def weather(city: str) -> Weather:
    """Structured output, with a schema."""
    return Weather(city=city, degrees=-3.5, sunny=True)


@server.tool()
def image() -> Image:
    """One pixel."""
    return Image(data=PIXEL, format="png")


@server.tool()
def audio() -> Audio:
    """Eight samples of silence."""
    return Audio(data=b"RIFF" + bytes(40), format="wav")


@server.tool()
def link() -> types.ResourceLink:
    """A link to a resource."""
    return types.ResourceLink(type="resource_link", uri="city://Oslo/sky", name="Oslo's sky")


@server.tool()
def fail(message: str) -> str:
    """Raise an exception."""
    raise LookupError(message)


@server.tool()
def shout(text: str) -> str:
    """Print to both standard streams."""
    print(f"printed {text}")
    return text.upper()


@server.tool()
async def speak(text: str, ctx: Context) -> str:
    """Say something in every way that Python knows."""
    print(f"printed {text}")
    await ctx.info(f"told {text}")
    print(f"complained {text}", file=sys.stderr)
    os.write(1, f"written {text}\n".encode())
    logging.getLogger("shop").warning("warned %s", text)
    return "spoken"


@server.tool()
def compute(seconds: float) -> str:
    """Hold on to the event loop, as a long synchronous computation does."""
    until = time.monotonic() + seconds
    rounds = 0
    while time.monotonic() < until:
        rounds += 1
    return f"computed {rounds > 0}"


@server.tool()
def waited_for(module: str) -> list[str]:
    """Import a module, and tell which files were fetched while Python waited for them."""
    importlib.import_module(module)
    from js import performance

    entries = performance.getEntriesByType("resource")
    return [entry.name for entry in entries if entry.initiatorType == "xmlhttprequest"]  # as synchronous requests are


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Report progress."""
    for step in range(1, to + 1):
        await ctx.report_progress(step, to, f"step {step}")
    return f"counted to {to}"


@server.tool()
async def log(text: str, ctx: Context) -> str:
    """Log at two levels."""
    await ctx.debug(f"debug {text}")
    await ctx.warning({"heard": text})
    return "logged"


@server.tool()
def trace(ctx: Context) -> list[str]:
    """Return the trace that the call belongs to."""
    meta = ctx.request_context.meta or {}
    return [str(meta.get(key)) for key in ("traceparent", "tracestate")]


@server.tool()
async def wait(name: str, ctx: Context) -> str:
    """Wait until cancelled."""
    await ctx.report_progress(0, None, "waiting")
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        cancelled.append(name)
        raise
    return "never"


@server.tool()
def cancelled_waits() -> list[str]:
    """Return which waits were cancelled."""
    return cancelled


class Booking(BaseModel):
    """What the user is asked for."""

    seats: int = Field(description="How many seats")
    window: bool = False


@server.tool()
async def book(train: str, ctx: Context) -> str:
    """Ask the user for more."""
    booking = await ctx.elicit(f"How many seats on {train}?", Booking)
    if booking.action != "accept":
        return f"not booked: {booking.action}"
    return f"{booking.data.seats} seats on {train}, window {booking.data.window}"


@server.tool()
async def roots(ctx: Context) -> list[str]:
    """List the client's roots."""
    return [str(root.uri) for root in (await ctx.session.list_roots()).roots]


@server.tool()
async def sample(question: str, ctx: Context) -> str:
    """Ask the client's model."""
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=question))
    answer = await ctx.session.create_message([message], max_tokens=50)
    content = answer.content
    return f"{answer.model}: {content.text if isinstance(content, types.TextContent) else content.type}"


@server.tool()
async def grow(name: str, ctx: Context) -> str:
    """Add a tool, a resource and a prompt, and tell the client that its lists have changed."""
    server.add_tool(lambda: name, name=name, description="Added while running")
    await ctx.notify_tools_changed()  # clients of 2026-07-28 subscribe to these
    await ctx.notify_resources_changed()
    await ctx.notify_prompts_changed()
    if ctx.protocol_version != "2026-07-28":
        await ctx.session.send_tool_list_changed()
        await ctx.session.send_resource_list_changed()
        await ctx.session.send_prompt_list_changed()
    return name


@server.resource("data://pixel", mime_type="image/png")
def pixel() -> bytes:
    """Binary resource."""
    return PIXEL


@server.resource("text://motto", mime_type="text/plain")
def motto() -> str:
    """Text resource."""
    return "Ünïcödé ✓ 🐍"


@server.resource("city://{city}/sky")
def sky(city: str) -> str:
    """Resource template."""
    return f"The sky over {city}"


@server.prompt(title="Plan a trip")
def trip(city: str, days: str = "2") -> list[UserMessage | AssistantMessage]:
    """Prompt with arguments."""
    return [UserMessage(f"Plan {days} days in {city}."), AssistantMessage("Gladly.")]


@server.completion()
async def complete(
    ref: types.PromptReference | types.ResourceTemplateReference,
    argument: types.CompletionArgument,
    context: types.CompletionContext | None,
) -> types.Completion | None:
    """Complete names of cities."""
    if argument.name != "city":
        return None
    values = [city for city in CITIES if city.lower().startswith(argument.value.lower())]
    return types.Completion(values=values, total=len(values), has_more=False)
