"""A `Window` from CPython into a real browser: an iframe or a popup that Playwright opens.

With it an `OuterFrame` in CPython frames a page in a real browser, and the official Python client talks to a server
in that page:

    outer = OuterFrame("https://tools.example/pi/")
    async with Client(outer.connect(PlaywrightPlace(page))) as client:
        ...

The page's half is `static/browser/playwright-window.js`, with `static/host/host-json.js`. CPython polls it for message
events and does not expose a function to the page: Playwright's bindings are visible in every frame, so the framed page
could forge events.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import anyio
from playwright.async_api import Error, Frame, JSHandle, Page

from mcpframe.frame.core.errors import PopupBlocked, StateError
from mcpframe.frame.core.events import Departure, Inbound
from mcpframe.frame.core.places import POPUP_SIZE, Framing
from mcpframe.hub.relay.half import read_text
from mcpframe.kit.base.data import HOST_JSON, script_with

logger = logging.getLogger(__name__)

MOST_BYTES = 128 * 1024 * 1024
"""The longest message of a framed page, in bytes. A Playwright message of 512 MB would end Playwright for all pages."""

_GOODBYE_SECONDS = 5.0
"""Seconds for leaving if the browser does not answer."""


_Item = tuple[str, str] | bool | dict[str, Any]


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


class PlaywrightWindow:
    """An iframe in a page, or a popup of it, as the outer frame's `Window`.

    The outer page is open in Playwright; its origin is the host's. Entering creates the iframe or the
    popup, listening loads the framed page into it, and leaving removes it. A message of more than `MOST_BYTES` is
    rejected, whatever the connection's limit is.
    """

    def __init__(self, page: Page, framing: Framing, within: str = "body", *, popup: bool = False) -> None:
        """Configure the window; nothing is opened yet.

        Args:
            page: an open page at the host's origin.
            framing: the page to frame, and its iframe's attributes.
            within: a selector for the element to put the iframe into.
            popup: open a popup instead of an iframe.
        """
        self._page = page
        iframe = {
            "sandbox": framing.sandbox,
            "allow": framing.allow or None,
            "title": framing.title,
            "within": within,
            "visible": framing.visible,
            "html": framing.html,
            "size": framing.size,
        }
        self._options = {
            "url": framing.url,
            "name": framing.name,
            "iframe": None if popup else iframe,
            "size": POPUP_SIZE,
            "most": MOST_BYTES,
        }
        self._on_load = framing.on_load
        self._adapter: JSHandle | None = None
        self._popup: asyncio.Future[Page] | None = None
        self._listening = False
        self._outbox: list[_Item] = []
        self._ports: list[_PagePort] = []
        self._reader: asyncio.Task[None] | None = None
        self._writer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Put the empty iframe into the page, or open the empty popup.

        Raises:
            PopupBlocked: the browser opens no popup.
            StateError: the element for the iframe does not exist.
        """
        script = script_with("browser/playwright-window.js", HOST_JSON)
        if self._options["iframe"] is None:
            self._popup = asyncio.get_running_loop().create_future()
            self._page.once("popup", self._on_popup)
        adapter = await self._page.evaluate_handle(script, self._options)
        refusal = await adapter.evaluate("adapter => adapter.refusal ?? null")
        if refusal:
            if self._popup:
                self._page.remove_listener("popup", self._on_popup)
                raise PopupBlocked(refusal)
            raise StateError(refusal)
        self._adapter = adapter
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        """Post the remaining messages, then remove the iframe or close the popup, within a few seconds."""
        self._listening = False
        with anyio.move_on_after(_GOODBYE_SECONDS, shield=True):
            if self._writer:
                await self._writer
            try:
                await self._inside().evaluate("adapter => adapter.remove()")
            except Error as error:
                logger.debug("The page was gone before its iframe: %s", error)
            if self._reader:
                await self._reader

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """Start to listen, then load the framed page.

        Args:
            deliver: called for every message event of the outer page, in order.
            gone: called when the framed page is reloaded or navigated away, its process ends, or the iframe or the
                outer page is gone.

        Returns:
            A function that stops listening.

        Raises:
            StateError: listening a second time, or before entering.
        """
        if self._reader:
            raise StateError("A PlaywrightWindow listens once: create another one for another session.")
        adapter = self._inside()
        self._listening = True
        if self._popup:
            # The host page outlives its popup's process and gets no event, and a popup that has crashed is not closed.
            crashed = functools.partial(self._hand_on, {"gone": Departure.REMOVED}, deliver, gone)
            self._popup.add_done_callback(lambda popup: popup.result().once("crash", lambda _: crashed()))
        self._reader = asyncio.get_running_loop().create_task(self._read(adapter, deliver, gone))
        return self._stop

    def post(self, text: str, target_origin: str) -> None:
        """Post one message to the framed page; the order is kept. It is lost if that page is gone.

        Args:
            text: JSON text of the message.
            target_origin: the origin that the framed page must have to receive it.
        """
        self._tell((text, target_origin))

    def hand_over(self, text: str, target_origin: str) -> _PagePort:
        """Post a message with a port of a new channel, and return the other one; see `places.HandingWindow`."""
        port = _PagePort(len(self._ports), self._tell)
        self._ports.append(port)
        self._tell({"handOver": text, "target": target_origin})
        return port

    def show(self, visible: bool) -> None:
        """Show or hide the iframe, or bring a popup to the front; the order with posted messages is kept."""
        self._tell(visible)

    def resize(self, width: int | None, height: int | None) -> None:
        """Set the size of the iframe in CSS pixels; None leaves it unchanged. A popup keeps its size."""
        self._tell({"width": width, "height": height})

    async def frame(self) -> Frame:
        """Return Playwright's `Frame` of the framed page, to inspect or to navigate it.

        Raises:
            StateError: the iframe is gone, or was not created yet.
        """
        if self._popup:
            return (await self._popup).main_frame
        iframe = (await self._inside().get_property("iframe")).as_element()
        frame = await iframe.content_frame() if iframe else None
        if frame is None:
            raise StateError("The iframe is no longer in the page.")
        return frame

    def _inside(self) -> JSHandle:
        if self._adapter is None:
            raise StateError("Enter the PlaywrightWindow with `async with` first.")
        return self._adapter

    def _on_popup(self, popup: Page) -> None:
        if self._popup and not self._popup.done():
            self._popup.set_result(popup)

    def _tell(self, item: _Item) -> None:
        adapter = self._inside()
        self._outbox.append(item)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.get_running_loop().create_task(self._write(adapter))

    def _stop(self) -> None:
        self._listening = False

    async def _read(
        self, adapter: JSHandle, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]
    ) -> None:
        # As in a browser, each event has its own callback: one that fails does not stop the next one.
        call_soon = asyncio.get_running_loop().call_soon
        try:
            await adapter.evaluate("adapter => adapter.start()")
            while (items := await adapter.evaluate("adapter => adapter.take()")) is not None:
                if not self._listening:
                    await adapter.evaluate("adapter => adapter.stop()")
                    return
                for item in items:
                    call_soon(self._hand_on, item, deliver, gone)
        except Error as error:
            if self._listening:
                # The session reports its end; the log has the reason.
                logger.info("The outer page does not answer, so the framed page counts as gone: %s", error.message)
            call_soon(self._hand_on, {"gone": Departure.REMOVED}, deliver, gone)

    def _hand_on(
        self, item: dict[str, Any], deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]
    ) -> None:
        if not self._listening:
            return
        if "loaded" in item:
            if self._on_load:
                self._on_load()
            return
        if "gone" in item:
            gone(Departure(item["gone"]))
            return
        if "port" in item:
            self._ports[item["port"]].take(lambda: read_text(item["text"]))
            return
        deliver(Inbound(item["origin"], item["fromPeer"], lambda: read_text(item["text"])))

    async def _write(self, adapter: JSHandle) -> None:
        while self._outbox:
            batch, self._outbox = self._outbox, []
            try:
                await adapter.evaluate("(adapter, items) => adapter.tell(items)", batch)
            except Error as error:
                logger.debug("Messages are lost, as the page is gone: %s", error)


class _PagePort:
    """A port of the outer page: `events.Port`. The framed page has the other end of its channel."""

    def __init__(self, number: int, tell: Callable[[_Item], None]) -> None:
        self._number = number
        self._tell = tell
        self.take: Callable[[Callable[[], str]], None] = lambda _: None

    def listen(self, deliver: Callable[[Callable[[], str]], None]) -> None:
        self.take = deliver

    def post(self, text: str) -> None:
        self._tell({"port": self._number, "text": text})

    def leave(self, *, close: bool) -> None:
        self.take = lambda _: None
        if close:
            self._tell({"port": self._number})
