"""The deadline of a call. It stands still while the user is asked."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager

from mcpframe.kit.base.deadline import within

Pause = Callable[[], AbstractContextManager[None]]
"""Returns a context manager that stops the clock for its block."""

_GRACE = 1.0
"""Seconds for the event loop to notice a deadline itself."""


@asynccontextmanager
async def call_deadline(seconds: float, expired: Exception) -> AsyncIterator[Pause]:
    """Raise `expired` if the block, less its pauses, has not ended after a number of seconds."""
    with _alarm(expired):
        async with within(seconds, lambda: expired) as limit:
            _ring_after(seconds + _GRACE)

            @contextmanager
            def pause() -> Iterator[None]:
                ends = limit.when()
                if ends is None or limit.expired():
                    yield
                    return
                left = max(0.0, ends - asyncio.get_running_loop().time())
                limit.reschedule(None)
                _ring_after(0)
                try:
                    yield
                finally:
                    limit.reschedule(asyncio.get_running_loop().time() + left)
                    _ring_after(left + _GRACE)

            yield pause


@contextmanager
def _alarm(expired: Exception) -> Iterator[None]:
    """Raise `expired` from the running code when it rings: if the event loop cannot notice the deadline.

    The SDK checks a result against the tool's output schema, and a pattern in the schema can block in `re` for years.
    """
    if not hasattr(signal, "setitimer"):  # on Windows
        yield
        return

    def interrupt(*_: object) -> None:
        raise expired

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        yield
    finally:
        _ring_after(0)
        signal.signal(signal.SIGALRM, before)


def _ring_after(seconds: float) -> None:
    """Let the alarm ring after a number of seconds; never after 0."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
