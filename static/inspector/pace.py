"""How often something may happen: a burst at once, then so many a second. Plain data."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pace:
    """A bucket of tokens."""

    def __init__(self, *, burst: int, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with a full bucket.

        Args:
            burst: how many may happen at once.
            per_second: how many more in each second.
            clock: returns seconds.
        """
        self._most = float(burst)
        self._per_second = per_second
        self._clock = clock
        self._left = self._most
        self._at = clock()

    def passes(self) -> bool:
        """Return whether it may happen now, and count it."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
