"""Takes the README's pictures: the inspector in use, light and dark. `python3 build.py screenshots`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, ViewportSize, sync_playwright

from mcpframe.kit.base.data import checkout_dir, templates_dir
from mcpframe.kit.base.progress import step
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.browser.chromium import ensure_chromium, launch_options
from mcpframe.kit.browser.host_tab import OFF
from mcpframe.kit.dev.inspector import serve_inspector

IMAGES = checkout_dir() / "docs" / "images"
SIZE: ViewportSize = {"width": 1180, "height": 760}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PATIENCE = 120_000
"""Milliseconds that one step may take."""


def main() -> None:
    """Take every picture again."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    projects = [templates_dir() / "pi-calculator", templates_dir() / "json-analyzer"]
    with serve_inspector(projects, progress=step) as inspecting, sync_playwright() as playwright:
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


if __name__ == "__main__":
    main()
