"""A server as they are written for the package fastmcp."""

from fastmcp import Context, FastMCP

mcp = FastMCP("demo", instructions="Be kind.")


@mcp.tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@mcp.tool
async def talk(text: str, ctx: Context) -> str:
    """Talks in every way."""
    await ctx.info(f"logged {text}")
    print("printed", text)
    return text


if __name__ == "__main__":
    mcp.run()
