"""Views of MCP Apps (SEP-1865) for servers of any SDK: a bundle that is published somewhere is the UI of a tool.

    from mcp.server.mcpserver import MCPServer
    from mcpframe.views import View, Views

    server = MCPServer("weather")
    views = Views(server, View("https://tools.example/forecast/", uri="ui://weather/forecast"))

    @views.tool("ui://weather/forecast", visibility=["model", "app"])
    def get_forecast(place: str) -> dict[str, float]: ...

Importing this package imports no SDK, no browser code and nothing of the tool chain; it uses the server's SDK.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpframe import on_demand

if TYPE_CHECKING:
    from mcpframe.views.html import Form as Form
    from mcpframe.views.html import view_html as view_html
    from mcpframe.views.html import view_meta as view_meta
    from mcpframe.views.registry import Views as Views
    from mcpframe.views.view import EXTENSION_ID as EXTENSION_ID
    from mcpframe.views.view import MIME_TYPE as MIME_TYPE
    from mcpframe.views.view import ToolVisibility as ToolVisibility
    from mcpframe.views.view import View as View
else:
    __getattr__, __dir__ = on_demand(__name__)
