"""The window of a tab without Python, over its port: its page server is relayed by the tab that leads.

The tab's half is `static/host/app-hub.js`. It passes on messages of the tab's own window, each with its origin, and
posts to that window; it judges nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import anyio

from mcpframe.frame.core import payload
from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.errors import HandshakeTimeout, MessageError, SessionError, StateError
from mcpframe.frame.core.events import Departure, Inbound
from mcpframe.frame.hub import messages
from mcpframe.frame.hub.interfaces import Clock
from mcpframe.frame.hub.messages import Json
from mcpframe.frame.hub.names import origin_of
from mcpframe.frame.hub.page.switchboard import AppPort
from mcpframe.frame.hub.relay import Relay
from mcpframe.frame.hub.relay_window import relay_page
from mcpframe.frame.hub.transport import PortTransport

log = logging.getLogger(__name__)

_PAUSE = 1.0
"""Seconds before a page server is looked for again once it has ended."""


def _options(patience: float | None, interval: float) -> Options:
    return Options(
        handshake_timeout=patience,
        repeat_interval=interval,
        unresponsive_after=None,
        max_message_bytes=messages.MAX_MESSAGE_BYTES,
    )


_EAGER, _PATIENT = _options(5.0, 1.0), _options(None, 60.0)


class PortWindow:
    """The tab's own window (`core.events.Window`).

    Args:
        port: Its port.
    """

    def __init__(self, port: AppPort) -> None:
        self._port = port
        self._deliver: Callable[[Inbound], None] | None = None

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """As `Window.listen`. `gone` is never called: the port ends with the document."""
        self._deliver = deliver
        self._tell("listen")

        def stop() -> None:
            if self._deliver is deliver:
                self._deliver = None
                self._tell("stop")

        return stop

    def post(self, text: str, target_origin: str) -> None:
        """As `Window.post`."""
        self._tell("post", text, target_origin)

    def take(self, report: Any) -> None:
        """Take what the tab's half reports."""
        if not isinstance(report, dict) or report.get("kind") != "message" or self._deliver is None:
            return
        origin, text = report.get("origin"), report.get("text")

        def read() -> str:
            if not isinstance(text, str):
                raise ValueError("The message is nothing in JSON.")
            return text

        self._deliver(Inbound(str(origin), True, read))

    def _tell(self, function: str, *arguments: str) -> None:
        self._port.post(payload.encode({"half": "page", "call": function, "arguments": arguments}))


class WindowRelay:
    """The relay of a tab's window, whose port with the hub this is (`transport.TabPort`).

    Args:
        port: The tab's port.
        transport: The hub's.
        clock: The time.
    """

    def __init__(self, port: AppPort, transport: PortTransport, clock: Clock) -> None:
        self.tab = port.tab
        self.url = port.url
        self._port = port
        self._transport = transport
        self._clock = clock
        self._window = PortWindow(port)
        self._relay: Relay | None = None
        port.on_message = self._heard

    def post(self, text: str) -> None:
        """As `TabPort.post`. Raises `StateError` where the page has no tools at present."""
        if self._relay is None:
            raise StateError("The page has no tools at present.")
        self._relay.from_hub(messages.parse(text))

    def close(self) -> None:
        """As `TabPort.close`."""
        self._port.close()

    async def run(self) -> None:
        """Relay the page's server, and each that comes after it, until this is cancelled."""
        options = _EAGER
        while True:
            try:
                async with relay_page(
                    self._window, origin_of(self.url), self._to_hub, self._clock, url=self.url, options=options
                ) as relay:
                    self._relay = relay
                    ended = anyio.Event()
                    relay.on_close = ended.set
                    await ended.wait()
            except HandshakeTimeout:
                options = _PATIENT
                continue
            except SessionError as error:
                log.info("The page server of tab %d has ended: %s", self.tab, error)
            finally:
                self._relay = None
            await anyio.sleep(_PAUSE)

    def _to_hub(self, message: Json) -> None:
        self._transport.received(self, payload.encode(message))

    def _heard(self, text: str) -> None:
        try:
            self._window.take(messages.parse(text))
        except MessageError as error:
            log.warning("A report of tab %d is ignored: %s", self.tab, error)
