"""A `Window` from CPython into a real browser: an iframe or a popup that Playwright opens.

With it an `OuterFrame` in CPython frames a page in a real browser, and the official Python client talks to a server
in that page:

    outer = OuterFrame("https://tools.example/pi/")
    async with Client(outer.connect(PlaywrightPlace(page))) as client:
        ...
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any, Self
from urllib.parse import urlsplit

from playwright.async_api import Error, Frame, JSHandle, Page

from mcpframe.frame.core.errors import PopupBlocked, StateError
from mcpframe.frame.core.events import Departure, Inbound
from mcpframe.frame.core.places import Framing
from mcpframe.kit.browser.page_window import PageGone, PageWindow

MOST_BYTES = 128 * 1024 * 1024
"""The longest message of a framed page, in bytes. A Playwright message of 512 MB would end Playwright for all pages."""


class PlaywrightPlace:
    """The place of an `OuterFrame`'s page: an element of a page that Playwright has open, or a popup of it.

    Attributes:
        window: the window of the current or the last phase; None before the first.
    """

    def __init__(self, page: Page, within: str = "body", *, popup: bool = False) -> None:
        self.window: PlaywrightWindow | None = None
        self._page = page
        self._within = within
        self._popup = popup

    @property
    def host_origin(self) -> str:
        """The origin of the host page."""
        parts = urlsplit(self._page.url)
        return f"{parts.scheme}://{parts.netloc}"

    def __call__(self, framing: Framing) -> PlaywrightWindow:
        """Return the window for one phase."""
        self.window = PlaywrightWindow(self._page, framing, self._within, popup=self._popup)
        return self.window


class PlaywrightWindow(PageWindow):
    """An iframe in a page, or a popup of it, as the outer frame's `Window`: a `PageWindow` over Playwright."""

    most = MOST_BYTES
    piece = MOST_BYTES

    def __init__(self, page: Page, framing: Framing, within: str = "body", *, popup: bool = False) -> None:
        """Configure the window; nothing is opened yet.

        Args:
            page: an open page at the host's origin.
            framing: the page to frame, and its iframe's attributes.
            within: a selector for the element to put the iframe into.
            popup: open a popup instead of an iframe.
        """
        super().__init__(framing, within, popup=popup)
        self._page = page
        self._handle: JSHandle | None = None
        self._popup: asyncio.Future[Page] | None = None

    async def __aenter__(self) -> Self:
        """Put the empty iframe into the page, or open the empty popup; see `PageWindow`."""
        if self._options["iframe"] is None:
            self._popup = asyncio.get_running_loop().create_future()
            self._page.once("popup", self._on_popup)
        try:
            return await super().__aenter__()
        except PopupBlocked:
            self._page.remove_listener("popup", self._on_popup)
            raise

    async def _made(self, script: str, options: dict[str, Any]) -> _Object:
        self._handle = await self._page.evaluate_handle(script, options)
        return _Object(self._handle)

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """Start to listen, then load the framed page; see `PageWindow`."""
        stop = super().listen(deliver, gone)
        if self._popup:
            # The host page outlives its popup's process and gets no event, and a popup that has crashed is not closed.
            crashed = functools.partial(self._hand_on, {"gone": Departure.REMOVED}, deliver, gone)
            self._popup.add_done_callback(lambda popup: popup.result().once("crash", lambda _: crashed()))
        return stop

    async def frame(self) -> Frame:
        """Return Playwright's `Frame` of the framed page, to inspect or to navigate it.

        Raises:
            StateError: the iframe is gone, or was not created yet.
        """
        if self._popup:
            return (await self._popup).main_frame
        self._inside()
        assert self._handle
        iframe = (await self._handle.get_property("iframe")).as_element()
        frame = await iframe.content_frame() if iframe else None
        if frame is None:
            raise StateError("The iframe is no longer in the page.")
        return frame

    def _on_popup(self, popup: Page) -> None:
        if self._popup and not self._popup.done():
            self._popup.set_result(popup)


class _Object:
    """A `PageObject` over Playwright."""

    def __init__(self, handle: JSHandle) -> None:
        self._handle = handle

    async def call(self, function: str, argument: Any = None) -> Any:
        try:
            return await self._handle.evaluate(function, argument)
        except Error as error:
            raise PageGone(error.message) from error
