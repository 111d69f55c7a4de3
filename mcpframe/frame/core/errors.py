"""Every error that the frame side raises or reports in an event.

McpFrameError
├── OriginError              an origin or an allow-list that cannot be used
├── EntryError               `module:object` does not name a server
├── ProgramError             a console script that ends without serving
├── LoadError                a lazy requirement cannot be loaded
├── SdkError                 the server's SDK lacks a feature
├── ViewError                a view of MCP Apps whose declaration is invalid
├── StateError               a local call that the connection's state does not allow
├── SetupFailed              raised by an author's setup function: the setup ends with an error code
│   └── SetupCancelled       the user cancelled it
├── StorageError             a value of the session cannot be kept or read
│   └── QuotaError           the browser's quota is exceeded
├── HostError                the host answered a request of the page with an error
│   ├── HostLacks            it does not offer the request
│   └── HostTimeout          it did not answer in time
├── AppError                 a view of MCP Apps cannot be shown, or answered a request of its host with an error
│   └── AppTimeout           it did not answer in time
├── UiError                  a UI resource of mcp-ui cannot be created or shown
├── KeptError                a handle of a kept value that is lost, or of another kind; or a value that cannot be kept
├── PageError                an element, an asset or the page itself is missing
├── MessageError             one message rejected; the session continues
│   ├── MalformedMessage     not the shape its type demands, or not JSON at all
│   ├── UnexpectedMessage    well-formed, but not in this state or from this side
│   ├── UnexpectedOrigin     the peer's window, but a page of another origin in it
│   ├── MessageTooLarge      more bytes than `max_message_bytes`
│   ├── MessageTooDeep       nested deeper than `max_nesting`
│   ├── PrototypeKey         carries a key that could reach a JavaScript prototype
│   └── TooManyPending       more unanswered requests than `max_pending`
└── SessionError             the session is over, or was never established
    ├── HandshakeTimeout     no answer within the deadline
    ├── HandshakeRefused     the peer answered the handshake with an error, or does not allow this origin
    ├── VersionMismatch      no protocol version in common
    ├── NoPeer               the page is neither framed nor opened by another page
    ├── PopupBlocked         the browser did not open the popup
    ├── PermissionsDenied    the inner frame needs permissions that the host did not grant
    └── PeerGone             the peer reloaded, navigated away, or was closed
"""

from __future__ import annotations

from typing import Any, ClassVar


class McpFrameError(Exception):
    """The base of every error mcpframe raises."""


class OriginError(McpFrameError, ValueError):
    """An origin or an allow-list that cannot be used. The message has the form to write instead."""


class EntryError(McpFrameError, TypeError):
    """An entry that does not lead to an MCP server. The message names the object found."""


class ProgramError(McpFrameError, RuntimeError):
    """A console script that exits or returns without serving. The message has its standard error."""


class LoadError(McpFrameError, ImportError):
    """A lazy requirement that is not in the bundle, or whose files cannot be fetched or do not match their hash."""


class SdkError(McpFrameError, RuntimeError):
    """A feature of mcpframe that the installed SDK does not support. The message has an alternative."""


class ViewError(McpFrameError, ValueError):
    """A view whose declaration is invalid. The message has the form to write instead."""


class StateError(McpFrameError, RuntimeError):
    """A local call in a state that does not allow it, such as sending before the handshake. Nothing was sent."""


class SetupFailed(McpFrameError):
    """Raised by an author's setup function to end the setup; the host gets the reason.

    Attributes:
        code: one of `CODES`.
        message: the reason, for a person.
    """

    CODES: ClassVar = ("USER_CANCELLED", "AUTH_FAILED", "TIMEOUT", "CONFIG_ERROR")

    def __init__(self, code: str, message: str) -> None:
        """Create the error.

        Args:
            code: one of `CODES` (SEP "postMessage Transport", MCP_SETUP_COMPLETE).
            message: a sentence for a person.

        Raises:
            ValueError: for another code.
        """
        if code not in self.CODES:
            raise ValueError(f"{code!r} is not a code of a failed setup; the codes are {', '.join(self.CODES)}.")
        super().__init__(message)
        self.code = code
        self.message = message


class SetupCancelled(SetupFailed):
    """Raised by an author's setup function: the user cancelled the setup."""

    def __init__(self, message: str = "The setup was cancelled.") -> None:
        super().__init__("USER_CANCELLED", message)


class StorageError(McpFrameError, RuntimeError):
    """A value cannot be kept or read: it has no JSON form, or the browser refuses. The message says which."""


class QuotaError(StorageError):
    """The browser's quota is exceeded. Values stored before are kept."""


class HostError(McpFrameError, RuntimeError):
    """The host answered a request of the page with an error, or declined it.

    Attributes:
        request: the method of the request, such as `"ui/open-link"`.
        code: the JSON-RPC code; None if the host declined without one.
        data: JSON values that the host added; None for none.
    """

    def __init__(self, message: str, request: str, code: int | None = None, data: Any = None) -> None:
        super().__init__(message)
        self.request = request
        self.code = code
        self.data = data


class HostLacks(HostError):
    """The host does not offer the request, or there is no host. The message names the request."""


class HostTimeout(HostError, TimeoutError):
    """The host did not answer in time. The request was cancelled."""


class AppError(McpFrameError, RuntimeError):
    """A view of MCP Apps cannot be shown, or it answered a request of its host with an error.

    Attributes:
        request: the method of the request, such as `"resources/read"`.
        code: the JSON-RPC code; None if there is none.
        data: JSON values that the view added; None for none.
    """

    def __init__(self, message: str, request: str = "", code: int | None = None, data: Any = None) -> None:
        super().__init__(message)
        self.request = request
        self.code = code
        self.data = data


class AppTimeout(AppError, TimeoutError):
    """The view did not answer in time. The request was cancelled."""


class UiError(McpFrameError, ValueError):
    """A UI resource of mcp-ui that cannot be created or shown. The message says why."""


class KeptError(McpFrameError, ValueError):
    """A handle whose value is no longer there or is of another kind, or a value that is too large to keep."""


class PageError(McpFrameError, LookupError):
    """A missing element, asset or answer of the page, or no page at all (outside of a browser)."""


class MessageError(McpFrameError, ValueError):
    """One message that is rejected. The state and the session are unchanged."""


class MalformedMessage(MessageError):
    """A message that claims a protocol type but does not have its shape, or has no JSON form."""


class UnexpectedMessage(MessageError):
    """A well-formed message that this state, or this side, does not accept, or a request whose id is in use."""


class UnexpectedOrigin(MessageError):
    """The page in the peer's window has an origin that is not allowed, or not the pinned one."""


class MessageTooLarge(MessageError):
    """A message of more than `max_message_bytes` bytes of JSON."""


class MessageTooDeep(MessageError):
    """A message nested deeper than `max_nesting` arrays and objects."""


class PrototypeKey(MessageError):
    """A message with `__proto__`, or with `constructor` holding a `prototype`: rejected in both directions."""


class TooManyPending(MessageError):
    """More than `max_pending` pending requests in one direction."""


class SessionError(McpFrameError, ConnectionError):
    """The session with the peer is over, or could not be established."""


class HandshakeTimeout(SessionError, TimeoutError):
    """The peer did not complete the next step of the handshake or the setup within its deadline."""


class HandshakeRefused(SessionError):
    """The peer answered the handshake with an error, or does not allow this side's origin. The message says which."""


class VersionMismatch(SessionError):
    """The peer and mcpframe have no version of the transport protocol in common."""


class NoPeer(SessionError):
    """The page was opened by itself: there is no host around it to talk to."""


class PopupBlocked(SessionError):
    """The browser blocked the popup. It opens one only in response to a click, and if popups are allowed."""


class PermissionsDenied(SessionError):
    """The inner frame asks for permissions that the host has not granted.

    Attributes:
        permissions: the missing ones, as `Permission`.
    """

    def __init__(self, message: str, permissions: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.permissions = permissions


class PeerGone(SessionError):
    """The peer's document is gone: reloaded, navigated away, removed or closed. Pending requests have failed."""
