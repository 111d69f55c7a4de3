"""Detects a framed page that computes without a pause, so that its event loop does not run, while a client waits.

Such a page cannot report it. The bridge evaluates an expression in the page over DevTools, which needs a turn of its
event loop; only while a client waits, so that idle pages cost nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

_INTERVAL = 2.0
"""Seconds between two evaluations."""

_AFTER_CANCELLATION = 5.0
"""Seconds for which a page may keep computing when no client waits for its answer."""


class BusyWatch:
    """Checks that one page has turns of its event loop while a client waits.

    Args:
        turn: returns when the page has had a turn.
        blocked: called once, with the seconds, if it had none for too long.
        limit: how many seconds it may compute without a pause while a client waits; 0 for no limit.
    """

    def __init__(self, turn: Callable[[], asyncio.Future[Any]], blocked: Callable[[float], None], limit: float) -> None:
        self._turn = turn
        self._blocked = blocked
        self._limit = limit
        self._awaited: Callable[[], bool] = lambda: False
        self._cancelled = asyncio.Event()
        self._until = 0.0
        self._task: asyncio.Task[None] | None = None

    def start(self, awaited: Callable[[], bool]) -> None:
        """Watch while `awaited` returns true. Does nothing if the page is watched already."""
        if self._limit > 0 and (self._task is None or self._task.done()):
            self._cancelled.clear()
            self._awaited = awaited
            self._task = asyncio.get_running_loop().create_task(self._run())

    def cancelled(self) -> None:
        """Record that the awaited request was cancelled: a page that computes for it does not get the whole limit."""
        # For a while: the cancelled request may still be on its way to the page.
        self._until = asyncio.get_running_loop().time() + _AFTER_CANCELLATION
        self._cancelled.set()

    def stop(self) -> None:
        """Stop watching."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        now = asyncio.get_running_loop().time
        while self._awaited() or now() < self._until:
            if seconds := await self._without_a_turn():
                self._blocked(seconds)
                return
            await self._wait((), _INTERVAL)

    async def _without_a_turn(self) -> float:
        """Check once: return 0 if the page has a turn in time, or else the seconds it had none."""
        now = asyncio.get_running_loop().time
        begun = now()
        end = begun + (self._limit if self._awaited() else _AFTER_CANCELLATION)
        turn = self._turn()
        while True:
            self._cancelled.clear()
            await self._wait([turn], end - now())
            if turn.done():
                self._cancelled.clear()
                return 0.0
            if self._cancelled.is_set():
                end = min(end, now() + _AFTER_CANCELLATION)
            elif self._awaited() and now() < begun + self._limit:
                end = begun + self._limit  # a client has sent a request since the cancellation
            elif now() >= end:
                return now() - begun

    async def _wait(self, futures: Sequence[asyncio.Future[Any]], seconds: float) -> None:
        """Wait for one of the tasks, a cancellation, or a time-out."""
        cancelled = asyncio.ensure_future(self._cancelled.wait())
        try:
            await asyncio.wait([*futures, cancelled], timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
        finally:
            cancelled.cancel()
