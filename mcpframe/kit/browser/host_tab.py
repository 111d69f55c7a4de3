"""A browser tab with an empty host page of any origin, without a web server there.

The browser itself answers the request for the page (CDP's `Fetch` domain). Interception ends before anything is framed;
Playwright's routes would disable the HTTP cache.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import BrowserContext, ConsoleMessage, Error, Frame, Page

from mcpframe.kit.browser.empty_page import complaint, fulfilment, interception

# An async handler logs its error some turns of the page's event loop after the click. Python's turns are timers and
# messages, so the page runs a few of both.
_TAKE_TURNS = """async () => {
  for (let turn = 0; turn < 8; turn++) {
    await new Promise(resolve => setTimeout(resolve));
    const { port1, port2 } = new MessageChannel();
    await new Promise(resolve => { port1.onmessage = resolve; port2.postMessage(0); });
    port1.close();
  }
}"""
_STORED = "cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage"


class HostTab:
    """An open host page.

    Attributes:
        complaints: Console messages of level error, and uncaught errors, of the page and its frames.
    """

    def __init__(self, page: Page, origin: str) -> None:
        self.page = page
        self.origin = origin
        self.complaints: list[str] = []
        self._storage_keys: set[str] = set()
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)

    async def note_storage(self, frame: Frame) -> None:
        """Note the storage key of a framed page, for `forget`; browsers partition its storage by host page."""
        try:
            devtools = await self.page.context.new_cdp_session(frame)
        except Error:
            return  # a frame of the host's own site: its storage is not partitioned
        frame_id = (await devtools.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        answer = await devtools.send("Storage.getStorageKey", {"frameId": frame_id})
        self._storage_keys.add(answer["storageKey"])
        await devtools.detach()

    async def forget(self, framed: str) -> None:
        """Clear the storage of this page and of pages of the origin `framed` in it, but not the HTTP cache."""
        context = self.page.context
        devtools = await context.new_cdp_session(self.page)
        for origin in (self.origin, framed):
            await devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": _STORED})
        for key in self._storage_keys:
            await devtools.send("Storage.clearDataForStorageKey", {"storageKey": key, "storageTypes": _STORED})
        await devtools.detach()
        await context.clear_cookies()

    async def settled(self) -> None:
        """Wait until the errors caused by everything done so far are in `complaints`."""
        for frame in self.page.frames:
            try:
                await frame.evaluate(_TAKE_TURNS)  # its reply comes after earlier events
            except Error:
                continue  # the frame is gone

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(complaint(message.text, message.location.get("url", "")))

    def _on_error(self, error: Error) -> None:
        self.complaints.append(f"uncaught: {error.stack or error.message}")


@asynccontextmanager
async def host_tab(context: BrowserContext, origin: str, path: str = "/") -> AsyncIterator[HostTab]:
    """Open an empty page of an origin, and close it when the block ends.

    Args:
        origin: Its origin, with http or https.
    """
    page = await context.new_page()
    try:
        devtools = await context.new_cdp_session(page)
        answering: set[asyncio.Task[None]] = set()

        async def answer(request: dict[str, Any]) -> None:
            await devtools.send("Fetch.fulfillRequest", fulfilment(request))

        def on_paused(request: dict[str, Any]) -> None:
            answering.add(asyncio.ensure_future(answer(request)))

        devtools.on("Fetch.requestPaused", on_paused)
        await devtools.send("Fetch.enable", interception(origin))
        await page.goto(origin + path)
        await asyncio.gather(*answering)
        await devtools.detach()
        yield HostTab(page, origin)
    finally:
        await page.close()
