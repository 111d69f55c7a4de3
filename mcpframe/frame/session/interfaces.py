"""The interfaces of the messages of a session, and of their handlers. For type checkers: no bundle contains it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

Json = Mapping[str, Any]


class Messages(Protocol):
    """The form of messages on the streams of a session: by default the SDK's."""

    def read(self, body: Mapping[str, Any]) -> Any:
        """Return a message of the peer in the form of the read stream. Raises ValueError if it is not one of MCP."""
        ...

    def text(self, item: Any) -> str:
        """Return the JSON text of a message to the peer. Raises any exception if it has none."""
        ...

    def members(self, item: Any) -> Mapping[str, Any]:
        """Return the members of a message to the peer, by name; their values are not copied."""
        ...


class Sends(Protocol):
    """The part of a session that is needed here."""

    def post(self, message: Json) -> None:
        """Post a JSON-RPC message. Raises `StateError` if the session is over."""


class Handler(Protocol):
    """A dialect's host API, for the messages of the host."""

    def notified(self, method: str, params: Json) -> bool:
        """Handle a notification of the host. Returns False for one that is for the server."""

    def asked(self, method: str, params: Json) -> Awaitable[Json] | None:
        """Return an awaitable of the answer to a request of the host; None for a request to the server."""

    def ended(self) -> None:
        """Handle the end of the session."""
