"""A limit of a rate."""

from __future__ import annotations

from collections.abc import Callable


class TokenBucket:
    """Limits how often something happens: a burst at once, then a steady rate."""

    def __init__(self, burst: int, per_second: float, now: Callable[[], float]) -> None:
        """Start with a full bucket.

        Args:
            burst: the most tokens it holds.
            per_second: tokens added in each second.
            now: returns monotonic seconds.
        """
        self._burst = float(burst)
        self._per_second = per_second
        self._now = now
        self._left = self._burst
        self._at = now()

    def take(self) -> bool:
        """Take a token; return False if there is none."""
        now = self._now()
        self._left = min(self._burst, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
