"""Detection of an unresponsive peer, without I/O. A page that computes for ever usually has a process of its own.

A `ping` is sent only while requests are pending and the peer has been silent for a while, or after a request was
cancelled, as the peer may hang in it: an idle session sets no timer. Every peer answers it, in every revision of MCP,
if only with an error. The answer is not passed on.
`static/host/liveness.js` is the same in JavaScript.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core.events import Unresponsive

_CANCELLING = 1.0
"""Seconds from the cancellation of a request until the peer is asked: most tools end by then."""


class Alive:
    """The responsiveness of one connection's peer.

    Attributes:
        deadline: the time to call `tick` next, in seconds; None for never.
    """

    def __init__(self, after: float | None) -> None:
        """Start without pending requests.

        Args:
            after: seconds of silence until the peer counts as unresponsive; a ping is sent after half of them. None
                sends none.
        """
        self.deadline: float | None = None
        self._silent = False
        self._half = None if after is None else after / 2
        self._last = 0.0
        self._asked = False
        self._doubted = False  # since a cancellation, until an answer to a ping
        self._pings = 0
        self._prefix = f"mcpframe-ping-{os.urandom(16).hex()}-"

    def expect(self, now: float) -> None:
        """Note that requests are pending."""
        if self._half is not None and self.deadline is None and not self._silent:
            self._last, self._asked = now, False
            self.deadline = now + self._half

    def doubt(self, now: float) -> None:
        """Note that a request was cancelled. Nobody waits for it any more, but the peer may still be computing."""
        if self._half is None or self._silent:
            return
        self._doubted = True
        if self.deadline is None or not self._asked:
            self._asked, self._last = False, now + min(_CANCELLING, self._half) - self._half
            self.deadline = self._last + self._half

    def heard(self, now: float) -> list[Unresponsive]:
        """Note that the peer has sent something; return the event if it responds again."""
        self._last, self._asked = now, False
        if not self._silent:
            return []
        self._silent = self._doubted = False
        return [Unresponsive(False)]

    def takes(self, message: Mapping[str, Any]) -> bool:
        """Note a well-formed message; return whether it answers one of these pings."""
        id_ = message.get("id")
        answers = isinstance(id_, str) and id_.startswith(self._prefix) and "method" not in message
        self._doubted = self._doubted and not answers
        return answers

    def tick(self, now: float, *, waits: bool) -> dict[str, Any] | Unresponsive | None:
        """Act on the deadline, if it has passed.

        Args:
            now: the time in seconds.
            waits: whether requests are still pending.

        Returns:
            The ping to send, or the event that the peer is unresponsive; usually None.
        """
        if self._half is None or self.deadline is None or now < self.deadline:
            return None
        self.deadline = None
        if not (waits or self._doubted):
            return None
        if now < self._last + self._half:  # it has sent something since: one timer serves any number of messages
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
        """Stop sending pings."""
        self.deadline, self._doubted = None, False
