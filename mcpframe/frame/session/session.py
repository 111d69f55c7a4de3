"""A connection driven over a window, joined to the streams of the official SDK.

Writing has no queue and no task: an SDK message is posted before `send` returns.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from mcpframe.frame.compat import sdk
from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.errors import MalformedMessage, SessionError, StateError
from mcpframe.frame.core.events import (
    Closed,
    Event,
    Inbox,
    OwnEvent,
    Port,
    Received,
    Send,
    SessionBegun,
    Window,
    Wire,
)
from mcpframe.frame.session.incoming import Incoming
from mcpframe.frame.session.read_ahead import ReadAhead
from mcpframe.frame.waiting.clock import LoopClock
from mcpframe.frame.waiting.driver import Driver
from mcpframe.frame.waiting.streams import WriteStream

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

    from mcpframe.frame.session.interfaces import Messages

log = logging.getLogger(__name__)

EventHook = Callable[[Event], None]
WireHook = Callable[[Wire], None]
TakeInbox = Callable[[], Inbox]


class Intercept(Protocol):
    """Takes messages of the peer that are not for the streams."""

    def begun(self, session: Session, event: SessionBegun) -> None:
        """Handle the start of the session. Called before any later message."""
        ...

    def take(self, message: Mapping[str, Any]) -> bool:
        """Return whether a message was handled, and is not put on the stream."""
        ...


class Session:
    """One connection over one window, until either side ends it. Created by `open_session`.

    Attributes:
        connection: the connection that is driven.
        started: the event that began it: `Opened`, or the one of a phase of this dialect alone.
        own_event: the last `OwnEvent` of the dialect; None for none.
        streams: `(read, write)` for the SDK: `read` gives `SessionMessage | Exception`, `write` takes `SessionMessage`;
            other items if the session has other `Messages`.
    """

    started: SessionBegun

    def __init__(
        self,
        connection: Connection,
        window: Window,
        on_event: EventHook | None = None,
        on_wire: WireHook | None = None,
        take_inbox: TakeInbox = Inbox,
        messages: Messages | None = None,
        intercept: Intercept | None = None,
        hand_over: Callable[[str, str], Port] | None = None,
    ) -> None:
        """Prepare a session, which begins with `start`.

        Args:
            connection: a connection in its first state.
            window: the way to the peer.
            on_event: called with every event but `Received`, as it happens. Its exceptions propagate to the call that
                caused the event; from the window's callbacks they go to the event loop's exception handler.
            on_wire: called with every message, as it is sent, received or rejected: see `Wire`. Its exceptions
                propagate in the same way.
            take_inbox: called once, as soon as the session listens: returns earlier messages, which are received first.
            messages: the form of messages on the streams; by default the SDK's.
            intercept: gets every message of the peer before it is put on the stream.
            hand_over: see `places.HandingWindow`; None for a window without it.
        """
        self.connection = connection
        connection.watched = on_wire is not None
        self._window = window
        self._on_event = on_event
        self._on_wire = on_wire
        self._take_inbox = take_inbox
        self._replied: list[Any] = []  # in Python's place
        self._intercept = intercept
        self._hand_over_port = hand_over
        self._driver = Driver(connection, LoopClock(), self._post, self._take)
        self._stop_listening: Callable[[], None] = lambda: None
        loop = asyncio.get_running_loop()
        self._begun: asyncio.Future[SessionBegun] = loop.create_future()
        self._ended: asyncio.Future[Closed] = loop.create_future()
        self.own_event: OwnEvent | None = None
        self._messages = messages or sdk.SdkMessages()
        self._ahead = ReadAhead(self._hand_over)
        self._incoming = Incoming()
        self.streams: tuple[Incoming, Writer] = (self._incoming, Writer(self))

    @property
    def id(self) -> str:
        """The id of the session, given by the outer frame; empty in a dialect without ids."""
        return self.connection.session_id or ""

    @property
    def storage_key(self) -> str:
        """The key of the session's values in the browser: its id. In a dialect without ids, they belong to the host."""
        return self.id or f"{self.started.dialect} {self.origin}"

    @property
    def origin(self) -> str:
        """The pinned origin of the peer."""
        return self.connection.origin or ""

    def start(self) -> None:
        """Listen, begin the handshake, and receive earlier messages."""
        # All in one turn of the event loop, so that no new event comes between those of the inbox.
        self._stop_listening = self._window.listen(self._driver.receive, self._driver.gone)
        inbox = self._take_inbox()
        self._replied = [json.loads(text) for text in inbox.replies]
        self._driver.start(called=inbox.called, refused=inbox.refused)
        if inbox.dropped:
            self.connection.dropped["inbox"] += inbox.dropped
            log.warning(
                "%d messages came before this page was ready, beyond the %d that it keeps, and are lost.",
                inbox.dropped,
                len(inbox.inbound),
            )
        for inbound in inbox.inbound:
            self._driver.receive(inbound)

    async def begun(self) -> SessionBegun:
        """Wait for the handshake.

        Returns:
            The event that began the session.

        Raises:
            SessionError: if the handshake fails; see its subclasses.
        """
        done, _ = await asyncio.wait((self._begun, self._ended), return_when=asyncio.FIRST_COMPLETED)
        if self._begun in done:
            self.started = self._begun.result()
            return self.started
        raise self._ended.result().error or SessionError("The session was closed during the handshake.")

    @property
    def closed(self) -> Closed | None:
        """How the session ended; None before that."""
        return self._ended.result() if self._ended.done() else None

    async def ended(self) -> Closed:
        """Wait for the end of the session, and return how it ended."""
        return await asyncio.shield(self._ended)

    def act(self, act: str, body: Any = None) -> None:
        """Perform an act of this dialect alone, such as those of `session.setup_phase`.

        Raises:
            StateError: if the dialect does not have the act, or not in this state.
        """
        self._driver.act(act, body)

    def stop_calls(self, reason: str) -> None:
        """Cancel the unanswered calls of tools; see `Connection.stop_calls`."""
        self._driver.stop_calls(reason)

    def close(self) -> None:
        """End the session: pending requests fail, and the streams end. Closing again does nothing."""
        self._driver.close()

    def send(self, message: Any) -> None:
        """Post one message to the peer. One without a JSON form fails for the side that waits for it.

        Args:
            message: an item of the write stream; see `Messages`.

        Raises:
            StateError: if the session is not open.
        """
        self._driver.send(encoded(self._messages, message), self._messages.members(message))

    def post(self, message: Mapping[str, Any]) -> None:
        """Post a JSON-RPC object instead of an item of the write stream; see `send`."""
        self._driver.send(payload.encode(message), message)

    def _post(self, sent: Send) -> None:
        port: Port | None = None
        if sent.hands_over:
            if self._hand_over_port is None:
                return
            port = self._hand_over_port(sent.text, sent.target_origin)
        elif self._replied and (message := json.loads(sent.text)) in self._replied:
            self._replied.remove(message)
        elif sent.port:
            sent.port.post(sent.text)
        else:
            self._window.post(sent.text, sent.target_origin)
        if self._on_wire:
            self._on_wire(Wire("sent", sent.text, sent.target_origin))
        if port:
            self._driver.handed_over(port, sent.target_origin)

    def _take(self, output: Event | Wire) -> None:
        if isinstance(output, Received):
            self._receive(output)
        elif isinstance(output, Wire):
            if self._on_wire:
                self._on_wire(output)
        else:
            self._note(output)

    def _receive(self, event: Received) -> None:
        if self._intercept and self._intercept.take(event.payload):
            return
        self._ahead.take(event.payload)

    def _hand_over(self, message: Mapping[str, Any]) -> None:
        try:
            item = self._messages.read(message)
        except ValueError as error:
            answer, item = refusal(self._messages, message, error)
            if answer is not None:
                self.post(answer)
        if not self._incoming.put(item):
            self.connection.dropped["unread"] += 1  # the SDK has stopped reading

    def _note(self, event: Event) -> None:
        if isinstance(event, SessionBegun) and not self._begun.done():
            self._replied.clear()
            self._begun.set_result(event)
            if self._intercept:
                self._intercept.begun(self, event)
        elif isinstance(event, OwnEvent):
            self.own_event = event
        elif isinstance(event, Closed):
            self._stop_listening()
            self._ahead.close()
            self._incoming.end()
            if not self._ended.done():
                self._ended.set_result(event)
        if self._on_event:
            self._on_event(event)


def encoded(messages: Messages, item: Any) -> str | MalformedMessage:
    """Return the JSON text of an item of a write stream; the error if it has none."""
    try:
        text = messages.text(item)
    except Exception as error:  # noqa: BLE001  an author's serializer may raise anything
        reason = payload.well_formed(str(error)).partition("\n")[0][:500]
        return MalformedMessage(f"The message has no form in JSON: {reason}")
    if payload.overflows(text):
        return MalformedMessage("The message has an integer beyond ±1.8e308, which JavaScript does not have.")
    return text


def refusal(messages: Messages, body: Mapping[str, Any], error: ValueError) -> tuple[dict[str, Any] | None, Any]:
    """Return what a message that is not valid MCP becomes.

    Args:
        messages: the form of messages on the streams.
        body: the message, a well-formed JSON-RPC object.
        error: the reason.

    Returns:
        The answer to a request, and the item for the read stream in its place.
    """
    id_ = jsonrpc.request_id(body)
    why = payload.well_formed(str(error)).partition("\n")[0]
    if jsonrpc.is_request(body):
        return jsonrpc.error_response(id_, jsonrpc.INVALID_REQUEST, f"This is not a request of MCP: {why}"), error
    if id_ is None:
        return None, error
    text = f"The answer is not a JSON-RPC response of MCP: {why}"
    return None, messages.read(jsonrpc.error_response(id_, jsonrpc.INTERNAL_ERROR, text))


class Writer(WriteStream):
    """The SDK's write stream of a session. Closing it closes the session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def send(self, item: Any, /) -> None:
        """Post one message.

        Raises:
            anyio.ClosedResourceError: if the session is not open, as the SDK expects of its streams.
        """
        try:
            self._session.send(item)
        except StateError:
            raise anyio.ClosedResourceError from None

    async def aclose(self) -> None:
        """Close the session."""
        self._session.close()


@asynccontextmanager
async def open_session(
    connection: Connection,
    window: Window,
    *,
    on_event: EventHook | None = None,
    on_wire: WireHook | None = None,
    take_inbox: TakeInbox = Inbox,
    messages: Messages | None = None,
    intercept: Intercept | None = None,
    waiting: AbstractAsyncContextManager[None] | None = None,
) -> AsyncIterator[Session]:
    """Do the handshake and yield the open session; close it at the end.

    Args:
        connection: a connection in its first state.
        window: the way to the peer.
        on_event: see `Session`.
        on_wire: see `Session`.
        take_inbox: see `Session`.
        messages: see `Session`.
        intercept: see `Session`.
        waiting: entered for the duration of the handshake.

    Yields:
        The session, past its handshake.

    Raises:
        SessionError: if the handshake fails; see its subclasses.
    """
    session = Session(connection, window, on_event, on_wire, take_inbox, messages, intercept)
    try:
        async with waiting or nullcontext():
            session.start()
            await session.begun()
        yield session
    finally:
        session.close()
        session.streams[0].close()


@asynccontextmanager
async def transport(
    connection: Connection, window: Window, *, on_event: EventHook | None = None, on_wire: WireHook | None = None
) -> AsyncIterator[TransportStreams]:
    """Open a session as a transport of the SDK, for `mcp.Client(transport(...))`; see `open_session`."""
    async with open_session(connection, window, on_event=on_event, on_wire=on_wire) as session:
        yield session.streams
