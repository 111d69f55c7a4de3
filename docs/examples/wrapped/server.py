"""Notes that stay in the browser, of a server that is written for mcp 1.x."""

from mcp.server.fastmcp import FastMCP

from mcpframe import wrap

server = wrap(FastMCP("wrapped-notes"))


@server.tool()
async def add_note(text: str) -> str:
    """Write a note down."""
    notes = await server.session.storage.update("notes", lambda notes: [*notes, text], [])
    return f"{len(notes)} notes."
