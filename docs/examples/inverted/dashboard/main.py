"""The page around it is the server: it offers what it knows to the assistant that it frames."""

from mcp.server.mcpserver import MCPServer

from mcpframe import Page
from mcpframe.hosts import OuterFrame, serve

server = MCPServer("dashboard")


@server.tool()
def get_current_user() -> dict[str, str]:
    """Return who uses this page."""
    return {"name": "Ada", "role": "admin"}


async def main(page: Page) -> None:
    await page.show("page.html")
    async with OuterFrame("../copilot/").connect("#copilot", visible=True) as (read, write):
        await serve(server, read, write)
