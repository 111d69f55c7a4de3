"""Tasks started by browser events: outside of any task, where no task group can be entered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

log = logging.getLogger(__name__)


def _log_error(error: BaseException) -> None:
    log.error("A part of the hub has failed.", exc_info=error)


class BackgroundTasks:
    """Tasks of one owner, who may end them. An exception in one leaves the others running.

    Args:
        on_error: Called with an exception of a task; by default it is logged.
    """

    def __init__(self, on_error: Callable[[BaseException], None] = _log_error) -> None:
        self._on_error = on_error
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task, and return it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    async def end(self) -> None:
        """Cancel all tasks, and wait until they have ended."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._on_error(error)
