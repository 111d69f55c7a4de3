"""A session with one MCP-B server in a window, and its relay. Without I/O, as `core.connection` and `relay`.

window ── message events ─▶ connection ── JSON-RPC ─▶ relay ── messages of the hub ─▶ port
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from mcpframe.frame.core.allowed_origins import AllowedOrigins
from mcpframe.frame.core.connection import Candidate, Connection, Options
from mcpframe.frame.core.errors import MessageError, SessionError, StateError
from mcpframe.frame.core.events import Closed, Event, Inbound, Opened, Received, Wire
from mcpframe.frame.core.roles import Role
from mcpframe.frame.waiting.clock import Clock
from mcpframe.frame.waiting.driver import Driver
from mcpframe.hub.core import limits
from mcpframe.hub.core.codec import encode
from mcpframe.hub.core.messages import FromHub, FromProxy, Json, ToolAnswer
from mcpframe.hub.core.names import domain_of
from mcpframe.hub.core.transport import PortTransport, unreadable
from mcpframe.hub.relay.relay import Relay

log = logging.getLogger(__name__)


class RelayPort:
    """The port of a page, or of a frame in it, with the hub (`transport.TabPort`).

    Args:
        on_close: Called when the hub closes it.
        on_say: Called after each message to the hub.

    Attributes:
        url: Its address.
        relay: Takes the hub's messages; None to drop them.
    """

    def __init__(
        self,
        tab: int,
        url: str,
        transport: PortTransport,
        on_close: Callable[[], None],
        on_say: Callable[[], None] = lambda: None,
    ) -> None:
        self.tab = tab
        self.url = url
        self.relay: Relay | None = None
        self._transport = transport
        self._on_close = on_close
        self._on_say = on_say

    def post(self, message: FromHub) -> None:
        """Post a message to the relay. Raises `StateError` if there are no tools at present."""
        if self.relay is None:
            raise StateError("The page has no tools at present.")
        self.relay.from_hub(message)

    def close(self) -> None:
        self._on_close()

    def say(self, message: FromProxy) -> None:
        """Pass a message to the hub. For an answer over a limit, or with forbidden content, the call fails instead."""
        if isinstance(message, ToolAnswer):
            try:
                encode(message.result)
            except MessageError as error:
                log.warning("An answer of %s is ignored: %s", domain_of(self.url), error)
                message = unreadable(message.id, error)
        self._transport.received(self, message)
        self._on_say()


class ServerLink:
    """One session with an MCP-B server, from `start` to `on_end`.

    Args:
        role: The client's role: for a page's own window, or for a frame.
        origin: The origin of the server: messages of others are dropped, and nothing is posted to them.
        post: Posts JSON text to a target origin, in the server's window.
        port: The port with the hub.
        options: Deadlines.
        on_open: Called when the server is ready, before the first request.
        on_end: Called once, with the reason; None if this side has ended it.
        answer_seconds: How long the server may take to introduce itself.
    """

    def __init__(
        self,
        role: Role,
        origin: str,
        post: Callable[[str, str], None],
        port: RelayPort,
        clock: Clock,
        *,
        options: Options,
        on_open: Callable[[], None],
        on_end: Callable[[SessionError | None], None],
        answer_seconds: float = limits.ANSWER_SECONDS,
    ) -> None:
        # One bad tool must not cost the others: the hub checks each tool, and all other messages as a whole.
        role = replace(role, checks_content=False)
        options = replace(options, max_message_bytes=limits.HUB_MESSAGE_BYTES, max_nesting=limits.HUB_MESSAGE_NESTING)
        connection = Connection([Candidate(role, AllowedOrigins(frozenset({origin})))], options=options)
        self._driver = Driver(connection, clock, lambda sent: post(sent.text, sent.target_origin), self._take)
        self._port = port
        self._on_open = on_open
        self._on_end = on_end
        self._over = False
        self.relay = Relay(self._send, port.say, clock, url=port.url, introduction_seconds=answer_seconds)
        self.relay.on_close = self.close

    def start(self) -> None:
        """Wait for the server. One in the page's own window is asked whether it is ready."""
        self._driver.start()

    def receive(self, inbound: Inbound) -> None:
        """Take a message event of the server's window."""
        self._driver.receive(inbound)

    def close(self) -> None:
        """End the session. Closing again does nothing."""
        self._driver.close()

    def _send(self, message: Json) -> None:
        with suppress(StateError):  # the server has stopped: `_end` says so
            self._driver.send(encode(message), message)

    def _take(self, output: Event | Wire) -> None:
        if isinstance(output, Opened):
            self._on_open()
            self._port.relay = self.relay
            self.relay.start()
        elif isinstance(output, Received):
            self.relay.from_page(output.payload)
        elif isinstance(output, Closed):
            self._end(output.error)

    def _end(self, error: SessionError | None) -> None:
        if self._over:
            return
        self._over = True
        self.relay.page_ended()
        if self._port.relay is self.relay:
            self._port.relay = None
        self._on_end(error)
