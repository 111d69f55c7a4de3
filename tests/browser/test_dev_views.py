"""`mcpframe dev` with views, in Chromium: a change reloads the view in its host, with the last call shown again."""

from __future__ import annotations

import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, FrameLocator, expect

from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.dev.inspector import serve_inspector
from mcpframe.kit.dev.reload_channel import DevChannel
from mcpframe.kit.dev.server import serve_dev
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Troubles, chromium
from tests.browser.inspecting import BOOT, ServerPart


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    """A Chromium without site isolation, for this file alone; see `test_dev.py`."""
    async with chromium("--disable-site-isolation-trials") as browser:
        yield browser


@contextmanager
def developing(project: Path) -> Iterator[str]:
    """What `mcpframe dev` does; gives the address of the inspector."""
    channel = DevChannel()
    with (
        serve_inspector(rebuilds=channel) as inspecting,
        serve_dev(project, also=(inspecting.origin, inspecting.sandbox), channel=channel) as server,
    ):
        assert server.server_url
        thread = threading.Thread(target=server.watch, args=(lambda error, seconds: None,))
        thread.start()
        try:
            yield inspecting.url_with(server.server_url, sample=server.sample)
        finally:
            server.stop()
            thread.join(BOOT_PATIENCE)


def copied(template: str, tmp_path: Path) -> Path:
    return shutil.copytree(templates_dir() / template, tmp_path / template)


def inside(server: ServerPart) -> FrameLocator:
    """The bundle's page: in the shim, in the sandbox."""
    view = server.view.get_by_role("region", name="View", exact=True).filter(visible=True)
    return view.frame_locator(".insp-view-frame iframe").frame_locator("iframe").frame_locator("iframe")


@pytest.mark.extended
async def test_a_tool_s_view_is_reloaded_with_its_last_call(
    tmp_path: Path, context: BrowserContext, troubles: Troubles
) -> None:
    troubles.expect("Fetch API cannot load")  # of a page that is replaced while it fetches
    project = copied("forecast", tmp_path)
    with developing(project) as address:
        page = await context.new_page()
        await page.goto(address)
        server = ServerPart(page.get_by_role("region", name="Forecast", exact=True))
        await expect(server.state).to_contain_text("Connected", timeout=BOOT)
        await server.choose("Tools", "get_forecast")
        form = server.view.get_by_role("form", name="Arguments of get_forecast")
        await form.get_by_role("textbox").first.fill("Linz")
        await form.get_by_role("button", name="Call").click()
        view = inside(server)
        await expect(view.locator("#place")).to_have_text("Linz", timeout=BOOT)
        await expect(view.locator("[data-day]")).to_have_count(7)

        source = (project / "view.html").read_text("utf-8")
        assert 'id="refresh"' in source
        (project / "view.html").write_text(f'<p id="changed">Changed</p>\n{source}', "utf-8")
        await expect(view.locator("#changed")).to_have_text("Changed", timeout=BOOT)
        await expect(view.locator("#place")).to_have_text("Linz", timeout=BOOT)
        await expect(view.locator("[data-day]")).to_have_count(7)
        await page.close()


@pytest.mark.extended
async def test_a_view_of_a_server_elsewhere_is_reloaded_with_the_call_that_was_written(
    tmp_path: Path, context: BrowserContext, troubles: Troubles
) -> None:
    troubles.expect("Fetch API cannot load")
    project = copied("view", tmp_path)
    with developing(project) as address:
        page = await context.new_page()
        await page.goto(address)
        server = ServerPart(page.get_by_role("region", name="View", exact=True).first)
        await expect(server.state).to_contain_text("Connected", timeout=BOOT)
        panel = server.view.get_by_role("tabpanel", name="As a view")
        view = panel.frame_locator(".insp-view-frame iframe").frame_locator("iframe").frame_locator("iframe")
        await expect(view.locator("#status")).to_have_text("7 in total", timeout=BOOT)  # of its sample.json
        await panel.get_by_label("Result").fill("[]")
        await panel.get_by_role("button", name="Show").click()
        await expect(panel.get_by_text("The result must be a JSON object.")).to_be_visible()
        await panel.get_by_label("Result").fill('{"structuredContent": {"dice": [2, 6], "total": 8}}')
        await panel.get_by_role("button", name="Show").click()
        await expect(view.locator("#status")).to_have_text("8 in total", timeout=BOOT)

        source = project / "src" / "view.py"
        source.write_text(source.read_text("utf-8").replace(" in total", " altogether"), "utf-8")
        await expect(view.locator("#status")).to_have_text("8 altogether", timeout=BOOT)
        await expect(view.locator(".die")).to_have_count(2)
        await page.close()
