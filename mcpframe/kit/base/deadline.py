"""A deadline that raises a given error, which can name the operation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


@asynccontextmanager
async def within(seconds: float, expired: Callable[[], Exception]) -> AsyncIterator[asyncio.Timeout]:
    """Cancel the block after a number of seconds, and raise a given error instead of `TimeoutError`.

    The block gets the `asyncio.Timeout`, and may move it.

    Args:
        expired: Returns the error. It is called only if the deadline has passed; a `TimeoutError` that the block raises
            itself is not changed.
    """
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield limit
    except TimeoutError:
        if not limit.expired():
            raise
        raise expired() from None
