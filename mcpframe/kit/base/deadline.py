"""A deadline that raises an error of its own, which says what was waited for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


@asynccontextmanager
async def within(seconds: float, expired: Callable[[], Exception]) -> AsyncIterator[None]:
    """Cancel the block where it takes longer than so many seconds, and raise an error in place of `TimeoutError`.

    Args:
        seconds: The deadline.
        expired: Returns the error. Called only where the deadline has passed: a `TimeoutError` of the block's own is
            passed on as it is.
    """
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise expired() from None
