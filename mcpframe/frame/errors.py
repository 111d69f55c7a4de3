"""Every error the frame side raises, or hands over in an event.

McpFrameError
├── OriginError              an origin or an allow-list that cannot be used
├── EntryError               `module:object` does not name a server
├── LoadError                a lazy requirement cannot be loaded
├── StateError               a local call that the connection's state does not allow
├── MessageError             one message refused; the session goes on
│   ├── MalformedMessage     not the shape its type demands, or not JSON at all
│   ├── UnexpectedMessage    well-formed, but not in this state or from this side
│   ├── UnexpectedOrigin     the peer's window, but a page of another origin in it
│   ├── MessageTooLarge      more bytes than `max_message_bytes`
│   ├── MessageTooDeep       nested deeper than `max_nesting`
│   ├── PrototypeKey         carries a key that could reach a JavaScript prototype
│   └── TooManyPending       more unanswered requests than `max_pending`
└── SessionError             the session is over, or never came about
    ├── HandshakeTimeout     nobody answered within the deadline
    ├── VersionMismatch      no protocol version in common
    ├── NoPeer               the page is neither framed nor opened by another page
    └── PeerGone             the peer reloaded, navigated away, or was closed
"""

from __future__ import annotations


class McpFrameError(Exception):
    """The base of every error mcpframe raises."""


class OriginError(McpFrameError, ValueError):
    """An origin or an allow-list of origins that cannot be used. The message says what to write instead."""


class EntryError(McpFrameError, TypeError):
    """An entry `module:object` that does not lead to an MCP server. The message names what was found."""


class LoadError(McpFrameError, ImportError):
    """A lazy requirement that is not in the bundle, or whose files cannot be fetched or do not match their hash."""


class StateError(McpFrameError, RuntimeError):
    """A local call in a state that does not allow it, such as sending before the handshake. Nothing was sent."""


class MessageError(McpFrameError, ValueError):
    """One message that is refused. State and session are as they were before it."""


class MalformedMessage(MessageError):
    """A message that claims a protocol type but does not have its shape, or cannot be expressed as JSON."""


class UnexpectedMessage(MessageError):
    """A well-formed message that this state, or this side of the frame, does not take."""


class UnexpectedOrigin(MessageError):
    """The peer's window holds a page of an origin that is not allowed, or not the one that was pinned."""


class MessageTooLarge(MessageError):
    """A message of more than `max_message_bytes` bytes of JSON."""


class MessageTooDeep(MessageError):
    """A message nested deeper than `max_nesting` arrays and objects."""


class PrototypeKey(MessageError):
    """A message with `__proto__`, or with `constructor` holding a `prototype`: refused in both directions."""


class TooManyPending(MessageError):
    """More than `max_pending` requests without an answer in one direction."""


class SessionError(McpFrameError, ConnectionError):
    """The session with the peer is over, or could not be established."""


class HandshakeTimeout(SessionError, TimeoutError):
    """The peer did not take the next step of the handshake or of the setup within its deadline."""


class VersionMismatch(SessionError):
    """The peer speaks no version of the transport protocol that we speak."""


class NoPeer(SessionError):
    """The page was opened by itself: there is no host around it to talk to."""


class PeerGone(SessionError):
    """The peer's document is gone: reloaded, navigated away, removed or closed. Pending requests have failed."""
