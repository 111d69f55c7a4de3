"""npm's `@modelcontextprotocol/sdk` 1.16.0 around a framed server, over a transport with a `sessionId`."""

import anyio
from playwright.async_api import BrowserContext

from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, Origins, Troubles


async def test_a_host_whose_client_never_initializes_is_served(
    context: BrowserContext, troubles: Troubles, origins: Origins, everything: Bundle, resumed_client: None
) -> None:
    page = await context.new_page()
    await page.goto(f"{origins.host}/resumed.html")
    await page.wait_for_function("() => window.resumed")
    with anyio.fail_after(BOOT_PATIENCE):
        told = await page.evaluate("given => resumed.use(...given)", [everything.url, "echo", {"text": "hi"}])
    assert told["sent"] == ["tools/list", "tools/call"]
    assert "weather" in told["tools"]
    assert told["content"] == [{"type": "text", "text": "hi"}]
