"""A server as they are written for mcp 1.x and standard input and output."""

import sys

from mcp.server.fastmcp import Context, FastMCP

mcp = FastMCP("unit-converter", instructions="Converts units.")


@mcp.tool()
def celsius(fahrenheit: float) -> float:
    """Fahrenheit to Celsius."""
    return round((fahrenheit - 32) / 1.8, 2)


@mcp.tool()
async def talk(text: str, ctx: Context) -> str:
    """Talks in every way."""
    await ctx.report_progress(1, 2, "half")
    await ctx.info(f"logged {text}")
    print("printed", text)
    return text


@mcp.tool()
async def ask(ctx: Context) -> str:
    """Asks the client."""
    roots = await ctx.session.list_roots()
    return str(roots.roots[0].uri)


@mcp.tool()
def leave() -> None:
    """Ends the program, as it thinks."""
    sys.exit(1)


@mcp.tool()
def read_secret() -> str:
    """Reads what is not there."""
    import os

    return os.environ["SECRET"]


@mcp.resource("units://{name}")
def unit(name: str) -> str:
    """A unit."""
    return f"the unit {name}"


if __name__ == "__main__":
    mcp.run()
