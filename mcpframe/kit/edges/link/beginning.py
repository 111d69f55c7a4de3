"""The state of a client of the handshake era, which is repeated to each new page of its link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core import jsonrpc
from mcpframe.kit.edges.link.messages import ServerMessage


class Beginning:
    """The client's requests and notifications that set up its state."""

    def __init__(self) -> None:
        self._waiting: dict[jsonrpc.RequestId, Mapping[str, Any]] = {}
        self._kept: dict[str, Mapping[str, Any]] = {}

    def note(self, text: str, message: Mapping[str, Any]) -> None:
        """Record a message of the client."""
        method = message.get("method")
        if method in ("initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"):
            if "id" in message:
                self._waiting[message["id"]] = message
        elif method == "notifications/initialized":
            self._kept[method] = message

    def failed(self) -> None:
        """Record that open requests get no answer."""
        self._waiting.clear()

    def answered(self, server_message: ServerMessage) -> None:
        """Record an answer: only requests that the server has accepted are repeated."""
        assert server_message.id is not None
        message = self._waiting.pop(server_message.id, None)
        if message is None or "result" not in server_message.message:
            return
        method = message["method"]
        if method.startswith("resources/"):
            key = f"resources/subscribe {message.get('params', {}).get('uri')}"
            self._kept.pop(key, None)
            if method == "resources/unsubscribe":
                return
        else:
            key = method
        self._kept[key] = message

    def messages(self) -> list[Mapping[str, Any]]:
        """Return the messages to repeat, in order; none before the client is initialized."""
        if "initialize" not in self._kept:
            return []
        order = ("initialize", "notifications/initialized")
        first = [self._kept[key] for key in order if key in self._kept]
        return [*first, *(message for key, message in self._kept.items() if key not in order)]
