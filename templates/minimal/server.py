"""An MCP server that runs in the browser: tools are functions."""

from typing import Annotated

from pydantic import Field

from mcpframe import FrameServer

server = FrameServer("minimal", version="0.1.0")


@server.tool()
def add(
    a: Annotated[int, Field(description="The first number")],
    b: Annotated[int, Field(description="The second number")],
) -> int:
    """Add two numbers."""
    return a + b
