"""The template forecast as a view in hosts of npm: `AppBridge` of each version, and `AppRenderer` of mcp-ui."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, FrameLocator, Page, expect

from mcpframe.views.html import view_html
from tests.browser.apps_hosts import CONTEXT, AppsHost
from tests.browser.conftest import BundleOf, Origins, Troubles
from tests.browser.ui_hosts import open_app_renderer

DAYS = [
    {"date": f"2026-11-{day}", "sky": "rain", "low": 1.5, "high": 6.0, "rain": 2.5, "wind": 21} for day in range(23, 28)
]
ARGUMENTS = {"place": "Linz", "days": 5}


def answer(run: int) -> dict[str, Any]:
    """Return what the template's tools answer."""
    forecast = {"place": "Linz", "source": "Invented", "run": run, "days": DAYS}
    return {"content": [{"type": "text", "text": "Linz: rain"}], "structuredContent": forecast}


@pytest.fixture(scope="session")
def html(origins: Origins, bundle_of: BundleOf) -> str:
    """The text of the template's view."""
    lists = {"sep": [origins.host], "mcp_apps": [sandbox(origins), "null"]}
    return view_html(bundle_of("forecast", allowed_origins=lists).url)


def sandbox(origins: Origins) -> str:
    return f"http://sandbox.localhost:{origins.port}"


def drawn_in(page: Page) -> FrameLocator:
    """Return the frame of the bundle: in that of the view, in that of the sandbox proxy."""
    return page.frame_locator("iframe").frame_locator("iframe").frame_locator("iframe")


async def use(view: FrameLocator) -> None:
    """Wait for the chart of the result, and use each way to the host."""
    await expect(view.locator("#place")).to_have_text("Linz")
    await expect(view.locator("[data-day]")).to_have_count(len(DAYS))
    await expect(view.locator("html")).to_have_attribute("data-theme", "dark")
    await view.locator("#refresh").click()
    await expect(view.locator("#status")).to_have_text("Run 2 of the model.")
    await view.locator("#ask").click()
    await expect(view.locator("#status")).to_have_text("Asked.")


async def test_it_draws_in_app_bridge(
    context: BrowserContext, troubles: Troubles, origins: Origins, html: str, app_bridge: str
) -> None:
    host = await AppsHost.load(context, origins, f"{sandbox(origins)}/apps_sandbox.html", app_bridge)
    said = await host.open(html=html, context=CONTEXT, answers={"oncalltool": answer(run=2), "onmessage": {}})
    assert said["appInfo"]["name"] == "forecast"
    view = drawn_in(host.page)
    await host.call("sendToolInputPartial", {"arguments": {"place": "Li"}})
    await expect(view.locator("#place")).to_have_text("Li")
    await host.call("sendToolInput", {"arguments": ARGUMENTS})
    await expect(view.locator(".ghost")).to_have_count(len(DAYS))
    await host.call("sendToolResult", answer(run=1))
    await use(view)
    assert await host.taken("oncalltool") == {"name": "refresh_forecast", "arguments": {**ARGUMENTS, "run": 2}}
    assert "in Linz" in (await host.taken("onmessage"))["content"][0]["text"]
    assert await host.call("teardownResource", {"reason": "done"}) == {"result": {}}
    assert (await host.taken("log"))["data"] == "The forecast is closed: done"


@pytest.mark.extended
async def test_it_draws_in_app_renderer(
    context: BrowserContext, troubles: Troubles, origins: Origins, site: Path, html: str
) -> None:
    troubles.expect("Not connected")  # the component's own: it tells the view its context before it has connected
    props = {
        "toolInput": ARGUMENTS,
        "toolResult": answer(run=1),
        "hostContext": {"theme": "dark"},
        "hostCapabilities": {"serverTools": {}, "message": {"text": {}}},  # by default, it declares no messages
    }
    page = await open_app_renderer(context, origins, site, html, props, answer=answer(run=2))
    await use(drawn_in(page))
    notes = dict(await page.evaluate("ui.notes"))
    assert (notes["tool"]["name"], notes["tool"]["arguments"]) == ("refresh_forecast", {**ARGUMENTS, "run": 2})
    assert "in Linz" in notes["message"]["content"][0]["text"]
    assert "error" not in notes, notes["error"]
