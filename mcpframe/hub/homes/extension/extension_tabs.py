"""The browser's tabs (`hub.core.interfaces.Tabs`), through the service worker."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from mcpframe.hub.core.background_tasks import BackgroundTasks
from mcpframe.hub.core.errors import TabLoadError
from mcpframe.hub.homes.extension.runtime import Worker

log = logging.getLogger(__name__)


class ExtensionTabs:
    """The tabs, by the browser's own numbers.

    Args:
        is_there: Returns whether the page of a tab has connected.
    """

    def __init__(self, worker: Worker, is_there: Callable[[int], bool]) -> None:
        self._worker = worker
        self._is_there = is_there
        self._loading: dict[int, asyncio.Future[bool]] = {}
        self._early: dict[int, bool] = {}
        """Events of tabs whose number `open` does not know yet."""
        self._opening = 0
        # A tab that could not be closed is closed already.
        self._closing = BackgroundTasks(lambda error: log.debug("A tab could not be closed: %s", error))

    async def list(self) -> Mapping[int, str | None]:
        """Return the addresses of all tabs, except those that the browser has discarded until they are looked at."""
        return {int(tab["id"]): tab["url"] for tab in await self._worker.ask("tabs") if tab["status"] != "unloaded"}

    async def active(self) -> int | None:
        tab = await self._worker.ask("active")
        return int(tab["id"]) if tab else None

    async def url(self, tab: int) -> str | None:
        """Return the address of a tab; None also for pages that the extension has no permission for."""
        try:
            shown = await self._worker.ask("tab", tab=tab)
        except TabLoadError:
            return None
        return shown["url"] if shown else None

    async def open(self, url: str) -> int:
        """Open a tab; see `Tabs.open`. A tab that fails to load, or not in time, is closed."""
        self._opening += 1
        opening = asyncio.ensure_future(self._worker.ask("open", url=url))
        try:
            tab = int((await asyncio.shield(opening))["id"])
            loading = self._loading[tab] = asyncio.get_running_loop().create_future()
            if tab in self._early:
                loading.set_result(self._early[tab])
        except asyncio.CancelledError:
            opening.add_done_callback(self._close_opened)  # no other code knows the tab
            raise
        finally:
            self._opening -= 1
            if not self._opening:
                self._early.clear()
        try:
            if not await loading:
                raise TabLoadError("The tab was closed.")
            if not self._is_there(tab):  # an error page of the browser, without a content script
                raise TabLoadError(f"{url} cannot be loaded, or the extension may not run there.")
            return tab
        except BaseException:
            self._close(tab)
            raise
        finally:
            del self._loading[tab]

    def _close_opened(self, opening: asyncio.Future[Any]) -> None:
        if not opening.cancelled() and not opening.exception():
            self._close(int(opening.result()["id"]))

    def _close(self, tab: int) -> None:
        self._closing.start(self._worker.ask("close", tab=tab))

    def on_event(self, event: Mapping[str, Any]) -> None:
        loaded = event.get("event") == "updated" and event.get("status") == "complete"
        if not loaded and event.get("event") != "removed":
            return
        tab = event["tab"]
        if (loading := self._loading.get(tab)) is not None:
            if not loading.done():
                loading.set_result(loaded)
        elif self._opening:
            self._early[tab] = loaded
