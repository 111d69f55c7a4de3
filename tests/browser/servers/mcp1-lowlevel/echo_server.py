"""A lowlevel server as they are written for mcp 1.x, with decorators."""

from mcp import types
from mcp.server.lowlevel import Server

server = Server("echo", version="3.1")


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    """The one tool."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    return [types.Tool(name="echo", description="Echoes.", inputSchema=schema)]


@server.call_tool()
async def call_tool(name: str, arguments: dict[str, str]) -> list[types.TextContent]:
    """Echo."""
    return [types.TextContent(type="text", text=arguments["text"])]
