"""The tasks of a server: who may ask for one, how many there are, and how much their results may take.

A task answers only the user whose call it was: for others there is none. One user's tasks are bounded as well as those
of all, so that no user takes the place of others.

Source: extension `io.modelcontextprotocol/tasks`, 2026-07-28, "Security Considerations".
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

from mcpframe.frame.serving.running_task import RunningTask

MOST: Final = 64
"""The tasks that are kept, whether they have ended or not."""
MOST_OF_USER: Final = 16
"""Those of one user."""
MOST_BYTES: Final = 64 * 1024 * 1024
"""The bytes of all results that are kept: `MESSAGE_BYTES`, as the largest answer."""
MOST_BYTES_OF_USER: Final = 16 * 1024 * 1024
"""Those of one user; so also the largest result."""


class KeptTasks:
    """The tasks that clients may ask for.

    Args:
        seconds: How long a task is kept after it was begun.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._tasks: dict[str, RunningTask] = {}

    def add(self, task: RunningTask) -> None:
        """Keep a task, and forget the oldest one that has ended if there are too many.

        Raises:
            MCPError: None of them has ended.
        """
        own = self._of(task.user)
        if len(own) >= MOST_OF_USER:
            self._make_room(own, f"{MOST_OF_USER} of your calls have not ended: cancel one of them, or wait.")
        elif len(self._tasks) >= MOST:
            text = f"{MOST} calls of this server's users have not ended: try again later."
            self._make_room(self._tasks.values(), text)
        self._tasks[task.id] = task
        asyncio.get_running_loop().call_later(self._seconds, self._forget, task.id)
        task.go_on(lambda: self._shrink(task.user))

    def find(self, id_: str, user: str) -> RunningTask | None:
        """Return a task of a user; None if this user has none of this id."""
        task = self._tasks.get(id_)
        return task if task is not None and task.user == user else None

    def _of(self, user: str) -> list[RunningTask]:
        return [task for task in self._tasks.values() if task.user == user]

    def _make_room(self, tasks: Iterable[RunningTask], text: str) -> None:
        oldest = next((task for task in tasks if task.is_done), None)
        if oldest is None:
            raise MCPError(code=types.INTERNAL_ERROR, message=text)
        del self._tasks[oldest.id]

    def _shrink(self, user: str) -> None:
        """Forget the oldest results of a user whose task has ended, then the oldest of all, until they fit."""
        self._fit(self._of(user), MOST_BYTES_OF_USER)
        self._fit(list(self._tasks.values()), MOST_BYTES)

    def _fit(self, tasks: list[RunningTask], most: int) -> None:
        size = sum(task.size for task in tasks)
        for task in (task for task in tasks if task.is_done):
            if size <= most:
                return
            size -= task.size
            del self._tasks[task.id]

    def _forget(self, id_: str) -> None:
        if task := self._tasks.pop(id_, None):
            task.cancel()
