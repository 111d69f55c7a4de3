"""A framed server whose tools have a view."""

from typing import Any

from mcp.server.apps import client_supports_apps
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent

from mcpframe import FrameServer
from mcpframe.views import View, Views

server = FrameServer("viewed", version="1")
views = Views(
    server,
    View(
        "https://tools.example/forecast/",
        uri="ui://weather/forecast",
        title="Forecast",
        prefers_border=True,
        permissions=["geolocation"],
    ),
)


@views.tool("ui://weather/forecast", visibility=["model", "app"], meta={"example.org/own": [1, None, {"a": 0.5}]})
def forecast(place: str) -> CallToolResult:
    """Returns a result with `_meta` of its own."""
    text = TextContent(text=f"Sun in {place}", _meta={"example.org/part": True})
    return CallToolResult(content=[text], _meta={"ui": {"note": place}, "example.org/seen": 1})


@views.tool("ui://weather/forecast", visibility=["app"])
def supports(ctx: Context[Any]) -> bool:
    """Returns whether the client says that it shows views."""
    return client_supports_apps(ctx)
