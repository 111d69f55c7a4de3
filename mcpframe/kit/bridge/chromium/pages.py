"""Opens the pages of a bridge, each with the server framed in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcpframe.kit.bridge.chromium.bridge_page import BridgePage, FramedPage, PageListener
from mcpframe.kit.browser.devtools.browsers import Browsers


class Pages:
    """Opens pages with the server in them.

    Args:
        browsers: where they run.
        framed: returns the page to frame; it may build the server first.
    """

    def __init__(self, browsers: Browsers, framed: Callable[[], Awaitable[FramedPage]]) -> None:
        self.browsers = browsers
        self._framed = framed

    async def open(self, listener: PageListener) -> BridgePage:
        """Open a page and shake hands with the server in it.

        Raises:
            BridgeError: there will be no session; the message says why.
        """
        page = BridgePage(await self.browsers.open_tab(), listener)
        try:
            await page.load()
            await page.open(await self._framed())
        except BaseException:
            await page.close()
            raise
        return page
