"""The proxy of one page: finds the tools of the page, and relays them. Every home of the hub has one per document.

    window ── page.js ─────────── report ─▶ PageRelay ═ port of the tab ═══════▶ hub
    frames ──────┘                              ║
    document ── document-tools.js ◀─ ask ───────╨══════ port of each frame ════▶ hub

A page server on MCP-B's channel of the tab is relayed as the page itself; while there is none, the tools of the
document (WebMCP) are. An MCP-B server in a frame that has no other host is relayed as a page of its own, with the
frame's domain and origin: see `frame`.

A home takes these steps for each document of a tab:

1. It lets the two scripts run: `page.js` in a world that the page cannot reach, from the document's first byte on, and
   `document-tools.js` in the page's own.
2. It creates a `PageRelay`, if the origin of the page is allowed, with the browser's origin and address.
3. It runs `serve`, and passes each report of `page.js` to `report`, until the document is gone or left. Then it calls
   `close` first, so that the hub's calls fail at once, and cancels `serve`.

Reports are JSON objects, which only `page.js` can send. Each has a `source`: 0 for the page's own window, else the
number of a frame.

| `kind` | means |
|---|---|
| `message` | a message event: its `origin`, the `text` from `textOrReason`, the `url` of the frame's element |
| `loaded` | another document is in the frame |
| `gone` | the frame was removed |

Commands are functions of `page.js`: `listen()`, `stop()`, `post(source, text, origin)`, `watch(source, on)`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import anyio

from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.dialect import TAB
from mcpframe.frame.core.errors import HandshakeTimeout, SessionError, StateError
from mcpframe.frame.core.events import Inbound
from mcpframe.frame.dialects.mcp_b.messages import TAB_CHANNEL
from mcpframe.frame.dialects.mcp_b.roles import client
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import limits
from mcpframe.hub.core.frame_numbers import FrameNumbers, frame_number, frame_tab
from mcpframe.hub.core.names import domain_of, origin_of
from mcpframe.hub.core.transport import PortTransport
from mcpframe.hub.relay.document_tools import DocumentTools, relay_tools
from mcpframe.hub.relay.frame import FrameRelay
from mcpframe.hub.relay.half import PortHalf, TellingHalf, read_text
from mcpframe.hub.relay.link import RelayPort, ServerLink
from mcpframe.hub.relay.relay import Relay

log = logging.getLogger(__name__)

OWN_WINDOW = 0
"""The source of messages of the page's own window."""


def _options(patience: float | None, interval: float) -> Options:
    return Options(handshake_timeout=patience, repeat_interval=interval, unresponsive_after=None)


_EAGER = _options(limits.NEW_PAGE_SECONDS, limits.NEW_PAGE_POLL_SECONDS)
"""For a page just loaded."""
_PATIENT = _options(None, limits.PAGE_POLL_SECONDS)
"""For a page without a server."""


class PageRelay:
    """The proxy of one document.

    Args:
        url: Its address, from the browser.
        origin: Its origin, from the browser.
        page: The script `page.js` in it.
        tools: The tools of its `modelContext`; None for none.
        allows: Returns whether a page may be relayed, given its address; called for each frame.
        numbers: The numbers of the frames in the tab, which outlast a document.
        on_close: Called when the hub closes the port of the page.

    Attributes:
        frames: The frames whose server has been ready, by their number in the page.
    """

    def __init__(
        self,
        tab: int,
        url: str,
        origin: str,
        page: TellingHalf,
        tools: DocumentTools | None,
        transport: PortTransport,
        clock: Clock,
        *,
        allows: Callable[[str], bool] = lambda url: True,
        numbers: FrameNumbers | None = None,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self._origin = origin
        self._page = page
        self._tools = tools
        self._transport = transport
        self._clock = clock
        self._allows = allows
        self._numbers = numbers or FrameNumbers()
        self._port = RelayPort(tab, url, transport, on_close)
        self.frames: dict[int, FrameRelay] = {}
        self._link: ServerLink | None = None
        self._stop_timer: Callable[[], None] = lambda: None
        self._free = asyncio.Event()  # of a page server
        self._free.set()
        self._tools_relay: Relay | None = None
        self._over = False
        self._hidden: frozenset[str] = frozenset()
        if tools is not None:
            tools.hidden = lambda: self._hidden

    async def serve(self) -> None:
        """Relay until this is cancelled."""
        self._transport.connected(self._port)
        try:
            self._page.tell("listen")
            self._look_for_server(_EAGER)
            async with anyio.create_task_group() as tasks:
                if self._tools is not None:
                    tasks.start_soon(self._tools.follow)
                    tasks.start_soon(self._serve_tools, self._tools)
                await anyio.sleep_forever()
        finally:
            self.close()

    def close(self) -> None:
        """End all relays: the document is gone, or the hub leaves it. Closing again does nothing."""
        if self._over:
            return
        self._over = True
        self._transport.closed(self._port)
        self._stop_timer()
        for frame in self.frames.values():
            frame.close()
        self.frames.clear()
        if self._link is not None:
            self._link.close()
        if self._tools is not None:
            self._tools.stop()
        self._page.tell("stop")

    def report(self, report: Mapping[str, Any]) -> None:
        """Take a report of `page.js`.

        Raises:
            KeyError, TypeError, ValueError: It is malformed.
        """
        kind, source = report["kind"], int(report["source"])
        if self._over:
            return
        if kind == "message":
            text = report["text"]
            inbound = Inbound(str(report["origin"]), True, lambda: read_text(text))
            if source == OWN_WINDOW:
                if self._link is not None:
                    self._link.receive(inbound)
            else:
                self._from_frame(source, inbound, str(report.get("url") or ""))
        elif kind == "loaded" and source in self.frames:
            self.frames[source].replaced()
        elif kind == "gone" and source in self.frames:
            self.frames.pop(source).close()

    # The page server

    def _look_for_server(self, options: Options) -> None:
        """Wait for a page server; after its end, for the next one."""
        if self._over:
            return

        def ended(error: SessionError | None) -> None:
            if self._link is link:
                self._link = None
            self._free.set()
            if isinstance(error, HandshakeTimeout):
                self._look_for_server(_PATIENT)
                return
            if error is not None:
                log.info("The page server of %s has ended: %s", domain_of(self._port.url), error)
            if not self._over:
                again = partial(self._look_for_server, options)
                self._stop_timer = self._clock.call_later(limits.SERVER_RETRY_SECONDS, again)

        self._link = link = ServerLink(
            client(TAB, TAB_CHANNEL),
            self._origin,
            partial(self._page.tell, "post", OWN_WINDOW),
            self._port,
            self._clock,
            options=options,
            on_open=self._server_is_there,
            on_end=ended,
        )
        link.start()

    def _server_is_there(self) -> None:
        self._free.clear()
        if self._tools_relay is not None:
            self._tools_relay.page_ended()  # before the server's tools are listed

    # The tools of the document

    async def _serve_tools(self, tools: DocumentTools) -> None:
        while True:
            await tools.available()
            await self._sleep(limits.SERVER_RETRY_SECONDS / 2)  # a page with both has its server by now
            await self._free.wait()
            with suppress(StateError):
                async with relay_tools(tools, self._port.say, self._clock, url=self._port.url) as relay:
                    if self._free.is_set():
                        await self._until_ended(relay)

    async def _until_ended(self, relay: Relay) -> None:
        """Pass the hub's messages to the relay of the tools until it ends."""
        closed = asyncio.Event()
        relay.on_close = closed.set
        self._port.relay = self._tools_relay = relay
        try:
            await closed.wait()
        finally:
            self._tools_relay = None
            if self._port.relay is relay:
                self._port.relay = None

    async def _sleep(self, seconds: float) -> None:
        over = asyncio.Event()
        stop_timer = self._clock.call_later(seconds, over.set)
        try:
            await over.wait()
        finally:
            stop_timer()

    # The frames

    def _from_frame(self, source: int, inbound: Inbound, address: str) -> None:
        frame = self.frames.get(source)
        if frame is None:
            if len(self.frames) >= limits.PAGE_FRAMES:
                return
            frame = self.frames[source] = FrameRelay(
                partial(self._page.tell, "post", source),
                partial(self._page.tell, "watch", source),
                self._connect,
                self._disconnected,
                self._transport,
                self._clock,
            )
        known = len(address) <= limits.URL_CHARACTERS and origin_of(address) == inbound.origin
        frame.receive(inbound, address if known else f"{inbound.origin}/")

    def _connect(self, url: str, on_close: Callable[[], None]) -> RelayPort | None:
        """Return a port for a frame with this address; None if it is not allowed, or has no origin."""
        if origin_of(url) == "null" or not self._allows(url):
            return None
        tab = frame_tab(self._port.tab, self._numbers.take(url))
        return RelayPort(tab, url, self._transport, on_close, self._hide)

    def _disconnected(self, port: RelayPort) -> None:
        self._numbers.give_back(frame_number(port.tab))
        self._hide()

    def _hide(self) -> None:
        """Leave out of the document's tools those that frames of its origin offer themselves."""
        hidden = frozenset[str]().union(*(frame.names_at(self._origin) for frame in self.frames.values()))
        if hidden != self._hidden:
            self._hidden = hidden
            if self._tools is not None and not self._over:
                self._tools.changed()


class PortDocument:
    """A document whose two scripts share one port, and its relay, which may be restarted.

    Args:
        post: Posts a command of `PortHalf` to the scripts.
        relay: Returns a relay of the document, given its two scripts.
    """

    def __init__(
        self, post: Callable[[Mapping[str, Any]], None], relay: Callable[[TellingHalf, DocumentTools], PageRelay]
    ) -> None:
        self._post = post
        self._make_relay = relay
        self._tools = PortHalf("document", post)
        self._relay: PageRelay | None = None
        self._serving: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Relay the document until `end`."""
        self._tools = PortHalf("document", self._post)
        self._relay = self._make_relay(PortHalf("page", self._post), DocumentTools(self._tools))
        self._serving = asyncio.get_running_loop().create_task(self._relay.serve())
        self._serving.add_done_callback(log_failure)

    def end(self) -> None:
        """Stop relaying the document, at once: its tools are removed."""
        relay, self._relay = self._relay, None
        if relay is not None:
            relay.close()
        self._tools.close()
        if self._serving is not None:
            self._serving.cancel()

    def report(self, report: Mapping[str, Any]) -> None:
        """Take a report, or an answer, of the scripts. Raises as `PageRelay.report` does."""
        if report["kind"] == "answer":
            self._tools.answered(report)
        elif self._relay is not None:
            self._relay.report(report)


def log_failure(serving: asyncio.Task[None]) -> None:
    """Log an error in the work for a document, so that it does not end that for others."""
    if not serving.cancelled() and (error := serving.exception()):
        log.error("A page cannot be relayed any more.", exc_info=error)
