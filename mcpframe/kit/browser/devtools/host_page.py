"""An empty page of any origin, without a web server there, and windows into it: a host for an `OuterFrame`, without
Playwright.

The browser itself answers the request for the page (DevTools' `Fetch` domain). Interception ends before anything is
framed, as it disables the HTTP cache.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcpframe.frame.core.limits import MESSAGE_BYTES
from mcpframe.frame.core.places import Framing
from mcpframe.kit.browser.devtools.browsers import OpenTab
from mcpframe.kit.browser.devtools.driven_page import ConsoleLine, DevToolsPage, RemoteObject
from mcpframe.kit.browser.empty_page import complaint, fulfilment, interception
from mcpframe.kit.browser.page_window import PageGone, PageWindow

OFF = ("LocalNetworkAccessChecks",)
"""Features to disable (`launch`), so that a host page of any origin may frame a local page."""


class HostPage:
    """An open host page, and the place of an `OuterFrame`'s page in it.

    Attributes:
        host_origin: Its origin.
        complaints: Console messages of level error, and uncaught errors, of the page and its frames.
        window: The window of the current or the last phase; None before the first.
    """

    def __init__(self, page: DevToolsPage, origin: str) -> None:
        self.page = page
        self.host_origin = origin
        self.complaints: list[str] = []
        self.window: DevToolsWindow | None = None
        page.on_console = self._on_console

    def __call__(self, framing: Framing) -> DevToolsWindow:
        """Return the window for one phase."""
        self.window = DevToolsWindow(self.page, framing)
        return self.window

    def _on_console(self, line: ConsoleLine) -> None:
        if line.kind == "uncaught":
            self.complaints.append(f"uncaught: {line.text}")
        elif line.kind == "error":
            self.complaints.append(complaint(line.text, line.url))


class DevToolsWindow(PageWindow):
    """An iframe in a page that DevTools drives, as the outer frame's `Window`."""

    most = MESSAGE_BYTES
    piece = 4_000_000  # each character takes up to 6 bytes, and Chromium ends DevTools at a command of 100 MB

    def __init__(self, page: DevToolsPage, framing: Framing) -> None:
        super().__init__(framing)
        self._page = page
        self._object: RemoteObject | None = None

    async def _made(self, script: str, options: dict[str, Any]) -> RemoteObject:
        self._object = await self._page.remote(script, options)
        return self._object

    async def framed(self) -> RemoteObject:
        """Return the `window` of the framed page, for scripts in it.

        Raises:
            PageGone: The iframe is no longer in the page.
        """
        if self._object is None:
            raise PageGone("the frame has not been opened")
        return await self._page.frame(await self._object.remote("adapter => adapter.iframe"))


@asynccontextmanager
async def host_page(tab: OpenTab, origin: str) -> AsyncIterator[HostPage]:
    """Open an empty page of an origin in a tab, and close the tab when the block ends.

    Args:
        origin: Its origin, with http or https.

    Raises:
        PageGone: The browser has ended, or its page does not answer.
    """
    page = DevToolsPage(tab)
    async with page.opening():
        page.on_request = lambda request: page.post("Fetch.fulfillRequest", **fulfilment(request))
        await page.command("Fetch.enable", **interception(origin))
        await page.navigate(f"{origin}/")
        await page.command("Fetch.disable")
    try:
        yield HostPage(page, origin)
    finally:
        await page.close()
