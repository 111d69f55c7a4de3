"""A server of the package fastmcp, from a factory."""

from fastmcp import FastMCP


async def make() -> FastMCP:
    """Return the server."""
    server = FastMCP("of-fastmcp")

    @server.tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    return server
