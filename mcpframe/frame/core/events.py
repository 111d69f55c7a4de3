"""The vocabulary between a window, a connection and a session: what comes in, what goes out, what happened.

All of it is plain data, so that every rule of a protocol can be tested without a browser, a clock or an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from mcpframe.frame.core.errors import MalformedMessage, MessageError, MessageTooDeep, MessageTooLarge, SessionError


class Unreadable(ValueError):
    """A message has no JSON text, or one that is out of all proportion to what was posted.

    Attributes:
        error: why not.
        outline: JSON text of a message with the same members as this one, as far as they say which dialect claims it
            and who waits for it.
    """

    def __init__(self, name: str, message: str, outline: str) -> None:
        """Say why, and who waits.

        Args:
            name: the name of a `MessageError`; any other stands for `MalformedMessage`.
            message: a sentence.
            outline: see the class.
        """
        super().__init__(message)
        kinds = {kind.__name__: kind for kind in (MessageTooLarge, MessageTooDeep)}
        self.error: MessageError = kinds.get(name, MalformedMessage)(message)
        self.outline = outline


@dataclass(frozen=True, slots=True)
class Inbound:
    """One `message` event, before anything in it was read.

    Attributes:
        origin: `event.origin`, as the browser reports it; `"null"` for an opaque origin.
        from_peer: whether `event.source` is the one window this connection talks to.
        read: gives the JSON text of `event.data`. It is called only once source and origin have passed, so what a
            stranger posts is never serialized. Raises `Unreadable` where the data has no JSON form, or a plain
            `ValueError` where nobody can wait for it.
    """

    origin: str
    from_peer: bool
    read: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Inbox:
    """What happened in this window before anybody listened: see `static/page/inbox.js`.

    Attributes:
        inbound: the message events, in their order, unread.
        dropped: how many more there were than are kept.
        called: whether the openings of this page were posted already.
    """

    inbound: tuple[Inbound, ...] = ()
    dropped: int = 0
    called: bool = False


@dataclass(frozen=True, slots=True)
class Send:
    """One message to post to the peer.

    Attributes:
        text: JSON text; the window turns it into a plain object and posts that.
        target_origin: the exact origin to post to. `"*"` only in a handshake before the origin is known, and to a peer
            of opaque origin that was opted in to.
    """

    text: str
    target_origin: str


class Departure(StrEnum):
    """How a window noticed that the peer's document is not the one it was."""

    REPLACED = "replaced"
    """Another document was loaded in the peer's window: a reload or a navigation."""
    REMOVED = "removed"
    """The peer's window itself is gone: the iframe was removed, the popup closed, or the page crashed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBegun:
    """The handshake is over: `Opened`, or the same in a phase that only one dialect has.

    Attributes:
        dialect: the dialect that is spoken, such as `"sep"`.
        origin: the pinned origin of the peer.
        session_id: the id of the session; None in a dialect without.
    """

    dialect: str
    origin: str
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened(SessionBegun):
    """The transport phase is open: both sides may send MCP messages."""


class OwnEvent:
    """The base of what only one dialect reports."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """One of several candidates is out before anybody answered it; the others go on.

    Attributes:
        dialect: the dialect that is not spoken.
        error: why.
    """

    dialect: str
    error: SessionError | None


@dataclass(frozen=True, slots=True)
class Received:
    """One MCP message for the session: a JSON-RPC object."""

    payload: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """One message was refused; nothing else changed. For the error hook.

    Attributes:
        error: what was wrong with it.
        origin: the origin it came from; None for one of our own.
    """

    error: MessageError
    origin: str | None


@dataclass(frozen=True, slots=True)
class Unresponsive:
    """Outer side: the peer does not answer while requests wait, or does again. See `unresponsive_after` of `Options`.

    Attributes:
        unresponsive: whether it does not answer.
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
    """One message at the gate, for a log of the wire. There is no time in it: it is given as the message passes.

    Attributes:
        direction: which way it went.
        text: its JSON text; None where it was not read, as nothing of a stranger is, or has no form in JSON.
        origin: where it came from, or the target origin that it was posted to; empty for one that was refused before
            the peer was known.
        refused: why it did not pass, in a sentence; None where it did.
    """

    direction: Literal["sent", "received"]
    text: str | None
    origin: str
    refused: str | None = None


Event = SessionBegun | OwnEvent | Withdrawn | Received | Refused | Unresponsive | Closed
Output = Send | Wire | Event


class Window(Protocol):
    """A way to the one peer window: the browser's, Playwright's, or a fake one for tests."""

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        """Start to listen for message events.

        Args:
            deliver: called for every message event of this page, whoever posted it.
            gone: called when the peer's document is noticed to be replaced or removed.

        Returns:
            A function that stops listening; calling it again does nothing.
        """
        ...

    def post(self, text: str, target_origin: str) -> None:
        """Post one message to the peer, in order. Never raises where the peer is gone: the message is lost then.

        Args:
            text: JSON text of the message.
            target_origin: the origin the peer's document must have to get it.
        """
        ...


class InnerWindow(Window, Protocol):
    """The way of a framed page to its host."""

    def take_inbox(self) -> Inbox:
        """Take over what happened before anybody listened; a second time there is nothing.

        Returns:
            What happened. Messages that come later are delivered to whoever listens.
        """
        ...
