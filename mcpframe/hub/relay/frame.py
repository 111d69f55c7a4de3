"""The state machine of one frame of a page, which decides whether and when its MCP-B server is relayed.

The page's own scripts may be the host of such a server, and have precedence over the hub: to the server both are one
peer, as they share a window. So the hub posts nothing to a frame until it is clear that it has no host, and nothing
once it has one.

| state | event | leads to |
|---|---|---|
| idle | the server is ready | quiet |
| quiet | it is ready again, in answer to a check | quiet, from the beginning |
| quiet | it speaks with a host, in any dialect | hosted |
| quiet | `limits.FRAME_QUIET_SECONDS` have passed | relayed: a session begins |
| relayed | it answers a request that is not this client's | hosted: the session ends |
| relayed | it is ready again: another document, or an answer to a check | quiet: the session ends |
| relayed | the server stops, or does not answer `initialize` | idle |
| relayed | the hub closes the port | hosted |
| hosted | another document, which has been ready since | quiet |
| any | another document | idle |

A server that started before `page.js` listened has not been seen to be ready: whether it has a host is unknown, so it
is not relayed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.events import Inbound, Unreadable
from mcpframe.frame.core.roles import State
from mcpframe.frame.dialects.complete import complete_dialects
from mcpframe.frame.dialects.mcp_b.messages import NAME, READY, STOPPED
from mcpframe.frame.dialects.mcp_b.roles import IFRAME_CLIENT
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import limits
from mcpframe.hub.core.codec import LIMITS
from mcpframe.hub.core.transport import PortTransport
from mcpframe.hub.relay.link import RelayPort, ServerLink

log = logging.getLogger(__name__)

_OPTIONS = Options(handshake_timeout=None, unresponsive_after=None)


class FrameState(StrEnum):
    """The state of a frame: see the table of the module."""

    IDLE = "idle"
    QUIET = "quiet"
    RELAYED = "relayed"
    HOSTED = "hosted"


class FrameRelay:
    """One frame of a page, until it is removed.

    Args:
        post: Posts JSON text to a target origin, in the frame's window.
        watch: Switches between forwarding all messages of the frame, and only that it is ready or has stopped.
        connect: Returns a port for the frame with this address, which calls a function when the hub closes it; None if
            the frame is not to be relayed.
        disconnect: Called when the port is no longer used.
    """

    def __init__(
        self,
        post: Callable[[str, str], None],
        watch: Callable[[bool], None],
        connect: Callable[[str, Callable[[], None]], RelayPort | None],
        disconnect: Callable[[RelayPort], None],
        transport: PortTransport,
        clock: Clock,
    ) -> None:
        self.state = FrameState.IDLE
        self._post = post
        self._watch = watch
        self._connect = connect
        self._disconnect = disconnect
        self._transport = transport
        self._clock = clock
        self._origin = ""
        self._url = ""
        self._ready = ""
        self._ready_since = False
        self._stop_timer: Callable[[], None] = lambda: None
        self._link: ServerLink | None = None
        self._port: RelayPort | None = None

    def names_at(self, origin: str) -> frozenset[str]:
        """Return the names of the frame's tools if it is relayed and of this origin."""
        return self._link.relay.names if self._link is not None and self._origin == origin else frozenset()

    def receive(self, inbound: Inbound, url: str) -> None:
        """Take a message of the frame. Never raises.

        Args:
            inbound: The message event, with its origin from the browser.
            url: The address of the frame, of that origin.
        """
        try:
            text = inbound.read()
            message = payload.decode(text, **LIMITS)
        except (Unreadable, ValueError, MessageError):
            self._pass_on(inbound)
            return
        kind = IFRAME_CLIENT.codec.kind(message)
        if inbound.origin != self._origin:
            if kind != READY:
                return
            self._leave(FrameState.IDLE)  # another document, in any state
            self._origin = inbound.origin
        if kind == READY:
            self._is_ready(text, url)
        elif self._speaks_with_host(kind, message):
            self._ready_since = False
            if self.state is not FrameState.IDLE:
                self._leave(FrameState.HOSTED)
        elif kind == STOPPED and self.state is FrameState.QUIET:
            self._leave(FrameState.IDLE)
        else:
            self._pass_on(inbound)

    def replaced(self) -> None:
        """Note that another document was loaded in the frame; it may have been ready already."""
        if self.state is FrameState.HOSTED and self._ready_since:
            self._begin_quiet()
        elif self.state is not FrameState.QUIET:
            self._leave(FrameState.IDLE)

    def close(self) -> None:
        """Note that the frame, or its page, is gone."""
        self._leave(FrameState.IDLE)

    def _is_ready(self, text: str, url: str) -> None:
        self._ready, self._url = text, url
        if self.state is FrameState.HOSTED:
            self._ready_since = True
        else:
            self._begin_quiet()

    def _begin_quiet(self) -> None:
        self._leave(FrameState.QUIET)
        self._stop_timer = self._clock.call_later(limits.FRAME_QUIET_SECONDS, self._begin)

    def _begin(self) -> None:
        """Begin a session: the frame has no other host."""
        port = self._connect(self._url, lambda: self._leave(FrameState.HOSTED))
        if port is None:
            self._leave(FrameState.IDLE)
            return
        self.state, self._port = FrameState.RELAYED, port
        self._transport.connected(port)
        self._link = link = ServerLink(
            IFRAME_CLIENT,
            self._origin,
            self._post,
            port,
            self._clock,
            options=_OPTIONS,
            on_open=lambda: None,
            on_end=lambda _: self._ended(link),
            answer_seconds=limits.FRAME_START_SECONDS,
        )
        link.start()
        ready = self._ready
        link.receive(Inbound(self._origin, True, lambda: ready))

    def _ended(self, link: ServerLink) -> None:
        if self._link is link:
            self._leave(FrameState.IDLE)

    def _pass_on(self, inbound: Inbound) -> None:
        if self._link is not None:
            self._link.receive(inbound)

    def _leave(self, state: FrameState) -> None:
        """Change the state. A session ends without a message to the frame; its port ends before it."""
        self._stop_timer()
        self._stop_timer = lambda: None
        before, self.state = self.state, state
        port, self._port = self._port, None
        link, self._link = self._link, None
        if port is not None:
            self._transport.closed(port)
            self._disconnect(port)
        if link is not None:
            link.close()
        if state is FrameState.QUIET and before is not FrameState.QUIET:
            self._watch(True)
        elif state is not FrameState.QUIET and (
            before in (FrameState.QUIET, FrameState.RELAYED) or state is FrameState.HOSTED
        ):
            self._watch(False)

    def _speaks_with_host(self, kind: str | None, message: Any) -> bool:
        if kind in (READY, STOPPED):
            return False
        if kind is None:
            return is_past_opening(message)
        body = message["payload"]
        if self._link is None or not isinstance(body, dict):
            return True
        return "method" not in body and not self._link.relay.has_asked(body.get("id"))


def is_past_opening(message: Any) -> bool:
    """Return whether a framed page posts a message only to a host that has answered, in any dialect but MCP-B.

    Args:
        message: A parsed JSON value.
    """
    for each in complete_dialects():
        roles = [role for role in each.outer.values() if each.name != NAME]
        for role in roles:
            kind = role.codec.kind(_inner(message) if role.codec.reads_text else message)
            if kind is not None:
                return not any((State.AWAITING, kind) in other.by_trigger for other in roles)
    return False


def _inner(message: Any) -> Any:
    """Return the value of a message posted as JSON text."""
    if not isinstance(message, str):
        return message
    try:
        return payload.decode(message, **LIMITS)
    except MessageError:
        return None
