"""`TabTransport` over ports: one connection for each tab.

The home of the hub reports new ports, their messages, and their ends. Only the newest port of a tab counts: messages of
an older one, and its end, change nothing.
"""

from __future__ import annotations

import itertools
import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from mcpframe.frame.core.errors import MessageError, MessageTooLarge, TooManyPending
from mcpframe.frame.waiting.clock import Clock
from mcpframe.frame.waiting.peer import Overdue, Peer
from mcpframe.hub.core import limits
from mcpframe.hub.core.codec import ProxyCodec, id_of_answer
from mcpframe.hub.core.errors import InvalidArguments, RequestTimedOut, TabBusy, TabClosed, TabNotFound
from mcpframe.hub.core.interfaces import OnProgress
from mcpframe.hub.core.messages import (
    CallCancelled,
    FromHub,
    FromProxy,
    PageRequest,
    RefreshRequest,
    ToolAnswer,
    ToolList,
    ToolProgress,
)
from mcpframe.hub.core.names import domain_of

log = logging.getLogger(__name__)


class TabPort(Protocol):
    """One connection to the proxy in a tab."""

    @property
    def tab(self) -> int: ...

    @property
    def url(self) -> str:
        """The address of the page when it connected, from the browser."""
        ...

    def post(self, message: FromHub) -> None:
        """Post a message. Any other exception means that the connection has ended.

        Raises:
            MessageError: The arguments of a call cannot be passed to a page.
        """
        ...

    def close(self) -> None:
        """End the connection. Does nothing if it has ended."""
        ...


@dataclass(eq=False)
class _Connected:
    port: TabPort
    calls: Peer[str, ToolAnswer]
    on_disconnect: Callable[[], None] = field(default=lambda: None)


class PortTransport:
    """`TabTransport` over ports."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tabs: dict[int, _Connected] = {}
        self._on_list: Callable[[int, ToolList], None] = lambda tab, tools: None

    @property
    def pending(self) -> int:
        """The number of unanswered calls."""
        return sum(len(connected.calls) for connected in self._tabs.values())

    def connected(self, port: TabPort) -> None:
        """Take a new port. It replaces an earlier one of its tab, whose page was reloaded or replaced."""
        self.disconnect(port.tab)
        ids = (str(uuid.uuid4()) for _ in itertools.repeat(None))
        self._tabs[port.tab] = _Connected(port, Peer(ids, limit=limits.PENDING_CALLS, clock=self._clock))

    def received(self, port: TabPort, message: FromProxy) -> None:
        """Take a message of a port. Never raises."""
        connected = self._current(port)
        if connected is None:
            return
        try:
            if isinstance(message, ToolList):
                self._on_list(port.tab, message)
            elif isinstance(message, ToolProgress):
                if on_progress := connected.calls.progressed(message.id):
                    on_progress(message)
            elif not connected.calls.answered(message.id, message):
                log.debug("%s answered a call that is not pending: the answer is ignored.", domain_of(port.url))
        except Exception:  # one tab must not end the others
            log.exception("A message of %s could not be handled.", domain_of(port.url))

    def closed(self, port: TabPort) -> None:
        """Note that a port has closed."""
        if self._current(port) is not None:
            self._end(port.tab)

    async def send_request(
        self, tab: int, message: PageRequest, seconds: float, on_progress: OnProgress | None = None
    ) -> ToolAnswer:
        connected = self._tabs.get(tab)
        if connected is None:
            raise TabNotFound("The tab is not connected.", tab=tab)
        port, begun = connected.port, self._clock.now()

        def cancel(id_: str, reason: str) -> None:
            if self._current(port) is connected:
                _guarded(lambda: port.post(CallCancelled(id_, reason)))

        try:
            return await connected.calls.ask(
                lambda id_: _post(port, replace(message, id=id_, progress=on_progress is not None)),
                within=seconds,
                longest=max(limits.CALL_SECONDS, seconds),
                cancel=cancel,
                on_progress=on_progress,
            )
        except TooManyPending:
            raise TabBusy(
                f"{limits.PENDING_CALLS} calls of this tab wait for their answers: try again later.", tab=tab
            ) from None
        except Overdue:
            passed = self._clock.now() - begun
            raise RequestTimedOut(f"The tab did not answer within {passed:.0f} s.", tab=tab) from None

    def on_list(self, callback: Callable[[int, ToolList], None]) -> None:
        self._on_list = callback

    def on_disconnect(self, tab: int, callback: Callable[[], None]) -> None:
        if connected := self._tabs.get(tab):
            connected.on_disconnect = callback

    def disconnect(self, tab: int) -> None:
        if connected := self._end(tab):
            _guarded(connected.port.close)

    def url(self, tab: int) -> str | None:
        return connected.port.url if (connected := self._tabs.get(tab)) else None

    def refresh(self, tab: int) -> None:
        if connected := self._tabs.get(tab):
            _guarded(lambda: connected.port.post(RefreshRequest()))

    def close(self) -> None:
        for tab in list(self._tabs):
            self.disconnect(tab)

    def _current(self, port: TabPort) -> _Connected | None:
        connected = self._tabs.get(port.tab)
        return connected if connected is not None and connected.port is port else None

    def _end(self, tab: int) -> _Connected | None:
        connected = self._tabs.pop(tab, None)
        if connected is not None:
            connected.calls.close(lambda: TabClosed("The tab ended before it answered.", tab=tab))
            _guarded(connected.on_disconnect)
        return connected


class TextPort:
    """A `TabPort` to a proxy that speaks JSON text, in either form of `codec`.

    Args:
        url: The address of its page, from the browser.
        post: Posts JSON text. Any exception means that the connection has ended.
        close: Ends the connection.
    """

    def __init__(
        self, tab: int, url: str, post: Callable[[str], None], close: Callable[[], None], transport: PortTransport
    ) -> None:
        self.tab = tab
        self.url = url
        self._post_text = post
        self._close = close
        self._transport = transport
        self._codec = ProxyCodec()

    def post(self, message: FromHub) -> None:
        self._post_text(self._codec.write(message))

    def close(self) -> None:
        self._close()

    def received(self, text: str) -> None:
        """Take text of the proxy. Never raises."""
        try:
            message = self._codec.read(text)
        except MessageError as error:
            log.warning("A message of %s is ignored: %s", domain_of(self.url), error)
            id_ = id_of_answer(text)
            message = None if id_ is None else unreadable(id_, error)
        if message is not None:
            self._transport.received(self, message)


def unreadable(id_: str, error: MessageError) -> ToolAnswer:
    """Return the failure of a call whose answer cannot be passed on."""
    return ToolAnswer(id_, None, f"The page's answer cannot be passed on: {error}")


def _post(port: TabPort, call: PageRequest) -> None:
    try:
        port.post(call)
    except MessageTooLarge:
        most = f"{limits.HUB_MESSAGE_BYTES:,} bytes of JSON"
        raise InvalidArguments(f"The arguments are too large: a call may have {most}. Pass less at once.") from None
    except MessageError as error:
        raise InvalidArguments(f"The arguments cannot be passed to a page: {error}") from None
    except Exception as error:  # a port may raise anything
        raise TabNotFound(f"The call could not be sent to its tab: {error}", tab=port.tab) from error


def _guarded(action: Callable[[], None]) -> None:
    try:
        action()
    except Exception:  # a port of a closed browser may raise anything
        log.exception("A port, or a callback for its end, has failed.")
