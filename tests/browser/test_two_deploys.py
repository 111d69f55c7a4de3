"""A page that is open across two deploys, on a static server: files of its build that it asks for late."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Troubles
from tests.support.deploys import deploy
from tests.support.suites import extended


@pytest.mark.parametrize("keep", [extended(timedelta(hours=24)), None], ids=["kept", "gone"])
async def test_a_late_file_comes_or_the_page_says_that_it_is_gone(
    context: BrowserContext, troubles: Troubles, tmp_path: Path, keep: timedelta | None
) -> None:
    result = deploy(tmp_path, 1)
    with serve_folder(tmp_path / "site") as served:
        page = await context.new_page()
        await page.goto(f"{served.origin}/{result.url_path}")
        await expect(page.locator("#build")).to_have_text("build 1", timeout=BOOT_PATIENCE * 1000)
        deploy(tmp_path, 2, keep=keep)
        if keep is None:
            for part in ("404", "late.js"):
                troubles.expect(part)
        await page.click("#late")
        if keep is not None:
            await expect(page.locator("#answer")).to_have_text("late of 1")
            await page.reload()
        else:
            alert = page.get_by_role("alert")
            await expect(alert).to_contain_text("late.js is missing (the web server answers 404)")
            await expect(alert).to_contain_text("reload the page if its site was published anew meanwhile")
            # As it says: its button leads to the second build.
            await alert.get_by_role("button", name="Restart").click()
        await expect(page.locator("#build")).to_have_text("build 2", timeout=BOOT_PATIENCE * 1000)
        await page.click("#late")
        await expect(page.locator("#answer")).to_have_text("late of 2")
