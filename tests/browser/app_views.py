"""A server with a view, and the view's frame in the page of our own `AppHost`."""

from __future__ import annotations

from typing import Any

import anyio
from mcp.server.apps import Apps, ResourceCsp
from mcp.server.mcpserver import MCPServer
from playwright.async_api import Frame, Page

from tests.browser.outers import PATIENCE

URI = "ui://weather/view"


def weather(html: str, csp: ResourceCsp | None = None) -> MCPServer:
    """Return a server whose tool `forecast` has this view."""
    apps = Apps()

    @apps.tool(resource_uri=URI)
    def forecast(place: str) -> dict[str, Any]:
        """Forecast the weather."""
        return {"place": place, "degrees": 21}

    apps.add_html_resource(URI, html, csp=csp)
    return MCPServer("weather", extensions=[apps])


async def view_frame(page: Page) -> Frame:
    """Wait for the frame of the view, which is inside the sandbox proxy."""
    with anyio.fail_after(PATIENCE):
        element = await page.frame_locator("iframe.mcpframe").locator("iframe").element_handle()
        assert element is not None
        frame = await element.content_frame()
    assert frame is not None
    return frame
