"""The clock of an event loop, in a page and in CPython."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime


class LoopClock:
    """`Clock` of the event loop that runs now."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def now(self) -> float:
        """As `Clock.now`."""
        return self._loop.time()

    def wall(self) -> float:
        """As `Clock.wall`."""
        return datetime.now(UTC).timestamp()

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Callable[[], None]:
        """As `Clock.call_later`."""
        return self._loop.call_later(max(0.0, seconds), callback).cancel  # Pyodide's loop raises for the past
