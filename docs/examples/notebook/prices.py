"""A cell of a notebook: a server, and the widget in which its tool is tried."""

from mcp.server.mcpserver import MCPServer

from mcpframe import hosts

server = MCPServer("prices")


@server.tool()
def total(prices: list[float]) -> float:
    """Add prices."""
    return sum(prices)


hosts.playground(server)
