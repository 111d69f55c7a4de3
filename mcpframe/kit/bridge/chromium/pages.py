"""Opens the pages of a bridge, each with the server framed in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from mcpframe.kit.base.errors import BrowserGone
from mcpframe.kit.bridge.chromium.bridge_page import BridgePage, FramedPage, PageListener
from mcpframe.kit.bridge.chromium.carried_storage import CarriedStorage
from mcpframe.kit.browser.devtools.browsers import Browsers, OpenTab
from mcpframe.kit.edges.link.early_answers import EarlyAnswers, Results

_FURTHER_ATTEMPTS = 2
"""How often a page is opened again whose browser was lost before the handshake."""

_AT_ONCE = 4
"""How many pages are opened at once for each browser. When one is lost, all its sessions want new pages: opened
together, none of them would have started before its deadline.
"""


class Pages:
    """Opens pages with the server in them.

    Args:
        browsers: where they run.
        framed: returns the page to frame; it may build the server first.
        answers: the answers that the bundle's manifest has, as from `recorded_answers`.
        values: the stored values with which each session begins in a browser elsewhere, as of `CarriedStorage`.
    """

    def __init__(
        self,
        browsers: Browsers,
        framed: Callable[[], Awaitable[FramedPage]],
        answers: Mapping[str, Results] | None = None,
        values: Sequence[Any] = (),
    ) -> None:
        self.browsers = browsers
        self._framed = framed
        self._answers = answers or {}
        self._values = values
        self._turns = asyncio.Semaphore(_AT_ONCE * len(browsers.states))
        self._stored: WeakKeyDictionary[PageListener, CarriedStorage] = WeakKeyDictionary()

    def early(self) -> EarlyAnswers | None:
        """Return answers for a new client until its page is open; None if the manifest has none."""
        return EarlyAnswers(self._answers) if self._answers else None

    async def open(self, listener: PageListener) -> BridgePage:
        """Open a page and shake hands with the server in it. A later page of the same listener has the stored values.

        It is opened once its turn comes, before which no deadline begins. A browser that is lost meanwhile is replaced
        by another one, but not for ever.

        Raises:
            BridgeError: there will be no session; the message says why.
        """
        async with self._turns:
            for _ in range(_FURTHER_ATTEMPTS):
                tab = await self.browsers.open_tab()
                try:
                    return await self._open(tab, listener)
                except BrowserGone:
                    if not tab.devtools.closed.done():
                        raise
            return await self._open(await self.browsers.open_tab(), listener)

    async def _open(self, tab: OpenTab, listener: PageListener) -> BridgePage:
        # Only a tab with a context of its own loses what is stored.
        stored = self._stored.setdefault(listener, CarriedStorage(self._values)) if tab.context else None
        page = BridgePage(tab, listener, stored)
        try:
            await page.load()
            await page.open(await self._framed())
        except BaseException:
            await page.close()
            raise
        return page
