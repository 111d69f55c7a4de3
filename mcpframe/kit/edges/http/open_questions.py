"""The questions that clients have been asked and may still answer: a bridge that drains waits for these answers.

Between the question and the answer there is no request, so nothing else shows that a call is still going on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

SECONDS: Final = 600.0
"""Seconds for an answer: those of the SDK, and of the frame's suspended calls."""
_MOST: Final = 1000


class OpenQuestions:
    """The open questions, by their states; the oldest are forgotten first.

    Args:
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[int, float] = {}  # hashes of states, as a state may be large; oldest first

    def __len__(self) -> int:
        self._forget()
        return len(self._open)

    def asked(self, state: str) -> None:
        """Add a question."""
        self.answered(state)  # asked again: the newest now
        self._open[hash(state)] = self._clock() + SECONDS
        self._forget()

    def answered(self, state: str) -> None:
        """Remove a question."""
        self._open.pop(hash(state), None)

    def _forget(self) -> None:
        now = self._clock()
        while self._open and (len(self._open) > _MOST or next(iter(self._open.values())) <= now):
            del self._open[next(iter(self._open))]
