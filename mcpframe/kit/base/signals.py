"""The end of a program by a signal."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_ENDING = ("SIGTERM", "SIGHUP")


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Cancel the block, which is in a task of its own, on SIGTERM and SIGHUP, and end it without an error then.

    On Windows nothing sends them: a program ends with its standard input, by Ctrl-C, or at once.
    """
    task = asyncio.current_task()
    assert task is not None
    asked_to_end = False

    def end() -> None:
        nonlocal asked_to_end
        asked_to_end = True
        task.cancel()

    for name in _ENDING:
        if hasattr(signal, name):
            with suppress(NotImplementedError):  # event loops of Windows
                asyncio.get_running_loop().add_signal_handler(getattr(signal, name), end)
    try:
        yield
    except asyncio.CancelledError:
        if not asked_to_end:
            raise
