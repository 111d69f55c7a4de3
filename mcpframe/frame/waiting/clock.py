"""The clock of an event loop, in a page and in CPython; an alarm on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol


class Timers(Protocol):
    """A clock with timers; tests move theirs by hand."""

    def now(self) -> float:
        """Return monotonic seconds."""
        ...

    def call_later(self, seconds: float, callback: Callable[[], object], /) -> Callable[[], None]:
        """Call a function later. The returned function cancels the call, and may be called at any time."""
        ...


class Clock(Timers, Protocol):
    """A clock with timers and the date."""

    def wall(self) -> float:
        """Return seconds since 1970, for values that are stored."""
        ...


class LoopClock:
    """The `Clock` of the running event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def now(self) -> float:
        """Return monotonic seconds."""
        return self._loop.time()

    def wall(self) -> float:
        """Return seconds since 1970."""
        return datetime.now(UTC).timestamp()

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Callable[[], None]:
        """Call a function later. The returned function cancels the call, and may be called at any time."""
        return self._loop.call_later(max(0.0, seconds), callback).cancel  # Pyodide's loop raises for negative delays


class Alarm:
    """One timer for a deadline that moves."""

    def __init__(self, clock: Timers, ring: Callable[[], object]) -> None:
        """Start without a timer.

        Args:
            clock: the clock of the deadlines.
            ring: called once a deadline has passed; sets the alarm again if there is another one.
        """
        self._clock = clock
        self._ring = ring
        self._deadline: float | None = None
        self._stop_timer: Callable[[], None] = lambda: None

    def set(self, deadline: float | None) -> None:
        """Replace the deadline; None for never."""
        if deadline == self._deadline:
            return
        self._stop_timer()
        self._deadline = deadline
        if deadline is not None:
            self._stop_timer = self._clock.call_later(max(0.0, deadline - self._clock.now()), self._rings)

    def _rings(self) -> None:
        self._deadline = None
        self._ring()
