"""The vectors on host.js in Chromium, between real frames: all in one load of a page.

`tests/unit/vectors/test_host_js.py` plays the same in Node, and `test_vectors.py` beside it on the Python roles.
"""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import BrowserContext

from tests.browser.conftest import Origins, Troubles
from tests.browser.playing_vectors import check_vectors, write_vectors


async def test_host_js_in_chromium(context: BrowserContext, troubles: Troubles, site: Path, origins: Origins) -> None:
    write_vectors(site)
    page = await context.new_page()
    await page.goto(f"{origins.host}/vectors.html")
    await page.wait_for_function("() => window.playAll")
    text = await page.evaluate("origins => playAll(origins)", {"peer": origins.bundle, "stranger": origins.stranger})
    check_vectors(text)
