"""Calls that a bridge holds for clients that come back: suspended ones, and tasks. A bridge that drains waits for them.

Between a question and its answer, and between two polls of a task, there is no request: nothing else shows that a call
is still going on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

QUESTION_SECONDS: Final = 600.0
"""Seconds for an answer: those of the SDK, and of the frame's suspended calls."""
TASK_SECONDS: Final = 3600.0
"""Seconds of a task that has no time of its own: the usual ones of `Tasks`."""
_MOST: Final = 1000
_ENDED: Final = ("completed", "failed", "cancelled")


class HeldForClients:
    """Calls that wait for their clients, by keys; the oldest are forgotten first.

    Args:
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[int, float] = {}  # by hashes, as a question's state may be large; oldest first

    def __len__(self) -> int:
        self._forget()
        return len(self._ends)

    def add(self, key: Hashable, seconds: float) -> None:
        """Hold a call for so long."""
        self.remove(key)  # held again: the newest now
        self._ends[hash(key)] = self._clock() + seconds
        self._forget()

    def remove(self, key: Hashable) -> None:
        """Hold a call no longer."""
        self._ends.pop(hash(key), None)

    def _forget(self) -> None:
        now = self._clock()
        kept = [(key, end) for key, end in self._ends.items() if end > now]
        self._ends = dict(kept[-_MOST:])


def task_held(request: Mapping[str, Any], message: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return the task that begins or ends for its client with a message of the server.

    A task that has ended is held until its client knows: the result is in the page only.

    Args:
        request: The client's request that the message belongs to.

    Returns:
        The task's id, and for how many seconds it is held: 0 once its client has the end of it, has cancelled it, or
        was told that there is none. None for any other message.
    """
    method, state = request["method"], message.get("result")
    if message.get("method") == "notifications/tasks":
        state = message.get("params")
    elif "method" not in message and (method == "tasks/cancel" or (method == "tasks/get" and "error" in message)):
        state = {"taskId": request["params"].get("taskId"), "status": "cancelled"}  # for its client
    id_ = state.get("taskId") if isinstance(state, Mapping) else None
    if not isinstance(state, Mapping) or not isinstance(id_, str):
        return None
    if state.get("status") in _ENDED:
        return id_, 0
    if state.get("resultType") != "task":
        return None
    kept = state.get("ttlMs")
    return id_, kept / 1000 if isinstance(kept, int | float) else TASK_SECONDS
