"""What `servers/everything` does, as it is written with FastMCP of mcp 1.x."""

import logging
import os
import sys
import time

import anyio
from mcp import types
from mcp.server.fastmcp import Context, FastMCP, Image
from mcp.server.fastmcp.prompts.base import AssistantMessage, Message, UserMessage
from mcp.server.fastmcp.utilities.types import Audio
from pydantic import AnyUrl, BaseModel, Field

logging.basicConfig(format="%(levelname)s %(message)s")
mcp = FastMCP("everything", instructions="One of everything.")
mcp._mcp_server.version = "1.2.3"  # there is no argument for it

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c626001000000050001a5f645400000000049454e44ae426082"
)
CITIES = ["Oslo", "Osaka", "Paris", "Quito"]
cancelled: list[str] = []


@mcp.tool()
def echo(text: str) -> str:
    """Return the text back."""
    return text


class Weather(BaseModel):
    """What a city's sky is like."""

    city: str
    degrees: float = Field(description="In Celsius")
    sunny: bool


@mcp.tool()
def weather(city: str) -> Weather:
    """Structured output, with a schema."""
    return Weather(city=city, degrees=-3.5, sunny=True)


@mcp.tool()
def image() -> Image:
    """One pixel."""
    return Image(data=PIXEL, format="png")


@mcp.tool()
def audio() -> Audio:
    """Eight samples of silence."""
    return Audio(data=b"RIFF" + bytes(40), format="wav")


@mcp.tool()
def link() -> types.ResourceLink:
    """A link to a resource."""
    return types.ResourceLink(type="resource_link", uri=AnyUrl("city://Oslo/sky"), name="Oslo's sky")


@mcp.tool()
def fail(message: str) -> str:
    """Raise an exception."""
    raise LookupError(message)


@mcp.tool()
def shout(text: str) -> str:
    """Print to both standard streams."""
    print(f"printed {text}")
    return text.upper()


@mcp.tool()
async def speak(text: str, ctx: Context) -> str:
    """Say something in every way that Python knows."""
    print(f"printed {text}")
    await ctx.info(f"told {text}")
    print(f"complained {text}", file=sys.stderr)
    os.write(1, f"written {text}\n".encode())
    logging.getLogger("shop").warning("warned %s", text)
    return "spoken"


@mcp.tool()
def compute(seconds: float) -> str:
    """Hold on to the event loop, as a long synchronous computation does."""
    until = time.monotonic() + seconds
    rounds = 0
    while time.monotonic() < until:
        rounds += 1
    return f"computed {rounds > 0}"


@mcp.tool()
async def count(to: int, ctx: Context) -> str:
    """Report progress."""
    for step in range(1, to + 1):
        await ctx.report_progress(step, to, f"step {step}")
    return f"counted to {to}"


@mcp.tool()
async def log(text: str, ctx: Context) -> str:
    """Log at two levels."""
    await ctx.debug(f"debug {text}")
    await ctx.session.send_log_message("warning", {"heard": text})
    return "logged"


@mcp.tool()
async def wait(name: str, ctx: Context) -> str:
    """Wait until cancelled."""
    await ctx.report_progress(0, None, "waiting")
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        cancelled.append(name)
        raise
    return "never"


@mcp.tool()
def cancelled_waits() -> list[str]:
    """Return which waits were cancelled."""
    return cancelled


class Booking(BaseModel):
    """What the user is asked for."""

    seats: int = Field(description="How many seats")
    window: bool = False


@mcp.tool()
async def book(train: str, ctx: Context) -> str:
    """Ask the user for more."""
    booking = await ctx.elicit(f"How many seats on {train}?", Booking)
    if booking.action != "accept":
        return f"not booked: {booking.action}"
    return f"{booking.data.seats} seats on {train}, window {booking.data.window}"


@mcp.tool()
async def roots(ctx: Context) -> list[str]:
    """List the client's roots."""
    return [str(root.uri) for root in (await ctx.session.list_roots()).roots]


@mcp.tool()
async def sample(question: str, ctx: Context) -> str:
    """Ask the client's model."""
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=question))
    answer = await ctx.session.create_message([message], max_tokens=50)
    return f"{answer.model}: {answer.content.text}"


@mcp.tool()
async def grow(name: str, ctx: Context) -> str:
    """Add a tool, and tell the client that its lists have changed."""
    mcp.add_tool(lambda: name, name=name, description="Added while running")
    await ctx.session.send_tool_list_changed()
    await ctx.session.send_resource_list_changed()
    await ctx.session.send_prompt_list_changed()
    return name


@mcp.resource("data://pixel", mime_type="image/png")
def pixel() -> bytes:
    """Binary resource."""
    return PIXEL


@mcp.resource("text://motto", mime_type="text/plain")
def motto() -> str:
    """Text resource."""
    return "Ünïcödé ✓ 🐍"


@mcp.resource("city://{city}/sky")
def sky(city: str) -> str:
    """Resource template."""
    return f"The sky over {city}"


@mcp.prompt(title="Plan a trip")
def trip(city: str, days: str = "2") -> list[Message]:
    """Prompt with arguments."""
    return [UserMessage(f"Plan {days} days in {city}."), AssistantMessage("Gladly.")]


@mcp.completion()
async def complete(ref, argument, context):
    """Complete names of cities."""
    if argument.name != "city":
        return None
    values = [city for city in CITIES if city.lower().startswith(argument.value.lower())]
    return types.Completion(values=values, total=len(values), hasMore=False)


if __name__ == "__main__":
    mcp.run()
