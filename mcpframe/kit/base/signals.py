"""The end of a program by a signal."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Cancel the block, which is in a task of its own, on SIGTERM and SIGHUP, and end it without an error then."""
    task = asyncio.current_task()
    assert task is not None
    asked_to_end = False

    def end() -> None:
        nonlocal asked_to_end
        asked_to_end = True
        task.cancel()

    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, end)
    try:
        yield
    except asyncio.CancelledError:
        if not asked_to_end:
            raise
