"""The browser's tabs (`frame.hub.interfaces.Tabs`), over the service worker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcpframe.frame.extension_hub.runtime import Worker
from mcpframe.frame.hub.errors import TabLoadError


class ExtensionTabs:
    """The tabs, by the browser's own numbers.

    Args:
        worker: The service worker.
        is_there: Whether the page of a tab has connected.
    """

    def __init__(self, worker: Worker, is_there: Callable[[int], bool]) -> None:
        self._worker = worker
        self._is_there = is_there
        self._loading: dict[int, asyncio.Future[bool]] = {}
        self._early: dict[int, bool] = {}
        """What has happened to tabs while `open` did not know their numbers yet."""
        self._opening = 0

    async def list(self) -> Sequence[int]:
        """As `Tabs.list`."""
        return [int(tab["id"]) for tab in await self._worker.ask("tabs")]

    async def active(self) -> int | None:
        """As `Tabs.active`."""
        tab = await self._worker.ask("active")
        return int(tab["id"]) if tab else None

    async def url(self, tab: int) -> str | None:
        """As `Tabs.url`: None also for pages that the extension has no permission for."""
        try:
            found = await self._worker.ask("tab", tab=tab)
        except TabLoadError:
            return None
        return found["url"] if found else None

    async def open(self, url: str) -> int:
        """As `Tabs.open`."""
        self._opening += 1
        try:
            tab = int((await self._worker.ask("open", url=url))["id"])
            loading = self._loading[tab] = asyncio.get_running_loop().create_future()
            if tab in self._early:
                loading.set_result(self._early[tab])
        finally:
            self._opening -= 1
            if not self._opening:
                self._early.clear()
        try:
            if not await loading:
                raise TabLoadError("The tab was closed.")
            if not self._is_there(tab):  # an error page of the browser's, which has no content script
                await self._worker.ask("close", tab=tab)
                raise TabLoadError(f"{url} cannot be loaded, or the extension may not be there.")
            return tab
        finally:
            del self._loading[tab]

    def on_event(self, event: Mapping[str, Any]) -> None:
        """Take an event of the service worker."""
        loaded = event.get("event") == "updated" and event.get("status") == "complete"
        if not loaded and event.get("event") != "removed":
            return
        tab = event["tab"]
        if (loading := self._loading.get(tab)) is not None:
            if not loading.done():
                loading.set_result(loaded)
        elif self._opening:
            self._early[tab] = loaded
