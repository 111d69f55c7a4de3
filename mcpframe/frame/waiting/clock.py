"""The clock of an event loop, in a page and in CPython, and what follows it: an alarm and a token bucket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol


class Timers(Protocol):
    """A clock with timers; tests have one that they move."""

    def now(self) -> float:
        """Return seconds that only ever rise."""
        ...

    def call_later(self, seconds: float, callback: Callable[[], object], /) -> Callable[[], None]:
        """Call a function later; the returned one prevents that, and may be called at any time."""
        ...


class Clock(Timers, Protocol):
    """A clock with timers that knows the date, too."""

    def wall(self) -> float:
        """Return seconds since 1970, which are stored."""
        ...


class LoopClock:
    """The `Clock` of the event loop that runs now."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def now(self) -> float:
        """Return seconds that only ever rise."""
        return self._loop.time()

    def wall(self) -> float:
        """Return seconds since 1970."""
        return datetime.now(UTC).timestamp()

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Callable[[], None]:
        """Call a function later; the returned one prevents that, and may be called at any time."""
        return self._loop.call_later(max(0.0, seconds), callback).cancel  # Pyodide's loop raises for the past


class Alarm:
    """One timer that follows a deadline which moves."""

    def __init__(self, clock: Timers, ring: Callable[[], object]) -> None:
        """Set no timer yet.

        Args:
            clock: the clock of the deadlines.
            ring: called once a deadline has passed. It sets the alarm again if there is another one.
        """
        self._clock = clock
        self._ring = ring
        self._deadline: float | None = None
        self._stop_timer: Callable[[], None] = lambda: None

    def set(self, deadline: float | None) -> None:
        """Ring at this time, and not at the earlier one; None for never."""
        if deadline == self._deadline:
            return
        self._stop_timer()
        self._deadline = deadline
        if deadline is not None:
            self._stop_timer = self._clock.call_later(max(0.0, deadline - self._clock.now()), self._rings)

    def _rings(self) -> None:
        self._deadline = None
        self._ring()


class TokenBucket:
    """Limits how often something happens: a burst at once, then a steady rate."""

    def __init__(self, burst: int, per_second: float, now: Callable[[], float]) -> None:
        """Start with a full bucket.

        Args:
            burst: how many tokens it holds.
            per_second: how many it gets in each second.
            now: returns seconds that only ever rise.
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
