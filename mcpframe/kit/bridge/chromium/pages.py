"""Opens a bridge's pages in one Chromium, which is restarted when it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from mcpframe.kit.bridge.chromium.tab import BridgeTab, FramedPage, TabListener
from mcpframe.kit.browser.devtools.launch import StartedChromium, launch


class Pages:
    """Opens pages with the server in them.

    Args:
        chromium: the browser's program.
        profile: the folder of its profile.
        addresses: host names that are served on this machine, each with its port.
        framed: returns the page to frame; it may build the server first.
        visible: open them in a window, for a person.
    """

    def __init__(
        self,
        chromium: Path,
        profile: Path,
        addresses: Mapping[str, int],
        framed: Callable[[], Awaitable[FramedPage]],
        *,
        visible: bool = False,
    ) -> None:
        self._chromium = chromium
        self._profile = profile
        self._addresses = addresses
        self._framed = framed
        self._visible = visible
        self._browser: StartedChromium | None = None
        self._starting = asyncio.Lock()

    async def open(self, listener: TabListener) -> BridgeTab:
        """Open a page and shake hands with the server in it.

        Raises:
            BridgeError: there will be no session; the message says why.
        """
        page = BridgeTab(await self._started(), listener)
        try:
            await page.load()
            await page.open(await self._framed())
        except BaseException:
            await page.close()
            raise
        return page

    async def close(self) -> None:
        """End the browser."""
        async with self._starting:
            if self._browser is not None:
                await self._browser.close()

    async def _started(self) -> StartedChromium:
        async with self._starting:
            if self._browser is not None and self._browser.gone:
                await self._browser.close()
                self._browser = None
            if self._browser is None:
                self._browser = await launch(
                    self._chromium, self._profile, addresses=self._addresses, visible=self._visible
                )
            return self._browser
