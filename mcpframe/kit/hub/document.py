"""One document in a tab: the port that it has with the hub, and what is relayed over it.

The document's tools are those of its page server (MCP-B) while there is one, and otherwise those that it has registered
at its `modelContext` (WebMCP). Pages that use MCP-B's packages offer the same tools in both ways.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

import anyio

from mcpframe.frame.core import payload
from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.errors import HandshakeTimeout, SessionError, StateError
from mcpframe.frame.core.events import Departure, Inbound
from mcpframe.frame.hub import messages
from mcpframe.frame.hub.interfaces import Clock
from mcpframe.frame.hub.messages import Json
from mcpframe.frame.hub.relay import Relay
from mcpframe.frame.hub.relay_tools import relay_tools
from mcpframe.frame.hub.relay_window import relay_page
from mcpframe.frame.hub.transport import PortTransport
from mcpframe.kit.browser.page_scripts import read_text
from mcpframe.kit.hub.document_tools import DocumentTools

log = logging.getLogger(__name__)

_PAUSE = 1.0
"""Seconds before a page server, or a document's tools, are looked for again once they have ended."""


def _options(patience: float | None, interval: float) -> Options:
    return Options(
        handshake_timeout=patience,
        repeat_interval=interval,
        unresponsive_after=None,
        max_message_bytes=messages.MAX_MESSAGE_BYTES,
    )


_EAGER = _options(5.0, 1.0)
"""For a page that has just been loaded: its server is asked for each second, as old ones answer but do not call."""
_PATIENT = _options(None, 60.0)
"""For a page without a server: one may come, and says so. Others' pages are not to be posted to all the time."""


class Document:
    """A document, whose port is `frame.hub.transport.TabPort`.

    Args:
        tab: Its tab.
        url: Its address, as the browser has it.
        origin: Its origin, as the browser has it.
        window: Its window.
        tools: The tools of its `modelContext`.
        transport: The hub's.
        clock: The time.
        on_close: Called with it when the hub closes its port.
    """

    def __init__(
        self,
        tab: int,
        url: str,
        origin: str,
        window: DocumentWindow,
        tools: DocumentTools,
        transport: PortTransport,
        clock: Clock,
        on_close: Callable[[Document], None],
    ) -> None:
        self.tab = tab
        self.url = url
        self._origin = origin
        self._tools = tools
        self._transport = transport
        self._clock = clock
        self._window = window
        self._on_close = on_close
        self._relay: Relay | None = None
        self._free = asyncio.Event()  # of a page server
        self._free.set()
        self._tools_relay: Relay | None = None

    # The port

    def post(self, text: str) -> None:
        """Take a message of the hub. Raises `StateError` where the document has no tools at present."""
        if self._relay is None:
            raise StateError("The page has no tools at present.")
        self._relay.from_hub(messages.parse(text))

    def close(self) -> None:
        """As `TabPort.close`."""
        self._on_close(self)

    def received(self, origin: str, text: str | list[str] | None) -> None:
        """Take a message of the page's window."""
        self._window.take(Inbound(origin, True, lambda: read_text(text)))

    # The relays

    async def serve(self) -> None:
        """Relay the document's tools until this is cancelled."""
        self._transport.connected(self)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._tools.follow)
                tasks.start_soon(self._serve_page_server)
                tasks.start_soon(self._serve_tools)
        finally:
            self._tools.stop()
            self._transport.closed(self)

    async def _serve_page_server(self) -> None:
        options = _EAGER
        while True:
            try:
                async with relay_page(
                    self._window, self._origin, self._to_hub, self._clock, url=self.url, options=options
                ) as relay:
                    self._free.clear()
                    if self._tools_relay is not None:
                        self._tools_relay.page_ended()  # before the server's tools are listed
                    await self._ended(relay)
            except HandshakeTimeout:
                options = _PATIENT
                continue
            except SessionError as error:
                log.info("The page server of tab %d has ended: %s", self.tab, error)
            finally:
                self._free.set()
            await anyio.sleep(_PAUSE)

    async def _serve_tools(self) -> None:
        while True:
            await self._tools.available()
            await anyio.sleep(_PAUSE / 2)  # a page with both has its server by now
            await self._free.wait()
            with suppress(StateError):
                async with relay_tools(self._tools, self._to_hub, self._clock, url=self.url) as relay:
                    if self._free.is_set():
                        self._tools_relay = relay
                        await self._ended(relay)

    async def _ended(self, relay: Relay) -> None:
        """Let the hub's messages go to a relay until it ends."""
        closed = asyncio.Event()
        relay.on_close = closed.set
        self._relay = relay
        try:
            await closed.wait()
        finally:
            if self._relay is relay:
                self._relay = None

    def _to_hub(self, message: Json) -> None:
        self._transport.received(self, payload.encode(message))


class DocumentWindow:
    """A document's own window (`core.events.Window`).

    Args:
        listen: Has the window's messages be passed to `take`.
        stop: Ends that.
        post: Posts a message, as text, to an origin.
    """

    def __init__(self, listen: Callable[[], None], stop: Callable[[], None], post: Callable[[str, str], None]) -> None:
        self._listen = listen
        self._stop = stop
        self._post = post
        self._deliver: Callable[[Inbound], None] | None = None

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """As `Window.listen`. `gone` is never called: the document's task ends with it."""
        self._deliver = deliver
        self._listen()

        def stop() -> None:
            if self._deliver is deliver:
                self._deliver = None
                self._stop()

        return stop

    def post(self, text: str, target_origin: str) -> None:
        """As `Window.post`."""
        self._post(text, target_origin)

    def take(self, inbound: Inbound) -> None:
        """Take a message event."""
        if self._deliver is not None:
            self._deliver(inbound)
