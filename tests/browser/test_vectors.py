"""The vectors on host.js in Chromium, between real frames: all in one load of a page.

`tests/unit/vectors/test_host_js.py` plays the same in Node, and `test_vectors.py` beside it on the Python roles.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from playwright.async_api import BrowserContext

from tests.browser.conftest import Origins, Troubles
from tests.vectors.cases import ROLES_FILE, VECTORS, cases, comparable


async def test_host_js_in_chromium(context: BrowserContext, troubles: Troubles, site: Path, origins: Origins) -> None:
    table = cases("sep")
    (site / "cases.json").write_text(json.dumps(table))
    shutil.copy(VECTORS / "sep" / ROLES_FILE, site)
    shutil.copy(VECTORS / "host_driver.mjs", site)
    page = await context.new_page()
    await page.goto(f"{origins.host}/vectors.html")
    await page.wait_for_function("() => window.playAll")
    text = await page.evaluate("origins => playAll(origins)", {"peer": origins.bundle, "stranger": origins.stranger})
    results = zip(table, json.loads(text), strict=True)
    played = [(case, result) for case, result in results if result is not None]
    assert {case["name"]: comparable(result) for case, result in played} == {
        case["name"]: comparable(case) for case, _ in played
    }
    assert len(played) > 2000
