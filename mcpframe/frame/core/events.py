"""The vocabulary between a window, a connection and a session: input, output and events.

All of it is plain data, so that every rule of a protocol can be tested without a browser, a clock or an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from mcpframe.frame.core.errors import MalformedMessage, MessageError, MessageTooDeep, MessageTooLarge, SessionError


class Unreadable(ValueError):
    """A message has no JSON form, or one far larger than the posted object.

    Attributes:
        error: the reason.
        outline: JSON text of a reduced message: the members with its dialect and its id.
    """

    def __init__(self, name: str, message: str, outline: str) -> None:
        """Create it.

        Args:
            name: the name of a `MessageError`; any other stands for `MalformedMessage`.
            message: a sentence.
            outline: see the attribute.
        """
        super().__init__(message)
        kinds = {kind.__name__: kind for kind in (MessageTooLarge, MessageTooDeep)}
        self.error: MessageError = kinds.get(name, MalformedMessage)(message)
        self.outline = outline


class Large(ValueError):
    """A message is large, and was not read: most such messages are of other libraries.

    Attributes:
        head: JSON text of its members that tell whose it is.
        read: returns its JSON text after all, like `Inbound.read`.
    """

    def __init__(self, head: str, read: Callable[[], str]) -> None:
        super().__init__("The message is large.")
        self.head = head
        self.read = read


class Port(Protocol):
    """One end of a channel of messages, whose ends were handed over with a message to a window."""

    def listen(self, deliver: Callable[[Callable[[], str]], None]) -> None:
        """Start to listen. Messages since the channel was created come first.

        Args:
            deliver: called with the `Inbound.read` of each message.
        """
        ...

    def post(self, text: str) -> None:
        """Post JSON text to the other end; see `Window.post`."""
        ...

    def leave(self, *, close: bool) -> None:
        """Stop to listen; `close` ends the channel, too."""
        ...


@dataclass(frozen=True, slots=True)
class Inbound:
    """One `message` event, before anything in it was read.

    Attributes:
        origin: `event.origin`, as the browser reports it; `"null"` for an opaque origin.
        from_peer: whether `event.source` is the one window this connection talks to.
        read: returns the JSON text of `event.data`. It is called only after source and origin have passed, so that
            messages of strangers are never serialized. Raises `Large` if it has to be claimed first,
            `Unreadable` if the data has no JSON form, or a plain `ValueError` if no side can be waiting for it.
        port: the port that it came over; then the other two are those of the message that handed over the port. None
            for a message to the window.
        ports: returns the ports that are handed over with it.
    """

    origin: str
    from_peer: bool
    read: Callable[[], str]
    port: Port | None = None
    ports: Callable[[], Sequence[Port]] = tuple


@dataclass(frozen=True, slots=True)
class Inbox:
    """Message events that arrived before Python listened: see `static/page/inbox.js`.

    Attributes:
        inbound: the message events, in order, unread.
        dropped: the number of further events that were not kept.
        called: whether the openings of this page were already posted.
        refused: whether the host was told that its origin is not allowed.
        replies: JSON texts of the replies that were already posted to the host. They are not posted again.
    """

    inbound: tuple[Inbound, ...] = ()
    dropped: int = 0
    called: bool = False
    replies: tuple[str, ...] = ()
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Send:
    """One message to post to the peer.

    Attributes:
        text: JSON text; the window turns it into a plain object and posts that.
        target_origin: the exact origin to post to. `"*"` only for a handshake before the origin is known, and for a
            peer of opaque origin, which needs an opt-in.
        port: the port to post it to in place of the window; None for the window.
        hands_over: whether one port of a new channel goes with it; the other one is for `Connection.handed_over`.
    """

    text: str
    target_origin: str
    port: Port | None = None
    hands_over: bool = False


@dataclass(frozen=True, slots=True)
class Attend:
    """Listen on a port that was handed over, by the peer or to it, or stop to.

    Attributes:
        port: the port.
        origin: the peer's origin, as it was or had to be when the port was handed over; None to stop.
        close: whether the channel ends, too.
    """

    port: Port
    origin: str | None
    close: bool = False


class Departure(StrEnum):
    """The kind of change when the peer's document is gone."""

    REPLACED = "replaced"
    """Another document was loaded in the peer's window: a reload or a navigation."""
    REMOVED = "removed"
    """The peer's window itself is gone: the iframe was removed, the popup closed, or the page crashed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBegun:
    """The handshake has succeeded: `Opened`, or its counterpart in a phase that only one dialect has.

    Attributes:
        dialect: the dialect that is spoken, such as `"sep"`.
        origin: the pinned origin of the peer.
        session_id: the id of the session; None in dialects without ids.
    """

    dialect: str
    origin: str
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened(SessionBegun):
    """The transport phase is open: both sides may send MCP messages."""


class OwnEvent:
    """The base of events that only one dialect has."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """One of several candidates has failed before adoption; the others continue.

    Attributes:
        dialect: the dialect of the candidate.
        error: the reason.
    """

    dialect: str
    error: SessionError | None


@dataclass(frozen=True, slots=True)
class Received:
    """One MCP message for the session: a JSON-RPC object."""

    payload: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """A message was rejected; nothing else changed. For the error hook.

    Attributes:
        error: the reason.
        origin: the origin it came from; None for one of our own.
    """

    error: MessageError
    origin: str | None


@dataclass(frozen=True, slots=True)
class Unresponsive:
    """Outer side: the peer became unresponsive while requests are pending, or responds again.

    See `unresponsive_after` of `Options`.

    Attributes:
        unresponsive: whether it is unresponsive now.
    """

    unresponsive: bool


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection is over. The last output of every connection.

    Attributes:
        error: why, or None after a regular end.
    """

    error: SessionError | None = None


@dataclass(frozen=True, slots=True)
class Wire:
    """One message at the gate, for a wire log. It is reported at once and carries no time.

    Attributes:
        direction: its direction.
        text: its JSON text; None if it was not read, as for strangers, or has no JSON form.
        origin: its origin, or the target origin it was posted to; empty for one that was rejected before the peer was
            known.
        refused: the reason it was rejected, as a sentence; None if it passed.
    """

    direction: Literal["sent", "received"]
    text: str | None
    origin: str
    refused: str | None = None


Event = SessionBegun | OwnEvent | Withdrawn | Received | Refused | Unresponsive | Closed
Output = Send | Attend | Wire | Event


class Window(Protocol):
    """A way to the one peer window: the browser's, Playwright's, or a fake one for tests."""

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """Start to listen for message events.

        Args:
            deliver: called for every message event of this page, from any sender.
            gone: called when the peer's document has been replaced or removed.

        Returns:
            A function that stops listening; calling it again does nothing.
        """
        ...

    def post(self, text: str, target_origin: str) -> None:
        """Post one message to the peer, in order. Never raises: if the peer is gone, the message is lost.

        Args:
            text: JSON text of the message.
            target_origin: the origin that the peer's document must have to receive it.
        """
        ...


class InnerWindow(Window, Protocol):
    """The window of a framed page's host."""

    def take_inbox(self) -> Inbox:
        """Take over the message events that arrived before Python listened. A second call returns an empty inbox.

        Returns:
            The inbox. Later messages are delivered to the listener.
        """
        ...
