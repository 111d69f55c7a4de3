"""Views with the official `App` of npm's `@modelcontextprotocol/ext-apps`, which our own `AppHost` shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
from mcp.server.apps import Apps, ResourceCsp
from mcp.server.mcpserver import Context, MCPServer
from playwright.async_api import Frame, Page

from tests.browser.apps_hosts import bundle_script
from tests.browser.outers import PATIENCE

URI = "ui://weather/view"
PAGES = Path(__file__).parent / "pages"


def official_view(version: str, folder: Path) -> str:
    """Return the HTML text of a view with the `App` of a version, for a test to drive."""
    target = folder / f"view-{version}.js"
    bundle_script(PAGES / "app_view_page.js", version, target)
    script = target.read_text("utf-8").replace("</script", "<\\/script")
    return f'<!doctype html><meta charset="utf-8"><title>A view</title><body><script type="module">{script}</script>'


def weather(html: str, csp: ResourceCsp | None = None) -> MCPServer:
    """Return a server whose tool `forecast` has this view."""
    apps = Apps()

    @apps.tool(resource_uri=URI)
    def forecast(place: str) -> dict[str, Any]:
        """Forecast the weather."""
        return {"place": place, "degrees": 21, "wind": None}

    @apps.tool(resource_uri=URI, visibility=["model"])
    def erase() -> str:
        """For models only."""
        raise AssertionError("a view has called it")

    @apps.tool(resource_uri=URI, visibility=["app"])
    async def refresh(ctx: Context[Any]) -> str:
        """For views only."""
        await ctx.report_progress(1, 2, "half")
        return "fresh"

    apps.add_html_resource(URI, html, csp=csp)
    server = MCPServer("weather", extensions=[apps])

    @server.resource("data://stations")
    def stations() -> str:
        return "Wien"

    return server


async def view_frame(page: Page) -> Frame:
    """Wait for the frame of the view, which is inside the sandbox proxy."""
    with anyio.fail_after(PATIENCE):
        element = await page.frame_locator("iframe.mcpframe").locator("iframe").element_handle()
        assert element is not None
        frame = await element.content_frame()
    assert frame is not None
    return frame
