"""Whether the peer still answers, without I/O: a page that computes for ever mostly has a process of its own.

The peer is asked only while requests wait and nothing has come from it for a while: an idle session sets no timer. It
is asked with a `ping` of JSON-RPC, which every peer answers in every revision of MCP, with an error where it is
unknown. The answer goes no further. The same in JavaScript: `static/host/host-alive.js`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core.events import Unresponsive


class Alive:
    """What one connection knows of its peer's answering.

    Attributes:
        deadline: when `tick` wants to be called, in seconds; None for never.
    """

    def __init__(self, after: float | None) -> None:
        """Know nothing yet.

        Args:
            after: seconds without an answer until the peer counts as silent; it is asked after half of them. None never
                asks.
        """
        self.deadline: float | None = None
        self._silent = False
        self._half = None if after is None else after / 2
        self._last = 0.0
        self._asked = False
        self._pings = 0
        self._prefix = f"mcpframe-ping-{os.urandom(16).hex()}-"

    def expect(self, now: float) -> None:
        """Take note that requests wait."""
        if self._half is not None and self.deadline is None and not self._silent:
            self._last, self._asked = now, False
            self.deadline = now + self._half

    def heard(self, now: float) -> list[Unresponsive]:
        """Take note that the peer has spoken; return what is new about that."""
        self._last, self._asked = now, False
        if not self._silent:
            return []
        self._silent = False
        return [Unresponsive(False)]

    def is_answer(self, message: Mapping[str, Any]) -> bool:
        """Return whether a well-formed message answers one of these pings."""
        id_ = message.get("id")
        return isinstance(id_, str) and id_.startswith(self._prefix) and "method" not in message

    def tick(self, now: float, *, waits: bool) -> dict[str, Any] | Unresponsive | None:
        """Let time pass.

        Args:
            now: the time in seconds.
            waits: whether requests wait still.

        Returns:
            The ping to send, or that the peer is silent; None mostly.
        """
        if self._half is None or self.deadline is None or now < self.deadline:
            return None
        self.deadline = None
        if not waits:
            return None
        if now < self._last + self._half:  # it has spoken meanwhile: one timer does for any number of messages
            self.deadline = self._last + self._half
            return None
        if self._asked:
            self._silent = True
            return Unresponsive(True)
        self._last, self._asked = now, True
        self.deadline = now + self._half
        self._pings += 1
        return {"jsonrpc": "2.0", "id": f"{self._prefix}{self._pings}", "method": "ping"}

    def stop(self) -> None:
        """Ask no more."""
        self.deadline = None
