"""A server in a frame, as the client in Python of a test has it."""

from __future__ import annotations

from typing import Any

from mcp import Client
from playwright.async_api import Frame, Page, expect

from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, Troubles

PATIENCE = 2 * BOOT_PATIENCE
SHORT = 0.5


class Framed:
    """The framed page of a client."""

    def __init__(
        self, page: Page, url: str, *, mode: str = "auto", on_elicit: Any = None, extensions: Any = (), **options: Any
    ) -> None:
        self.place = PlaywrightPlace(page)
        self.outer = OuterFrame(url, options=Options(handshake_timeout=BOOT_PATIENCE), **options)
        transport = self.outer.connect(self.place, visible=True)
        self.client = Client(transport, mode=mode, elicitation_callback=on_elicit, extensions=extensions)

    async def frame(self) -> Frame:
        assert self.place.window
        return await self.place.window.frame()

    async def call(self, name: str, **arguments: Any) -> Any:
        result = await self.client.call_tool(name, arguments)
        assert not result.is_error, result.content
        assert result.structured_content
        return result.structured_content["result"]

    async def busy(self) -> None:
        """Wait until the page shows that a tool computes."""
        await expect((await self.frame()).locator("#mcpframe-computing")).to_be_visible()


async def forbid_workers(page: Page, bundle: Bundle, troubles: Troubles) -> None:
    """Serve a bundle with a policy that allows no worker."""
    for complaint in ("Content Security Policy", "worker-src"):
        troubles.expect(complaint)
    index = bundle.folder / bundle.path / "index.html"
    headers = {"content-security-policy": "worker-src 'none'"}
    await page.route(bundle.url, lambda route: route.fulfill(path=index, headers=headers, content_type="text/html"))
