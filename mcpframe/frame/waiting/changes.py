"""Waiting with a deadline: for a change of some state, or for a coroutine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from mcpframe.frame.waiting.clock import Timers

T = TypeVar("T")


class Changes:
    """Wakes the coroutines that wait for a state, to check it again."""

    def __init__(self, clock: Timers) -> None:
        self._clock = clock
        self._waiting: list[Callable[[], None]] = []

    def __len__(self) -> int:
        """Return the number of waiting coroutines."""
        return len(self._waiting)

    def changed(self) -> None:
        """Wake all waiting coroutines."""
        for look in tuple(self._waiting):
            look()

    async def until(self, ready: Callable[[], T | None], seconds: float) -> T | None:
        """Wait until a function returns a value other than None.

        Args:
            ready: called now, and after each change.
            seconds: the longest time to wait.

        Returns:
            The value; None after the longest time.
        """
        if (value := ready()) is not None:
            return value
        future: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()

        def look() -> None:
            if not future.done() and (value := ready()) is not None:
                future.set_result(value)

        def end() -> None:
            if not future.done():
                future.set_result(None)

        stop_timer = self._clock.call_later(max(0.0, seconds), end)
        self._waiting.append(look)
        try:
            await future
        finally:
            stop_timer()
            self._waiting.remove(look)
        return ready()  # it may have changed since


class Listeners:
    """Functions that are called at an event."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[], None]] = {}

    def __len__(self) -> int:
        return len(self._listeners)

    def add(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Add a function, which may be added several times. Returns a function that removes it."""
        token = object()
        self._listeners[token] = listener
        return lambda: self._listeners.pop(token, None) and None

    def call(self) -> None:
        for listener in tuple(self._listeners.values()):
            listener()


async def pause(clock: Timers, seconds: float) -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    stop_timer = clock.call_later(seconds, future.cancel)
    try:
        await asyncio.wait({future})
    finally:
        stop_timer()


async def within(
    clock: Timers,
    seconds: float,
    work: Coroutine[Any, Any, T],
    error: Callable[[str], Exception],
    of: str = "The browser",
) -> T:
    """Return the result of a coroutine, within a deadline.

    Args:
        clock: the clock of the deadline.
        seconds: the longest time to wait.
        work: cancelled at the deadline.
        error: returns the error that is then raised, given a sentence.
        of: the party that does not answer, for that sentence.
    """
    task = asyncio.ensure_future(work)
    stop_timer = clock.call_later(seconds, task.cancel)
    try:
        await asyncio.wait({task})
    finally:
        stop_timer()
        task.cancel()
    if task.cancelled():
        raise error(f"{of} did not answer within {seconds:g} s.")
    return task.result()
