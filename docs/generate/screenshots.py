"""Takes the pictures, light and dark: `python3 build.py screenshots`, all or those of the names in `TAKES`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, ViewportSize, sync_playwright

from docs.generate.analyst_picture import PAGE, take_analyst_picture
from docs.generate.hub_picture import STYLE, take_hub_picture
from mcpframe.kit.base.data import checkout_dir, templates_dir
from mcpframe.kit.base.progress import step
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.browser.chromium import ensure_chromium, launch_options
from mcpframe.kit.browser.devtools.host_page import OFF
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.dev.inspector import serve_inspector
from mcpframe.kit.web.serve import serve_folder
from tests.browser.pairs import build_conversation
from tests.support.scientific import data_analyst, scientific_packages

IMAGES = checkout_dir() / "docs" / "images"
SIZE: ViewportSize = {"width": 1180, "height": 760}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PATIENCE = 120_000
"""Milliseconds that one step may take."""


def main(names: list[str]) -> None:
    """Take the pictures of these names again; of all without any."""
    if unknown := set(names) - set(TAKES):
        sys.exit(f"There are no pictures {', '.join(unknown)}: give some of {', '.join(TAKES)}, or none for all.")
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name in names or TAKES:
        TAKES[name]()


def take_inspector_pictures() -> None:
    """Take those of the inspector, and that of a view."""
    projects = [templates_dir() / "pi-calculator", templates_dir() / "json-analyzer"]
    with (
        serve_inspector(projects, progress=step) as inspecting,
        scratch("pages") as folder,
        scratch("projects") as work,
        serve_folder(folder) as host,
        serve_folder(folder) as tools,
        sync_playwright() as playwright,
    ):
        origins = {"host": f"http://localhost:{host.port}", "tools": f"http://localhost:{tools.port}"}
        with step("Building a conversation with a view"):
            build_conversation(folder, work, tools=origins["tools"], host=origins["host"])
        options = launch_options(ensure_chromium(install=True, progress=step), off=OFF)
        for scheme in SCHEMES:
            # A profile on disk: in a private one, frames of another site store nothing, and a setup would be lost.
            with (
                scratch("pictures") as profile,
                closing(
                    playwright.chromium.launch_persistent_context(
                        profile, viewport=SIZE, device_scale_factor=2, color_scheme=scheme, **options
                    )
                ) as browser,
            ):
                page = browser.pages[0]
                page.set_default_timeout(PATIENCE)
                page.goto(inspecting.url)
                with step(f"Pictures, {scheme}"):
                    _call(page, IMAGES / f"inspector-call-{scheme}.png")
                    _set_up(page, IMAGES / f"inspector-setup-{scheme}.png")
                    page.goto(f"{origins['host']}/conversation/")
                    _show_view(page, IMAGES / f"view-{scheme}.png")


def take_hub_pictures() -> None:
    """Take those of the hub."""
    with scratch("shop") as folder:
        shop = build(templates_dir() / "shop", folder, progress=step)
        with serve_folder(folder) as served:
            for scheme in SCHEMES:
                with step(f"Pictures of the hub, {scheme}"):
                    address = f"http://shop.localhost:{served.port}/{shop.url_path}"
                    take_hub_picture(address, scheme, IMAGES / f"hub-{scheme}.png")


def take_analyst_pictures() -> None:
    """Take those of the template data-analyst."""
    with scratch("analyst") as folder, serve_folder(folder) as host:
        for file in (PAGE, STYLE):
            shutil.copy(file, folder)
        origin = f"http://localhost:{host.port}"
        project = data_analyst(folder)
        packages = str(scientific_packages())
        result = build(project, folder / "dist", allowed_origins=[origin], distribution=packages, progress=step)
        with serve_folder(folder / "dist") as served:
            for scheme in SCHEMES:
                with step(f"Pictures of the data analyst, {scheme}"):
                    address = f"http://tools.localhost:{served.port}/{result.url_path}"
                    take_analyst_picture(address, f"{origin}/{PAGE.name}", scheme, IMAGES / f"analyst-{scheme}.png")


def _call(page: Page, image: Path) -> None:
    page.get_by_role("button", name="Pi calculator", exact=True).click()
    server = page.get_by_role("region", name="Pi calculator", exact=True)
    server.get_by_role("button", name="Show page", exact=True).click()
    server.get_by_role("textbox", name="iterations").fill("50000")
    server.get_by_role("button", name="Call", exact=True).click()
    server.get_by_role("region", name="Result").get_by_text("points").first.wait_for()
    page.screenshot(path=image)


def _set_up(page: Page, image: Path) -> None:
    page.get_by_role("button", name="JSON analyzer", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.frame_locator("iframe").get_by_role("button").first.wait_for()
    page.screenshot(path=image)


def _show_view(page: Page, image: Path) -> None:
    page.get_by_label("A town").fill("Wien")
    page.get_by_role("button", name="Call it").click()
    view = page.frame_locator(".call iframe").frame_locator("iframe").frame_locator("iframe")
    view.locator('[data-day="2"]').click()
    page.locator("#known li").wait_for()
    page.locator("#entries .call").scroll_into_view_if_needed()
    page.screenshot(path=image)


TAKES: Mapping[str, Callable[[], None]] = {
    "inspector": take_inspector_pictures,
    "hub": take_hub_pictures,
    "analyst": take_analyst_pictures,
}

if __name__ == "__main__":
    main(sys.argv[1:])
