"""Views of MCP Apps (SEP-1865) for servers of any SDK: a bundle that is published somewhere is the UI of a tool.

    from mcp.server.mcpserver import MCPServer
    from mcpframe.views import View, Views

    server = MCPServer("weather")
    views = Views(server, View("https://tools.example/forecast/", uri="ui://weather/forecast"))

    @views.tool("ui://weather/forecast", visibility=["model", "app"])
    def get_forecast(place: str) -> dict[str, float]: ...

Importing this package imports no SDK, no browser code and nothing of the tool chain; it uses the server's SDK.
"""

from mcpframe.frame.core.errors import ViewError
from mcpframe.views.html import Form, view_html, view_meta
from mcpframe.views.registry import Views
from mcpframe.views.view import EXTENSION_ID, MIME_TYPE, View, Visibility

__all__ = [
    "EXTENSION_ID",
    "MIME_TYPE",
    "Form",
    "View",
    "ViewError",
    "Views",
    "Visibility",
    "view_html",
    "view_meta",
]
