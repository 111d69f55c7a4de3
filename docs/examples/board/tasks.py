"""A server, framed or not, that answers with a page: hosts of mcp-ui show it."""

from mcp.server.mcpserver import MCPServer
from mcp.types import EmbeddedResource

from mcpframe import ui_resource

server = MCPServer("tasks")
tasks = ["Buy groceries", "Call Ada"]


@server.tool()
def show_board() -> EmbeddedResource:
    """Show all tasks on a board."""
    url = "https://tools.example/board/"  # a bundle of yours
    return ui_resource("ui://tasks/board", url=url, size=("100%", 300), render_data={"tasks": tasks})
