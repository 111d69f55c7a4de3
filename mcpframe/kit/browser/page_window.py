"""A `Window` from CPython into a page of a real browser: an iframe in that page, or a popup of it.

The page's half is `static/browser/page-window.js`, with `static/host/host-json.js`. CPython polls it for message events
and does not expose a function to the page: such functions are visible in every frame, so the framed page could forge
events.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self

import anyio

from mcpframe.frame.core.errors import PopupBlocked, StateError
from mcpframe.frame.core.events import Departure, Inbound
from mcpframe.frame.core.places import POPUP_SIZE, Framing
from mcpframe.hub.relay.half import read_text
from mcpframe.kit.base.data import HOST_JSON, script_with

logger = logging.getLogger(__name__)

_GOODBYE_SECONDS = 5.0
"""Seconds for leaving if the browser does not answer."""

_Item = tuple[str, str] | bool | dict[str, Any]


class PageGone(Exception):
    """The page, its browser or the way to it has ended, or a script in it has failed."""


class PageObject(Protocol):
    """An object of a page's script."""

    async def call(self, function: str, argument: Any = None) -> Any:
        """Call a function of JavaScript with the object and an argument, and return its result, which is JSON.

        Raises:
            PageGone: There is no answer.
        """
        ...


class PageWindow(ABC):
    """An iframe in a page, or a popup of it, as the outer frame's `Window`.

    The outer page is open in a browser; its origin is the host's. Entering creates the iframe or the
    popup, listening loads the framed page into it, and leaving removes it. A message of more than `most` bytes is
    rejected, whatever the connection's limit is.
    """

    most: int
    """The longest message of a framed page, in bytes."""
    piece: int
    """The characters of a message that the way to the browser carries at once."""

    def __init__(self, framing: Framing, within: str = "body", *, popup: bool = False) -> None:
        """Configure the window; nothing is opened yet.

        Args:
            framing: the page to frame, and its iframe's attributes.
            within: a selector for the element to put the iframe into.
            popup: open a popup instead of an iframe.
        """
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
            "most": self.most,
            "piece": self.piece,
        }
        self._on_load = framing.on_load
        self._adapter: PageObject | None = None
        self._listening = False
        self._outbox: list[_Item] = []
        self._ports: list[_PagePort] = []
        self._reader: asyncio.Task[None] | None = None
        self._writer: asyncio.Task[None] | None = None

    @abstractmethod
    async def _made(self, script: str, options: dict[str, Any]) -> PageObject:
        """Call a function of JavaScript in the outer page, and return the object that it returns."""

    async def __aenter__(self) -> Self:
        """Put the empty iframe into the page, or open the empty popup.

        Raises:
            PopupBlocked: the browser opens no popup.
            StateError: the element for the iframe does not exist.
        """
        adapter = await self._made(script_with("browser/page-window.js", HOST_JSON), self._options)
        if refusal := await adapter.call("adapter => adapter.refusal ?? null"):
            raise (StateError if self._options["iframe"] else PopupBlocked)(refusal)
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
                await self._inside().call("adapter => adapter.remove()")
            except PageGone as error:
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
            raise StateError(f"A {type(self).__name__} listens once: create another one for another session.")
        adapter = self._inside()
        self._listening = True
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

    def _inside(self) -> PageObject:
        if self._adapter is None:
            raise StateError(f"Enter the {type(self).__name__} with `async with` first.")
        return self._adapter

    def _tell(self, item: _Item) -> None:
        adapter = self._inside()
        self._outbox.append(item)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.get_running_loop().create_task(self._write(adapter))

    def _stop(self) -> None:
        self._listening = False

    async def _read(
        self, adapter: PageObject, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]
    ) -> None:
        # As in a browser, each event has its own callback: one that fails does not stop the next one.
        call_soon = asyncio.get_running_loop().call_soon
        try:
            await adapter.call("adapter => adapter.start()")
            while (items := await adapter.call("adapter => adapter.take()")) is not None:
                if not self._listening:
                    await adapter.call("adapter => adapter.stop()")
                    return
                for item in items:
                    for number in range(item.get("pieces", 0)):
                        more = await adapter.call("(adapter, number) => adapter.more(number)", number)
                        item["text"] = (item["text"] or "") + more
                    call_soon(self._hand_on, item, deliver, gone)
        except PageGone as error:
            if self._listening:
                # The session reports its end; the log has the reason.
                logger.info("The outer page does not answer, so the framed page counts as gone: %s", error)
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

    async def _write(self, adapter: PageObject) -> None:
        while self._outbox:
            batch = self._batch()
            try:
                item, text = batch[0], _text(batch[0])
                if len(text) > self.piece:
                    last = (len(text) - 1) // self.piece * self.piece
                    for start in range(0, last, self.piece):
                        await adapter.call("(adapter, text) => adapter.give(text)", text[start : start + self.piece])
                    batch = [_with_text(item, text[last:])]
                await adapter.call("(adapter, items) => adapter.tell(items)", batch)
            except PageGone as error:
                logger.debug("Messages are lost, as the page is gone: %s", error)

    def _batch(self) -> list[_Item]:
        """Take the next items of the outbox: as many as the way to the browser carries, or one that is longer."""
        size = count = 0
        for item in self._outbox:
            size += len(_text(item))
            if count and size > self.piece:
                break
            count += 1
        batch, self._outbox = self._outbox[:count], self._outbox[count:]
        return batch


def _text(item: _Item) -> str:
    if isinstance(item, tuple):
        return item[0]
    return "" if isinstance(item, bool) else str(item.get("handOver", item.get("text", "")))


def _with_text(item: _Item, text: str) -> _Item:
    if isinstance(item, tuple):
        return text, item[1]
    assert isinstance(item, dict)
    return {**item, "handOver" if "handOver" in item else "text": text}


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
