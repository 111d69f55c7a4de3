"""Read all posted messages of the peer before handing over its next request.

A page has one thread: while a tool computes, messages wait in the browser. If each request were handed over as it is
read, the next one would begin before its cancellation, or a `ping` behind it, has been read. So a request waits for a
turn of the event loop without further messages, and requests are handed over one at a time: by then the tool of the
previous one has begun, and messages that arrived while it computed are read before the next one. Between requests that
take no time, only one in a few milliseconds waits for a turn: it costs as much as a short call.
A message's `timeStamp` would not tell whether it waited: in a frame of another site it is the time of delivery.

- A request that is cancelled while it waits is dropped, with its cancellation.
- A `ping`, and the cancellation of a request that has been handed over, do not wait.
- Everything else stays in order.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from mcpframe.frame.compat.batching import call_after_turn, call_when_idle
from mcpframe.frame.core import jsonrpc

_STEPS: Final = 30
"""The most rounds of callbacks until a request has reached its tool; the SDKs take about ten."""
_UNREAD: Final = 0.004
"""The longest that messages may have waited unread when a request is handed over, in seconds."""
_MOST_TURNS: Final = 20
"""The most turns that a request waits, for a peer that posts without a pause."""


class ReadAhead:
    """A queue of messages from a peer to its server."""

    def __init__(self, hand_over: Callable[[Mapping[str, Any]], None]) -> None:
        """Start with an empty queue, in a running event loop.

        Args:
            hand_over: called with each message for the server.
        """
        self._hand_over = hand_over
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Mapping[str, Any]] = deque()
        self._in_turn = False
        self._came = False  # in this turn
        self._turns = 0
        self._turned = 0.0  # when the last turn was over

    def take(self, message: Mapping[str, Any]) -> None:
        """Queue a message of the peer."""
        self._came = True
        cancelled = jsonrpc.cancelled_id(message)
        if cancelled is not None:
            for request in self._waiting:
                if jsonrpc.is_request(request) and request["id"] == cancelled:
                    self._waiting.remove(request)
                    return
        is_request = jsonrpc.is_request(message)
        if cancelled is not None or message.get("method") == "ping" or not (is_request or self._waiting):
            self._hand_over(message)
            return
        self._waiting.append(message)
        if not self._in_turn:
            self._came, self._in_turn = False, True
            call_after_turn(self._loop, self._turn_over)

    def close(self) -> None:
        """Hand over the queued messages except requests, which cannot be answered any more."""
        while self._waiting:
            message = self._waiting.popleft()
            if not jsonrpc.is_request(message):
                self._hand_over(message)

    def _turn_over(self) -> None:
        self._turned = self._loop.time()
        self._turns += 1
        if self._came and self._waiting and self._turns < _MOST_TURNS:
            self._came = False
            call_after_turn(self._loop, self._turn_over)
        else:
            self._turns = 0
            self._next()

    def _next(self) -> None:
        self._came = False
        self._in_turn = self._hand_over_next()
        if self._in_turn:
            call_when_idle(self._loop, self._rested, _STEPS)

    def _hand_over_next(self) -> bool:
        """Hand over the next request and the messages before it; return whether there was one."""
        while self._waiting:
            message = self._waiting.popleft()
            self._hand_over(message)
            if jsonrpc.is_request(message):
                return True
        return False

    def _rested(self) -> None:
        if self._came or self._loop.time() - self._turned > _UNREAD:
            call_after_turn(self._loop, self._turn_over)
        else:
            self._next()
