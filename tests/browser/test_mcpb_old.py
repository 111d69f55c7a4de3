"""Pages in Python beside npm's `@mcp-b/transports` 0.1 and 4.0, with the SDK of their time, in both directions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Route

from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import PAGES, Bundle, BundleOf, Troubles
from tests.browser.mcpb import bring, bundle_peers

pytestmark = pytest.mark.extended

OPEN = "(given) => held.open('tab', JSON.stringify(given)).then(JSON.parse)"
CALL = "(given) => held.call(...given).then(JSON.parse)"


@pytest.fixture(scope="session")
def tabbed(bundle_of: BundleOf) -> Bundle:
    """The bundle of `servers/tabbed`."""
    return bundle_of("tabbed")


async def test_a_client_of_the_typescript_sdk_1_needs_a_validator_that_evaluates_no_text(
    context: BrowserContext, troubles: Troubles, tabbed: Bundle, tmp_path: Path
) -> None:
    page = await context.new_page()
    page.set_default_timeout(BOOT_PATIENCE * 1000)
    await page.goto(tabbed.url)
    await page.wait_for_selector("html[data-state=loaded]")
    await bring(page, bundle_peers(tmp_path, PAGES / "mcpb_validating_page.js", "mcp-b-4.0"))
    await page.evaluate("given => held.serve(JSON.stringify(given))", {"channel": "new", "browser": {}})
    troubles.expect("unsafe-eval")
    troubles.expect("Error compiling schema")
    assert "unsafe-eval" in await page.evaluate("validating.byDefault('new')")
    interpreted = await page.evaluate("validating.interpreting('new')")
    assert interpreted == {"tools": ["add"], "structuredContent": {"result": 6}}
    assert await page.evaluate("validating.withoutValidation('new')") == ["add"]


@pytest.mark.parametrize("version", ["0.1", "4.0"])
async def test_earlier_transports(
    context: BrowserContext, troubles: Troubles, tabbed: Bundle, tmp_path: Path, version: str
) -> None:
    """A server and a client of them, each on a channel of its own, for two clients and a server in Python."""
    page = await context.new_page()
    page.set_default_timeout(BOOT_PATIENCE * 1000)
    await page.goto(tabbed.url)
    await page.wait_for_selector("html[data-state=loaded]")
    await bring(page, bundle_peers(tmp_path, PAGES / "mcpb_old_page.js", f"mcp-b-{version}"))

    await page.evaluate("old.serve('tab', 'old', [location.origin])")
    one, two = [await page.evaluate(OPEN, {"channel": "old"}) for _ in range(2)]
    assert one["name"] == "an old tab server"
    for client in (one, two):
        assert (await page.evaluate(CALL, [client["number"], "add", '{"a": 2, "b": 3}'])) == {"text": "5"}
        assert "no luck" in (await page.evaluate(CALL, [client["number"], "fail"]))["text"]

    # The other way round, beside it.
    browser = {"cacheSupported": True}
    await page.evaluate("given => held.serve(JSON.stringify(given))", {"channel": "new", "browser": browser})
    number = await page.evaluate("old.connect('new')")
    assert await page.evaluate("number => old.tools(number)", number) == ["add"]
    added = await page.evaluate("number => old.call(number, 'add', { a: 2, b: 4 })", number)
    assert added["content"] == [{"type": "text", "text": "6"}]

    if version == "4.0":  # which answers as the page is left: also where it is not, after all
        await page.route("**/nothing", _no_content)
        await page.evaluate("given => { globalThis.waiting = held.call(...given); }", [one["number"], "wait"])
        await page.evaluate("given => held.call(...given)", [two["number"], "add", '{"a": 1, "b": 1}'])
        await page.evaluate("() => { location.href = '/nothing'; }")
        interrupted = json.loads(await page.evaluate("waiting"))
        assert interrupted == {"code": -32000, "data": {"navigationInterrupted": True}}

    await page.evaluate("old.servers[0].close()")
    if version == "4.0":  # 0.1 says nothing at its end
        assert await page.evaluate("number => held.ended(number)", one["number"]) == "PeerGone"


async def _no_content(route: Route) -> None:
    await route.fulfill(status=204)
