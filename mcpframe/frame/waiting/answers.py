"""The requests of a peer while they are being answered, each by a task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.errors import StateError

log = logging.getLogger(__name__)

Json = Mapping[str, Any]


class AnswerRefused(Exception):
    """Raised while a request is answered: the answer is this error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        """Create the error.

        Args:
            code: the JSON-RPC code.
            message: a sentence.
            data: JSON values; None for none.
        """
        super().__init__(message)
        self.code = code
        self.data = data


class Answers:
    """The requests of one peer that are being answered."""

    def __init__(self, post: Callable[[Json], object], limit: int | None = None) -> None:
        """Start without requests.

        Args:
            post: posts a JSON-RPC message. A `StateError` means that the session is over, and is ignored.
            limit: the most that are answered at once; None if the connection that receives them has a limit.
        """
        self._post = post
        self._limit = limit
        self._tasks: dict[asyncio.Task[None], jsonrpc.RequestId | None] = {}

    def begin(self, id_: jsonrpc.RequestId | None, name: str, work: Awaitable[Json]) -> bool:
        """Answer a request with the result of an awaitable, or with the error that it raises.

        Args:
            id_: its id; None if the peer waits for no answer.
            name: its name, for the log.
            work: the awaitable of the result.

        Returns:
            False if the limit is reached: then the answer is an error.
        """
        if self._limit is not None and len(self._tasks) >= self._limit:
            _close(work)
            text = f"{self._limit} requests are being answered already."
            self._send(jsonrpc.error_response(id_, jsonrpc.INTERNAL_ERROR, text))
            return False
        task = asyncio.create_task(self._answer(id_, name, work))
        self._tasks[task] = id_
        task.add_done_callback(lambda task: self._ended(task, work))
        return True

    def cancel(self, id_: jsonrpc.RequestId) -> bool:
        """Cancel a request, which gets no answer. Returns whether one of this id was being answered."""
        tasks = [task for task, its in self._tasks.items() if its == id_]
        for task in tasks:
            task.cancel()
        return bool(tasks)

    def close(self) -> None:
        """Cancel all requests."""
        for task in tuple(self._tasks):
            task.cancel()

    async def ended(self) -> None:
        """Wait until no request is being answered."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _ended(self, task: asyncio.Task[None], work: Awaitable[Json]) -> None:
        del self._tasks[task]
        _close(work)  # if the task was cancelled before it began

    async def _answer(self, id_: jsonrpc.RequestId | None, name: str, work: Awaitable[Json]) -> None:
        try:
            self._send({"jsonrpc": "2.0", "id": id_, "result": dict(await work)})
        except AnswerRefused as refused:
            self._send(jsonrpc.error_response(id_, refused.code, str(refused), refused.data))
        except (Exception, asyncio.CancelledError) as error:
            if _is_cancelled(error):
                raise
            log.exception("%s failed", name)
            self._send(jsonrpc.error_response(id_, jsonrpc.INTERNAL_ERROR, f"{type(error).__name__}: {error}"))

    def _send(self, answer: Json) -> None:
        if answer["id"] is not None:
            with suppress(StateError):
                self._post(answer)


def _is_cancelled(error: BaseException) -> bool:
    """Return whether an error is the cancellation of this task, not of an awaitable it waited for."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _close(work: Awaitable[Json]) -> None:
    if isinstance(work, Coroutine):
        work.close()
