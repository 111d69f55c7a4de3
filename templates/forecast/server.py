"""A weather server whose tool has a view, in plain CPython and in a browser frame.

    python server.py            # over stdio, for a desktop host
    python server.py --http     # over HTTP on this machine
    mcpframe build              # a page: the view, and the same server without an installation

The view's page is this bundle itself: `view.py` draws in it. A host of MCP Apps frames it for each call of a tool that
has the view; any other host shows the tool's text.
"""

import os
import sys
from datetime import date, datetime
from typing import Annotated

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from mcpframe import FrameServer, FrameSession
from mcpframe.views import View, Views
from view import ForecastPage
from weather import MAX_DAYS, Forecast, invent

PUBLISHED = os.environ.get("FORECAST_URL", "http://localhost:8001/forecast/")
"""Where `dist/forecast/` is published: this machine, until you replace it by your own address."""

server = FrameServer("forecast", title="Forecast", version="0.1.0", inline_schemas=True)
views = Views(server, View(PUBLISHED, uri="ui://weather/forecast", title="Forecast", prefers_border=True))
page = ForecastPage()

Place = Annotated[str, Field(min_length=1, max_length=80, description="A town, such as 'Wien'")]
Days = Annotated[int, Field(ge=2, le=MAX_DAYS, description="How many days, from today on")]


@views.tool("ui://weather/forecast", title="Forecast")
def get_forecast(place: Place, days: Days = 7) -> Annotated[CallToolResult, Forecast]:
    """Show the weather of the coming days as a chart. The weather is invented; say so when you speak of it."""
    return _answer(place, days, run=1)


@views.tool("ui://weather/forecast", visibility=["app"], title="Refresh")
def refresh_forecast(place: Place, days: Days, run: Annotated[int, Field(ge=1)]) -> Annotated[CallToolResult, Forecast]:
    """Return a forecast of a given run of the model, for the view's button."""
    return _answer(place, days, run)


def _answer(place: str, days: int, run: int) -> CallToolResult:
    forecast = invent(place, days, run, _today())
    page.answered(forecast)
    return CallToolResult(
        content=[TextContent(text=forecast.text())], structured_content=forecast.model_dump(mode="json")
    )


def _today() -> date:
    return datetime.now().astimezone().date()


@server.ui
async def ui(session: FrameSession) -> None:
    """Draw, as long as the session lasts."""

    async def own(place: str, days: int, run: int) -> Forecast:
        return invent(place, days, run, _today())

    await page.run(session, own)


if __name__ == "__main__":
    if "--http" in sys.argv:
        server.run("streamable-http", port=8001)
    else:
        server.run()
