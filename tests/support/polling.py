"""Waiting for a condition that nothing reports."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import anyio


async def until(condition: Callable[[], Any], seconds: float = 120, *, pause: float = 0) -> Any:
    """Poll until a function, which may be async, returns something true, and return that.

    Args:
        seconds: the deadline.
        pause: seconds between two polls, for what happens in another program; otherwise a turn of the event loop.
    """
    with anyio.fail_after(seconds):
        while True:
            found = condition()
            if inspect.isawaitable(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(pause)
