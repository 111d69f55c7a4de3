"""A server whose tool has a view, in plain HTML and JavaScript."""

from datetime import UTC, datetime
from pathlib import Path

from mcp.server.apps import Apps

from mcpframe import FrameServer

VIEW = "ui://clock/view"
apps = Apps()


@apps.tool(resource_uri=VIEW)
def now(city: str) -> dict[str, str]:
    """Return the time of a city's clock, in UTC."""
    return {"city": city, "time": datetime.now(UTC).strftime("%H:%M")}


apps.add_html_resource(VIEW, Path(__file__).with_name("view.html").read_text("utf-8"))
server = FrameServer("clock", extensions=[apps])
