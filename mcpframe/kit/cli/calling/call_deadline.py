"""The deadline of a call. It stands still while the user is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager

from mcpframe.kit.base.deadline import within

Pause = Callable[[], AbstractContextManager[None]]
"""Returns a context manager that stops the clock for its block."""


@asynccontextmanager
async def call_deadline(seconds: float, expired: Exception) -> AsyncIterator[Pause]:
    """Raise `expired` if the block, less its pauses, has not ended after a number of seconds."""
    async with within(seconds, lambda: expired) as limit:

        @contextmanager
        def pause() -> Iterator[None]:
            ends = limit.when()
            if ends is None or limit.expired():
                yield
                return
            left = max(0.0, ends - asyncio.get_running_loop().time())
            limit.reschedule(None)
            try:
                yield
            finally:
                limit.reschedule(asyncio.get_running_loop().time() + left)

        yield pause
