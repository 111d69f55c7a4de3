"""The extension's package for the Web Store in a real Chromium: its optional permission, clicked in its popup.

The browser's question is a window of its own, which neither DevTools nor a switch of Chromium can answer. It does not
ask for a permission that it has as granted; so both sides of it are here: one that is not answered, and one that need
not be asked.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.hub.extension.build import build_extension
from tests.browser.extension import Extended, chromium_with
from tests.browser.outers import PATIENCE
from tests.release.web_store import store_files

pytestmark = pytest.mark.extended

NATIVE = "chrome.permissions.contains({ permissions: ['nativeMessaging'] })"


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the store's package."""
    built = build_extension(tmp_path_factory.mktemp("extension") / "built", sites=["http://shop.localhost"])
    files = {path.relative_to(built).as_posix(): path.read_bytes() for path in built.rglob("*") if path.is_file()}
    folder = tmp_path_factory.mktemp("packaged")
    for name, data in store_files(files).items():
        write_file(folder / name, data)
    return folder


async def popup_of(extended: Extended) -> Page:
    """Open the popup, as a page of its own, once the hub has said that no program is served."""
    page = await extended.context.new_page()
    await page.goto(f"{extended.origin}/popup.html")
    await expect(page.locator("#native")).to_contain_text("not served", timeout=PATIENCE * 1000)
    await expect(page.locator("#native-start")).to_be_visible()
    return page


async def test_without_an_answer_the_permission_is_not_there(packaged: Path, tmp_path: Path) -> None:
    async with chromium_with(packaged, tmp_path) as extended:
        popup = await popup_of(extended)
        assert not await popup.evaluate(NATIVE)
        await popup.evaluate(
            """() => {
                const request = chrome.permissions.request.bind(chrome.permissions);
                chrome.permissions.request = (wanted) => (globalThis.asked = request(wanted).then(String, String));
            }"""
        )
        await popup.locator("#native-start").click()
        await popup.wait_for_function("Boolean(globalThis.asked)")
        pending = "Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 500, 'pending'))])"
        assert await popup.evaluate(pending) == "pending"
        assert not await popup.evaluate(NATIVE)
        assert "not installed for this browser" not in await popup.locator("#native").inner_text()
        await popup.close()
        again = await popup_of(extended)  # and the hub goes on
        assert not await again.evaluate(NATIVE)


async def test_a_permission_that_was_granted_reaches_programs(packaged: Path, tmp_path: Path) -> None:
    """An earlier version asked for it at its installation, so the browser has it as granted."""
    async with chromium_with(packaged, tmp_path) as extended:
        path = extended.folder / "manifest.json"
        optional = path.read_text("utf-8")
        manifest = json.loads(optional)
        manifest["permissions"] += manifest.pop("optional_permissions")
        path.write_text(json.dumps(manifest), "utf-8")
        await extended.reload()
        path.write_text(optional, "utf-8")
        await extended.reload()
        popup = await popup_of(extended)
        assert await popup.evaluate(NATIVE)
        await popup.evaluate("() => { chrome.permissions.request = () => document.body.remove(); }")  # never called
        await popup.locator("#native-start").click()
        # The browser looks for the program, and this machine has none.
        await expect(popup.locator("#native")).to_contain_text(
            "not installed for this browser", timeout=PATIENCE * 1000
        )
