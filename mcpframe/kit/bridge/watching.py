"""Whether a framed page that a client waits for still has turns of its event loop, or computes without a pause.

The page cannot say so itself. It is asked over DevTools for an expression's value, which takes a turn; only while
somebody waits, so that idle pages cost nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

_INTERVAL = 2.0
"""Seconds between two questions."""

_AFTER_CANCELLATION = 5.0
"""Seconds that a page may compute on when nobody waits for its answer any more."""


class Watch:
    """Asks one page whether it has turns, for as long as it is waited for.

    Args:
        turn: asks the page; done when it has had a turn.
        blocked: called once, with the seconds, where it had none for too long.
        limit: how many seconds it may compute without a pause while somebody waits; 0 for ever.
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
        """Watch for as long as `awaited` returns true. Does nothing where the page is watched already."""
        if self._limit > 0 and (self._task is None or self._task.done()):
            self._cancelled.clear()
            self._awaited = awaited
            self._task = asyncio.get_running_loop().create_task(self._run())

    def cancelled(self) -> None:
        """Note that what was awaited has been cancelled: a page that computes for it does not get the whole limit."""
        # For a while: what was cancelled may be still on its way into the page.
        self._until = asyncio.get_running_loop().time() + _AFTER_CANCELLATION
        self._cancelled.set()

    def stop(self) -> None:
        """Ask no more."""
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
        """Ask once: 0 where the page has a turn in time, or else for how many seconds it had none."""
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
                end = begun + self._limit  # somebody has asked since the cancellation
            elif now() >= end:
                return now() - begun

    async def _wait(self, futures: Sequence[asyncio.Future[Any]], seconds: float) -> None:
        """Wait for one of them, for a cancellation, or for so long."""
        cancelled = asyncio.ensure_future(self._cancelled.wait())
        try:
            await asyncio.wait([*futures, cancelled], timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
        finally:
            cancelled.cancel()
