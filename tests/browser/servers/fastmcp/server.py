"""A server as they are written for the package fastmcp of 2.10 and later: a test copies it to a project per version."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

import fastmcp
from fastmcp import Context, FastMCP
from fastmcp.server.middleware import Middleware, MiddlewareContext

MAJOR = int(fastmcp.__version__.split(".")[0])
events: list[str] = []


class Noting(Middleware):
    """Notes the tools that are called."""

    async def on_call_tool(self, context: MiddlewareContext, call_next: Any) -> Any:
        """Note one."""
        events.append(f"called {context.message.name}")
        return await call_next(context)


@asynccontextmanager
async def lifespan(server: FastMCP) -> AsyncIterator[dict[str, str]]:
    """Note that it begins."""
    events.append("began")
    yield {"began": "here"}


sub = FastMCP("inner")


@sub.tool
def shout(text: str) -> str:
    """Shouts."""
    return text.upper()


mcp = FastMCP("features", instructions="Be kind.", version="7", lifespan=lifespan, middleware=[Noting()])
mcp.mount(sub, "inner")


@dataclass
class Point:
    """A point."""

    x: int
    y: int


@mcp.tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@mcp.tool(tags={"shape"})
def point(x: int) -> Point:
    """Returns structured output."""
    return Point(x, x + 1)


@mcp.tool
def fails() -> None:
    """Fails."""
    raise ValueError("no such thing")


@mcp.tool
async def talk(text: str, ctx: Context) -> str:
    """Talks in every way."""
    await ctx.report_progress(1, 2, "half")
    await ctx.info(f"logged {text}")
    print("printed", text)
    return text


@mcp.tool
async def ask(ctx: Context) -> str:
    """Asks the user."""
    result = await ctx.elicit("Your name?", response_type=str)
    return f"{result.action} {result.data}" if result.action == "accept" else result.action


@mcp.tool
async def think(ctx: Context) -> str:
    """Asks the client's model."""
    if MAJOR < 4:
        return str((await ctx.sample("Think.")).text)
    from mcp_types import SamplingMessage, TextContent

    messages = [SamplingMessage(role="user", content=TextContent(type="text", text="Think."))]
    return str((await ctx.session.create_message(messages, max_tokens=5)).content.text)


@mcp.tool
async def remember(ctx: Context) -> str:
    """Uses the state: of the request in 2.x, of the session since."""
    found = ctx.get_state("number")
    number = ((await found if isawaitable(found) else found) or 0) + 1
    kept = ctx.set_state("number", number)
    if isawaitable(kept):
        await kept
    return str(number)


@mcp.tool
def noted() -> list[str]:
    """Returns what was noted."""
    return events


@mcp.tool
async def described() -> list[str]:
    """Makes tools of an OpenAPI description."""
    operation = {"operationId": "get_user", "responses": {"200": {"description": "a user"}}}
    description = {
        "openapi": "3.1.0",
        "info": {"title": "users", "version": "1"},
        "paths": {"/user": {"get": operation}},
    }
    if MAJOR >= 4:
        import httpx2 as httpx
    else:
        import httpx
    server = FastMCP.from_openapi(description, httpx.AsyncClient(base_url="https://api.example"))
    if MAJOR >= 3:
        return [tool.name for tool in await server.list_tools()]
    return list(await server.get_tools())


@mcp.tool
async def forward() -> list[str]:
    """Lists the tools of a server elsewhere."""
    if MAJOR >= 3:
        from fastmcp.server import create_proxy

        return [tool.name for tool in await create_proxy("https://elsewhere.example/mcp").list_tools()]
    return list(await FastMCP.as_proxy("https://elsewhere.example/mcp").get_tools())


@mcp.resource("notes://all", mime_type="text/plain")
def notes() -> str:
    """All notes."""
    return "all notes"


@mcp.resource("notes://{name}/text")
def note(name: str) -> str:
    """A note."""
    return f"the note {name}"


@mcp.prompt
def greet(name: str) -> str:
    """Greets."""
    return f"Greet {name}."


def main() -> None:
    """Serve on standard input and output."""
    mcp.run()


async def main_async() -> None:
    """Serve on standard input and output, in the loop that runs."""
    await mcp.run_async(transport="stdio")


def make() -> FastMCP:
    """Return the server."""
    return mcp


if __name__ == "__main__":
    main()
