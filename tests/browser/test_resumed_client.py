"""npm's `@modelcontextprotocol/sdk` 1.16.0 around a framed server, over a transport with a `sessionId` and without."""

import anyio
import pytest
from playwright.async_api import BrowserContext

from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, Origins, Troubles
from tests.support.suites import extended


@pytest.fixture(params=["everything", extended("everything_of_mcp_1")])
def bundle(request: pytest.FixtureRequest) -> Bundle:
    """The bundles with one of everything."""
    found: Bundle = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize("resumes", [True, False])
async def test_a_host_is_served_whether_its_client_initializes_or_not(
    context: BrowserContext, troubles: Troubles, origins: Origins, bundle: Bundle, resumed_client: None, resumes: bool
) -> None:
    page = await context.new_page()
    await page.goto(f"{origins.host}/resumed.html")
    await page.wait_for_function("() => window.resumed")
    with anyio.fail_after(BOOT_PATIENCE):
        told = await page.evaluate("given => resumed.use(...given)", [bundle.url, "echo", {"text": "hi"}, resumes])
    handshake = [] if resumes else ["initialize", "notifications/initialized"]
    assert told["sent"] == [*handshake, "tools/list", "tools/call"]
    assert "weather" in told["tools"]
    assert told["content"] == [{"type": "text", "text": "hi"}]
