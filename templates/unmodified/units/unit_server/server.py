"""The server, with the lowlevel Server of mcp 1.x."""

from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import McpError
from mcp.types import INVALID_PARAMS, ErrorData, TextContent, Tool

METRES = {"m": 1.0, "ft": 0.3048, "in": 0.0254, "mile": 1609.344}


async def serve(unit: str) -> None:
    """Serve until the client leaves."""
    server = Server("units")

    @server.list_tools()
    async def list_tools() -> list[Tool]:
        return [
            Tool(
                name="convert",
                description=f"Convert a length to {unit}.",
                inputSchema={
                    "type": "object",
                    "properties": {"value": {"type": "number"}, "from": {"type": "string", "enum": list(METRES)}},
                    "required": ["value", "from"],
                },
            )
        ]

    @server.call_tool()
    async def call_tool(name: str, arguments: dict) -> list[TextContent]:
        if name != "convert":
            raise McpError(ErrorData(code=INVALID_PARAMS, message=f"There is no tool {name}."))
        result = arguments["value"] * METRES[arguments["from"]] / METRES[unit]
        return [TextContent(type="text", text=f"{result:g} {unit}")]

    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())
