"""A bundle of `kind = "page"`, opened as any page is. (As client and host: test_architectures.py.)"""

import json

import pytest
from playwright.async_api import BrowserContext, expect

from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Troubles
from tests.browser.stored import STORED


@pytest.fixture(scope="module")
def paged(bundle_of: BundleOf) -> Bundle:
    """The bundle of `servers/paged`."""
    return bundle_of("paged")


async def test_its_main_function_runs_and_keeps_values(
    context: BrowserContext, paged: Bundle, troubles: Troubles
) -> None:
    page = await context.new_page()
    for visit in (1, 2):
        await page.goto(paged.url)
        await expect(page.locator("#visits")).to_have_text(f"{visit} visits", timeout=BOOT_PATIENCE * 1000)
    await expect(page.locator("#mcpframe-page")).to_be_hidden()
    assert await page.evaluate(STORED) == [["page paged", "visits"]]
    troubles.expect("as told")
    await page.click("#fail")
    await expect(page.locator("#mcpframe-error-title")).to_have_text("The page stopped: LookupError: as told")
    await expect(page.locator("#mcpframe-error-detail")).to_contain_text("main.py")


def test_its_manifest_says_what_it_is(paged: Bundle) -> None:
    manifest = json.loads((paged.folder / paged.path / "manifest.json").read_text())
    assert (manifest["kind"], manifest["tools"], manifest["allowed_origins"]) == ("page", None, [])
    assert "frame-src 'self'" in manifest["csp"]
    assert "frame-ancestors 'self'" in manifest["csp"]
