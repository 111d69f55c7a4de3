"""The page of a tab, whose content script (`static/extension/content.js`) has opened a port."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import anyio

from mcpframe.frame.core import payload
from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.errors import HandshakeTimeout, MessageError, SessionError, StateError
from mcpframe.frame.core.events import Departure, Inbound, Unreadable
from mcpframe.frame.extension_hub.runtime import ExtensionPort
from mcpframe.frame.hub import messages
from mcpframe.frame.hub.interfaces import Clock
from mcpframe.frame.hub.relay import Relay
from mcpframe.frame.hub.relay_window import relay_page
from mcpframe.frame.hub.transport import PortTransport

log = logging.getLogger(__name__)

PIECE = 4_000_000
"""Characters of a message that cross at once."""
_MOST_PIECES = 64
_PAUSE = 1.0
_LIMITS = {"max_bytes": 4 * messages.MAX_MESSAGE_BYTES, "max_nesting": 64}


class ExtensionPage:
    """A page, which is a port of the hub's (`TabPort`) and a window (`core.events.Window`).

    Args:
        port: The content script's.
        tab: The tab.
        origin: The page's origin, as the browser has it.
        transport: The hub's.
        clock: The time.
    """

    def __init__(self, port: ExtensionPort, tab: int, origin: str, transport: PortTransport, clock: Clock) -> None:
        self.tab = tab
        self.url = port.sender.url
        self._port = port
        self._origin = origin
        self._transport = transport
        self._clock = clock
        self._relay: Relay | None = None
        self._deliver: Callable[[Inbound], None] | None = None
        self._pieces: list[str] = []
        self._serving: asyncio.Task[None] | None = None
        port.on_message = self._received
        port.on_close = self.end

    def start(self) -> None:
        """Relay the page until it is gone, or `end` is called."""
        self._transport.connected(self)
        self._serving = asyncio.get_running_loop().create_task(self._serve())

    def end(self) -> None:
        """Relay the page no more: its tools are gone."""
        self._transport.closed(self)
        if self._serving is not None:
            self._serving.cancel()

    def leave(self) -> None:
        """Have the content script leave the page, and not come back."""
        self._call("leave")
        self.close()

    # `TabPort`

    def post(self, text: str) -> None:
        """Take a message of the hub. Raises `StateError` where the page has no tools at present."""
        if self._relay is None:
            raise StateError("The page has no tools at present.")
        self._relay.from_hub(messages.parse(text))

    def close(self) -> None:
        """As `TabPort.close`."""
        self.end()
        self._port.close()

    # `Window`

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """As `Window.listen`. `gone` is never called: the relay ends with the page."""
        self._deliver = deliver
        self._call("listen")

        def stop() -> None:
            if self._deliver is deliver:
                self._deliver = None
                self._call("stop")

        return stop

    def _call(self, function: str, *given: str) -> None:
        try:
            self._port.post(payload.encode({"call": function, "given": given}))
        except OSError as error:  # the port has ended, which is heard of separately
            log.debug("A page of tab %d is gone: %s", self.tab, error)

    async def _serve(self) -> None:
        patience: float | None = 5.0
        while True:
            options = Options(
                handshake_timeout=patience,
                repeat_interval=1.0 if patience else 60.0,
                unresponsive_after=None,
                max_message_bytes=messages.MAX_MESSAGE_BYTES,
            )
            try:
                window = _PageWindow(self)
                async with relay_page(
                    window, self._origin, self._to_hub, self._clock, url=self.url, options=options
                ) as relay:
                    closed = asyncio.Event()
                    relay.on_close = closed.set
                    self._relay = relay
                    await closed.wait()
            except HandshakeTimeout:
                patience = None
                continue
            except SessionError as error:
                log.info("The page server of tab %d has ended: %s", self.tab, error)
            finally:
                self._relay = None
            await anyio.sleep(_PAUSE)

    def _to_hub(self, message: messages.Json) -> None:
        self._transport.received(self, payload.encode(message))

    # The content script's reports

    def _received(self, text: str) -> None:
        try:
            piece = payload.parse(text, **_LIMITS)
            self._pieces.append(piece[1:])
            if len(self._pieces) > _MOST_PIECES:
                self._pieces = []
            elif piece[:1] == ".":
                whole, self._pieces = "".join(self._pieces), []
                self._reported(payload.parse(whole, **_LIMITS))
        except (MessageError, KeyError, TypeError):
            log.warning("A report of tab %d is ignored.", self.tab)

    def _reported(self, report: dict[str, Any]) -> None:
        if report["kind"] == "message" and self._deliver is not None:
            read = report["text"]
            self._deliver(Inbound(report["origin"], True, lambda: _text(read)))


class _PageWindow:
    def __init__(self, page: ExtensionPage) -> None:
        self._page = page
        self.listen = page.listen

    def post(self, text: str, target_origin: str) -> None:
        start = 0
        while len(text) - start > PIECE:
            self._page._call("piece", text[start : start + PIECE])
            start += PIECE
        self._page._call("post", text[start:], target_origin)


def _text(read: str | list[str] | None) -> str:
    if isinstance(read, str):
        return read
    if read is None:
        raise ValueError("The message is nothing in JSON.")
    raise Unreadable(*read)
