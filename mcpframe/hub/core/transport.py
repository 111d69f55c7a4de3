"""`TabTransport` over ports: one connection for each tab, JSON text in both directions.

The home of the hub says that a port is there, what it has sent, and that it has closed. Only the newest port of a tab
counts: what an older one still says, its end included, changes nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError, MessageTooLarge
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import messages
from mcpframe.hub.core.errors import InvalidArguments, TabFailed, TabNotFound
from mcpframe.hub.core.interfaces import OnProgress
from mcpframe.hub.core.messages import Form, ToolAnswer, ToolCall, ToolList, ToolProgress
from mcpframe.hub.core.names import domain_of
from mcpframe.hub.core.requests import RequestManager

log = logging.getLogger(__name__)


class TabPort(Protocol):
    """One connection to the proxy in a tab."""

    @property
    def tab(self) -> int:
        """The tab."""
        ...

    @property
    def url(self) -> str:
        """The address of the page, as the browser had it when the page connected."""
        ...

    def post(self, text: str) -> None:
        """Post JSON text. What it raises means that the connection has ended."""
        ...

    def close(self) -> None:
        """End the connection; nothing where it has ended."""
        ...


@dataclass(eq=False)
class _Connected:
    port: TabPort
    form: Form = "json-rpc"
    on_disconnect: Callable[[], None] | None = None


class PortTransport:
    """The transport.

    Args:
        clock: The time.
    """

    def __init__(self, clock: Clock) -> None:
        self._requests = RequestManager(clock)
        self._tabs: dict[int, _Connected] = {}
        self._on_message: Callable[[int, Any], None] = lambda tab, message: None

    @property
    def pending(self) -> int:
        """How many calls wait for an answer."""
        return len(self._requests)

    def connected(self, port: TabPort) -> None:
        """Take a new port, in the place of an earlier one of its tab: the page was loaded again, or another one."""
        self.disconnect(port.tab)
        self._tabs[port.tab] = _Connected(port)

    def received(self, port: TabPort, text: str) -> None:
        """Take what a port has sent. Nothing that it sends raises anything here.

        Args:
            port: The port.
            text: JSON text.
        """
        connected = self._current(port)
        if connected is None:
            return
        try:
            message = messages.parse(text)
            read = messages.read_from_proxy(message)
            if isinstance(read, ToolAnswer):
                if not self._requests.answered(port.tab, read):
                    log.debug("%s answered a call that does not wait, which is ignored.", domain_of(port.url))
            elif isinstance(read, ToolProgress):
                self._requests.progressed(port.tab, read)
            elif isinstance(read, ToolList):
                connected.form = read.form
                self._on_message(port.tab, message)
        except MessageError as error:
            log.warning("A message of %s is ignored: %s", domain_of(port.url), error)
            if (id_ := messages.id_of_answer(text)) is not None:
                failed = f"The page's answer cannot be passed on: {error}"
                self._requests.answered(port.tab, ToolAnswer(id_, None, failed))
        except Exception:  # whatever one tab causes must not end the others
            log.exception("A message of %s could not be handled.", domain_of(port.url))

    def closed(self, port: TabPort) -> None:
        """Note that a port has ended."""
        if self._current(port) is not None:
            self._end(port.tab)

    async def send_request(
        self, tab: int, message: ToolCall, seconds: float, on_progress: OnProgress | None = None
    ) -> ToolAnswer:
        """As `TabTransport.send_request`."""
        connected = self._tabs.get(tab)
        if connected is None:
            raise TabNotFound("The tab is not connected.", tab=tab)
        request = self._requests.begin(tab, seconds, on_progress)
        outcome: ToolAnswer | TabFailed | None = None
        try:
            self._post(connected, request.id, message, wants_progress=on_progress is not None)
            outcome = await request.outcome
        except asyncio.CancelledError:
            self._cancel(connected, request.id, "The caller has cancelled it.")
            raise
        finally:
            self._requests.end(request)
        if isinstance(outcome, TabFailed):
            self._cancel(connected, request.id, str(outcome))
            raise outcome
        return outcome

    def on_message(self, callback: Callable[[int, Any], None]) -> None:
        """As `TabTransport.on_message`."""
        self._on_message = callback

    def on_disconnect(self, tab: int, callback: Callable[[], None]) -> None:
        """As `TabTransport.on_disconnect`."""
        if connected := self._tabs.get(tab):
            connected.on_disconnect = callback

    def disconnect(self, tab: int) -> None:
        """As `TabTransport.disconnect`."""
        if connected := self._end(tab):
            self._guarded(connected.port.close)

    def url(self, tab: int) -> str | None:
        """As `TabTransport.url`."""
        return connected.port.url if (connected := self._tabs.get(tab)) else None

    def refresh(self, tab: int) -> None:
        """Ask a tab for its list of tools."""
        if connected := self._tabs.get(tab):
            text = payload.encode(messages.refresh(form=connected.form))
            self._guarded(lambda: connected.port.post(text))

    def close(self) -> None:
        """Close all ports."""
        for tab in list(self._tabs):
            self.disconnect(tab)

    def _current(self, port: TabPort) -> _Connected | None:
        connected = self._tabs.get(port.tab)
        return connected if connected is not None and connected.port is port else None

    def _end(self, tab: int) -> _Connected | None:
        connected = self._tabs.pop(tab, None)
        if connected is not None:
            self._requests.gone(tab)
            if connected.on_disconnect is not None:
                self._guarded(connected.on_disconnect)
        return connected

    def _post(self, connected: _Connected, id_: str, call: ToolCall, *, wants_progress: bool) -> None:
        message = messages.execute(id_, call.tool, call.arguments, progress=wants_progress, form=connected.form)
        try:
            text = messages.encode(message)
        except MessageTooLarge:
            most = f"{messages.MAX_MESSAGE_BYTES:,} bytes of JSON"
            raise InvalidArguments(f"The arguments are too large: a call may have {most}. Pass less at once.") from None
        except MessageError as error:
            raise InvalidArguments(f"The arguments cannot be passed to a page: {error}") from None
        try:
            connected.port.post(text)
        except Exception as error:  # a port may raise anything
            tab = connected.port.tab
            raise TabNotFound(f"The call could not be sent to its tab: {error}", tab=tab) from error

    def _cancel(self, connected: _Connected, id_: str, reason: str) -> None:
        if self._current(connected.port) is connected:
            text = payload.encode(messages.cancel(id_, reason, form=connected.form))
            self._guarded(lambda: connected.port.post(text))

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception:  # a port of a browser that has gone may raise anything
            log.exception("A port, or what waits for its end, has failed.")
