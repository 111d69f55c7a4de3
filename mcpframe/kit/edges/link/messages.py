"""Messages of a server on their way to a client: checked where they enter the bridge, and counted until they are read.

An invalid message is dropped. An invalid answer is replaced by an error answer, so that the request does not wait for
ever.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.errors import MalformedMessage, MessageError

MOST_UNREAD: Final = 256 * 1024 * 1024
"""The most bytes that may wait for one client: four messages of the largest size that a frame sends by default."""


@dataclass(frozen=True)
class ServerMessage:
    """One JSON-RPC message of the server: its text, and the fields of its head that decide its route."""

    text: str
    id: str | int | None = None
    method: str | None = None

    @cached_property
    def message(self) -> dict[str, Any]:
        """The message, parsed."""
        message: dict[str, Any] = payload.loads(self.text)
        return message


def checked(server_message: ServerMessage) -> ServerMessage:
    """Check a message of the server.

    Returns:
        The message, or the error answer that replaces it.

    Raises:
        MessageError: it is not a valid message, and answers no request.
    """
    try:
        _check(server_message)
    except MessageError as error:
        id_ = jsonrpc.usable_id(server_message.id)
        if server_message.method is not None or id_ is None:
            raise
        text = f"The server's answer is not one that MCP allows: {error}"
        return ServerMessage(payload.encode(jsonrpc.error_response(id_, jsonrpc.INTERNAL_ERROR, text)), id_)
    return server_message


def _check(server_message: ServerMessage) -> None:
    try:
        message = server_message.message
    except (ValueError, RecursionError) as error:
        raise MalformedMessage(f"The message is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise MalformedMessage("The message is not an object.")
    jsonrpc.request_id(message)
    if (message.get("id"), message.get("method")) != (server_message.id, server_message.method):
        raise MalformedMessage("The message does not match its head.")
    payload.check_content(server_message.text, message)


class Unread:
    """The bytes that wait for one client. Threads may share it.

    Args:
        limit: The maximum.
    """

    def __init__(self, limit: int = MOST_UNREAD) -> None:
        self._limit = limit
        self._bytes = 0
        self._lock = threading.Lock()

    def add(self, size: int) -> bool:
        """Count waiting bytes, and return whether the limit allows them; otherwise they are not counted."""
        with self._lock:
            if self._bytes and self._bytes + size > self._limit:  # a single message may always wait
                return False
            self._bytes += size
            return True

    def remove(self, size: int) -> None:
        """Count bytes as read."""
        with self._lock:
            self._bytes -= size
