"""The tabs of a browser, for the hub (`hub.core.interfaces.Tabs`), and the browser behind them.

Pages are found over DevTools, also those that a user opens. A browser that ends takes its tabs with it, and their calls
fail at once; whether it is restarted depends on the kind of browser: see `browsers`.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import anyio

from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core.errors import TabLoadError
from mcpframe.hub.core.transport import PortTransport
from mcpframe.kit.base.errors import BrowserGone, KitError
from mcpframe.kit.browser.devtools.protocol import DevTools
from mcpframe.kit.hub.tabs.browsers import HubBrowser
from mcpframe.kit.hub.tabs.tab_page import HubPage

log = logging.getLogger(__name__)

_RETRY_SECONDS = 5.0
"""Seconds before a retry to attach to a browser that has ended."""

_LEAVE_SECONDS = 2.0


class BrowserTabs:
    """The tabs of the hub's browser.

    Args:
        allows: Returns whether the tools of a page are relayed, given its address.

    Attributes:
        on_active: Called with the tab that the user looks at, whenever that may have changed; None for none.
    """

    def __init__(
        self, browser: HubBrowser, transport: PortTransport, clock: Clock, allows: Callable[[str], bool]
    ) -> None:
        self.transport = transport
        self.clock = clock
        self.answers_dialogs = browser.headless
        self.on_active: Callable[[int | None], None] = lambda tab: None
        self._browser = browser
        self._allows = allows
        self._starting = asyncio.Lock()
        self._has_started = asyncio.Event()
        self._devtools: DevTools | None = None
        self._numbers = itertools.count(1)
        self._tabs: dict[str, int] = {}
        """The tabs by the id of their page, including pages not attached to yet."""
        self._urls: dict[str, str] = {}
        self._pages: dict[int, HubPage] = {}
        self._attached: dict[int, asyncio.Future[HubPage]] = {}
        self._active: int | None = None
        self._asking = 0

    # Callbacks of the pages

    def allows(self, url: str) -> bool:
        return self._allows(url)

    def seen(self, tab: int) -> None:
        if self._asking:
            return
        page = self._pages.get(tab)
        if page is not None and page.visible and (page.focused or not self._looks_at(self._active)):
            self._set_active(tab)
        elif not self._looks_at(self._active):
            self._set_active(next((each for each, other in self._pages.items() if other.visible), None))

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Keep the active tab for the duration of the block, in which the user looks at a page of the hub's own."""
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1

    def _looks_at(self, tab: int | None) -> bool:
        return tab is not None and (page := self._pages.get(tab)) is not None and page.visible

    def _set_active(self, tab: int | None) -> None:
        if tab != self._active:
            self._active = tab
            self.on_active(tab)

    # `Tabs`

    async def list(self) -> Mapping[int, str | None]:
        await self._has_started.wait()
        return {tab: self._urls.get(page.target) for tab, page in self._pages.items()}

    async def active(self) -> int | None:
        return self._active

    async def url(self, tab: int) -> str | None:
        page = self._pages.get(tab)
        return self._urls.get(page.target) if page is not None else None

    async def open(self, url: str) -> int:
        """Open a tab; see `Tabs.open`. A browser that has ended is restarted."""
        try:
            page = await self.new_page()
        except KitError as error:
            raise TabLoadError(f"The browser opens no tab: {error}") from error
        try:
            await page.load(url)
        except BaseException as error:
            self.close(page)
            if isinstance(error, BrowserGone):
                raise TabLoadError(f"{url} cannot be loaded: {error}") from error
            raise
        return page.tab

    async def new_page(self, **options: Any) -> HubPage:
        """Open an empty page in the background, and return it.

        Args:
            options: More parameters of `Target.createTarget`.

        Raises:
            KitError: The browser is gone, and does not restart.
        """
        devtools = await self.started()
        options = {"url": "about:blank", "background": True, **options}
        opening = asyncio.ensure_future(devtools.command("Target.createTarget", **options))
        try:
            created = await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(lambda done: self._close_opened(devtools, done))  # no other code has its id
            raise
        target = created["targetId"]
        try:
            return await asyncio.shield(self._attached_to(target, devtools))
        except asyncio.CancelledError:
            devtools.post("Target.closeTarget", targetId=target)
            raise

    def close(self, page: HubPage) -> None:
        page.devtools.post("Target.closeTarget", targetId=page.target)

    def _close_opened(self, devtools: DevTools, opening: asyncio.Future[dict[str, Any]]) -> None:
        if not opening.cancelled() and not opening.exception():
            devtools.post("Target.closeTarget", targetId=opening.result()["targetId"])

    def _attached_to(self, target: str, devtools: DevTools) -> asyncio.Future[HubPage]:
        tab = self._tab(target)
        future = self._attached.get(tab)
        if future is None:
            future = self._attached[tab] = asyncio.get_running_loop().create_future()
            future.add_done_callback(lambda done: done.cancelled() or done.exception())
            if devtools.closed.done():
                future.set_exception(BrowserGone("The browser has ended."))
        return future

    # The browser

    async def started(self) -> DevTools:
        """Return the browser's DevTools; the browser is started if it does not run.

        Raises:
            KitError: It does not start.
        """
        async with self._starting:
            if self._devtools is None or self._devtools.closed.done():
                self._devtools = devtools = await self._browser.start()
                devtools.handle("", lambda method, params: self._on_event(devtools, method, params))
                devtools.closed.add_done_callback(lambda _: self._on_browser_gone(devtools))
                try:
                    await devtools.command("Target.setDiscoverTargets", discover=True)
                    await devtools.command(
                        "Target.setAutoAttach",
                        autoAttach=True,
                        waitForDebuggerOnStart=False,
                        flatten=True,
                        filter=[{"type": "page"}],
                    )
                except BaseException:
                    self._devtools = None
                    await self._browser.close()
                    raise
                self._has_started.set()
            return self._devtools

    async def keep(self) -> None:
        """Start the browser; an attached browser is attached to again whenever it has ended.

        Raises:
            KitError: A browser of the hub's own does not start.
        """
        trouble = ""
        while True:
            try:
                devtools = await self.started()
                trouble = ""
                await asyncio.wait({devtools.closed})
                if not self._browser.returns:
                    return
                log.warning("The browser has ended: it is attached to again when it is back.")
            except KitError as error:
                if not self._browser.returns:
                    raise
                if str(error) != trouble:  # once, and not every few seconds
                    trouble = str(error)
                    log.warning("%s It is tried again.", error)
            await anyio.sleep(_RETRY_SECONDS)

    async def close_all(self) -> None:
        """Leave all pages, and end the browser if it is one of the hub's own."""
        pages = list(self._pages.values())
        for page in pages:
            page.end()
        if leaving := {page.leaving for page in pages if page.leaving is not None}:
            await asyncio.wait(leaving, timeout=_LEAVE_SECONDS)  # their last messages are for pages that stay
        async with self._starting:
            with suppress(BrowserGone):
                await self._browser.close()

    # Events

    def _tab(self, target: str) -> int:
        if target not in self._tabs:
            self._tabs[target] = next(self._numbers)
        return self._tabs[target]

    def _on_event(self, devtools: DevTools, method: str, params: dict[str, Any]) -> None:
        if devtools is not self._devtools:
            return
        match method:
            case "Target.attachedToTarget":
                self._on_attached(devtools, params["sessionId"], params["targetInfo"])
            case "Target.detachedFromTarget":
                for page in list(self._pages.values()):
                    if page.session == params["sessionId"]:
                        self._on_page_gone(page)
            case "Target.targetInfoChanged":
                info = params["targetInfo"]
                if info["targetId"] in self._tabs:
                    self._urls[info["targetId"]] = info["url"]
            case "Target.targetDestroyed":
                target = params["targetId"]
                tab = self._tabs.get(target)
                if tab is not None and tab in self._pages:
                    self._on_page_gone(self._pages[tab])
                elif tab is not None:
                    self._forget(target, tab)

    def _on_attached(self, devtools: DevTools, session: str, info: dict[str, Any]) -> None:
        target = info["targetId"]
        if info["type"] != "page":
            devtools.post("Target.detachFromTarget", sessionId=session)
            return
        tab = self._tab(target)
        if (old := self._pages.get(tab)) is not None:
            old.end()
        self._urls[target] = info["url"]
        self._pages[tab] = page = HubPage(devtools, session, target, tab, self)
        page.start()
        attached = self._attached_to(target, devtools)
        if not attached.done():
            attached.set_result(page)

    def _on_page_gone(self, page: HubPage) -> None:
        if self._pages.get(page.tab) is page:
            del self._pages[page.tab]
            self._forget(page.target, page.tab)
        page.end()
        self.seen(page.tab)

    def _forget(self, target: str, tab: int) -> None:
        self._tabs.pop(target, None)
        self._urls.pop(target, None)
        attached = self._attached.pop(tab, None)
        if attached is not None and not attached.done():
            attached.set_exception(BrowserGone("The page was closed."))

    def _on_browser_gone(self, devtools: DevTools) -> None:
        for page in [each for each in self._pages.values() if each.devtools is devtools]:
            self._on_page_gone(page)
        if devtools is self._devtools:
            for target, tab in list(self._tabs.items()):
                self._forget(target, tab)
