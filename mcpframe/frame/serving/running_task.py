"""One call that may become a task: its handler, its state as clients see it, and its session.

Source: SEP-2663, extension `io.modelcontextprotocol/tasks`, "Tasks".
"""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from mcpframe.frame.core import payload
from mcpframe.frame.core.callers import Named
from mcpframe.frame.serving.asking_session import AskingSession
from mcpframe.frame.serving.held_calls import handled
from mcpframe.frame.waiting.changes import Listeners

ResultT = TypeVar("ResultT", bound=BaseModel)

Completed = Callable[[HandlerResult, str], dict[str, Any]]
"""Returns the result of a tool as an answer of this revision has it. Raises `MCPError` for one that a task cannot have.
"""
_POLL_MS: Final = 1000
_LONGEST_MESSAGE: Final = 500
_CANCELLING: Final = "It is being cancelled, and ends when its tool waits for something."
_CANCELLED: Final = "It was cancelled."


class RunningTask:
    """A call that goes on after its request was answered.

    Args:
        caller: The user whose call it is.
        completed: See `Completed`.
        kept: For how many seconds the task is kept.
        most_bytes: The largest state.

    Attributes:
        id: A text that only its client knows, after the name of the bridge or process by which its request came.
        user: The only user that may ask for it.
        changes: Called when the state has changed.
    """

    def __init__(
        self,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
        caller: Named,
        completed: Completed,
        kept: float,
        most_bytes: int,
    ) -> None:
        secret = secrets.token_urlsafe(24)
        self.id = f"{caller.by}-{secret}" if caller.by else secret
        self.user = caller.user
        self.changes = Listeners()
        self._completed = completed
        self._most_bytes = most_bytes
        self._message = ""
        self._created = self._updated = _now()
        self._version = ctx.protocol_version
        self._kept = kept
        self._limit: asyncio.Timeout | None = None
        self._seconds = 0.0
        self._asking = 0
        self._numbers = itertools.count(1)
        self._questions: dict[str, tuple[Mapping[str, Any], asyncio.Future[object]]] = {}
        self._scope = anyio.CancelScope()
        self._final: bytes | None = None
        session = _TaskSession(ctx.session, self)
        self._work = asyncio.create_task(self._run(replace(ctx, session=session), call_next))

    async def _run(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        with self._scope:
            return await handled(ctx, call_next)
        raise asyncio.CancelledError

    async def ends_within(self, seconds: float) -> bool:
        """Wait so long for the handler; return whether it has ended."""
        self._seconds = seconds
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds) as self._limit:
                await asyncio.wait([self._work])
        return self._work.done()

    def result(self) -> HandlerResult:
        """Return what the handler has returned.

        Raises:
            Exception: As it has raised.
        """
        return self._work.result()

    def go_on(self, ended: Callable[[], None]) -> None:
        """Go on as a task.

        Args:
            ended: Called once, when the handler has ended.
        """

        def end(work: asyncio.Task[HandlerResult]) -> None:
            self._final = self._finished(work)
            del self._work  # its result is in the final state, whose size is known
            ended()
            self.changes.call()

        self._work.add_done_callback(end)

    @property
    def is_done(self) -> bool:
        """Whether the handler has ended."""
        return self._final is not None

    @property
    def size(self) -> int:
        """The bytes that the final state takes; 0 before the end."""
        return len(self._final or b"")

    def cancel(self) -> None:
        """Cancel the handler. One that computes goes on until it waits for something."""
        if not self.is_done:
            self._scope.cancel()
            self.report(_CANCELLING)

    async def end(self) -> None:
        """Cancel the handler of a call that has not become a task, and wait for its end."""
        self._scope.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([self._work])
        if not self._work.cancelled():
            self._work.exception()  # nobody asks for it any more

    @property
    def is_apart(self) -> bool:
        """Whether the request was answered with the task."""
        return self._limit is not None and self._limit.expired()

    @contextmanager
    def stopped_clock(self) -> Iterator[None]:
        """While the client is asked in place of a result, the call does not become a task."""
        self._asking += 1
        self._reschedule(None)
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self._reschedule(asyncio.get_running_loop().time() + self._seconds)

    def _reschedule(self, when: float | None) -> None:
        if self._limit is not None:
            with suppress(RuntimeError):  # nobody waits any more: the call is being cancelled, or has ended
                self._limit.reschedule(when)

    def report(self, message: str) -> None:
        """Keep what the tool reports, for the client's next poll."""
        if not self._scope.cancel_called or message == _CANCELLING:
            self._message = message[:_LONGEST_MESSAGE]
            self._change()

    async def ask(self, request: Mapping[str, Any]) -> object:
        """Ask at the client's next poll, and return its answer."""
        key = str(next(self._numbers))
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._questions[key] = request, answer
        self._change()
        try:
            return await answer
        finally:
            del self._questions[key]
            self._change()

    def give(self, answers: Mapping[str, object]) -> None:
        """Answer pending questions. Answers to others are ignored, as the source requires."""
        for key, value in answers.items():
            _, answer = self._questions.get(key, (None, None))
            if answer is not None and not answer.done():
                answer.set_result(value)

    def state(self) -> dict[str, Any]:
        """Return the task as clients see it."""
        if self._final is not None:
            final: dict[str, Any] = json.loads(self._final)
            return final
        waiting = {key: request for key, (request, answer) in self._questions.items() if not answer.done()}
        if waiting:
            return {**self._facts("input_required", self._message), "inputRequests": waiting}
        return self._facts("working", self._message)

    def _finished(self, work: asyncio.Task[HandlerResult]) -> bytes:
        """Return the final state as JSON."""
        self._updated = _now()
        if work.cancelled():
            return _text(self._facts("cancelled", _CANCELLED))
        error = work.exception()
        if error is None:
            try:
                result = self._completed(work.result(), self._version)
                text = _text({**self._facts("completed", self._message), "result": result})
            except (MCPError, ValueError) as failed:
                error = failed
            else:
                if len(text) <= self._most_bytes:
                    return text
                error = _too_large(len(text), self._most_bytes)
        about = error.error if isinstance(error, MCPError) else _internal(str(error))
        shown = about.model_dump(by_alias=True, mode="json", exclude_none=True)
        facts = self._facts("failed", about.message[:_LONGEST_MESSAGE])
        text = _text({**facts, "error": shown})
        if len(text) <= self._most_bytes:
            return text
        return _text({**facts, "error": {"code": about.code, "message": facts["statusMessage"]}})

    def _facts(self, status: str, message: str) -> dict[str, Any]:
        facts = {
            "taskId": self.id,
            "status": status,
            "createdAt": self._created,
            "lastUpdatedAt": self._updated,
            "ttlMs": int(self._kept * 1000),
            "pollIntervalMs": _POLL_MS,
        }
        return {**facts, "statusMessage": message} if message else facts

    def _change(self) -> None:
        self._updated = _now()
        self.changes.call()


class _TaskSession(AskingSession):
    """The session of a call that may become a task. From then on, progress is the task's message, logs go nowhere, and
    questions wait for the client's next poll."""

    def __init__(self, session: ServerSession, task: RunningTask) -> None:
        super().__init__(session, task.ask)
        self._session = session
        self._task = task

    async def send_request(
        self,
        request: types.ServerRequest,
        result_type: type[ResultT],
        request_read_timeout_seconds: float | None = None,
        *args: Any,
        **options: Any,
    ) -> ResultT:
        """Ask the client; see `AskingSession`."""
        if self._task.is_apart:
            return await super().send_request(request, result_type, request_read_timeout_seconds, *args, **options)
        with self._task.stopped_clock():
            return await self._session.send_request(
                request, result_type, request_read_timeout_seconds, *args, **options
            )

    async def send_notification(
        self, notification: types.ServerNotification, related_request_id: types.RequestId | None = None
    ) -> None:
        """Send a notification on the request's channel, or none: tasks have none of their own."""
        if not self._task.is_apart:
            await self._session.send_notification(notification, related_request_id)

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress on the request's channel, or as the task's message."""
        if self._task.is_apart:
            self._task.report(message or (f"{progress:g}" if total is None else f"{progress:g} of {total:g}"))
        else:
            await self._session.report_progress(progress, total, message)


def _internal(message: str) -> types.ErrorData:
    return types.ErrorData(code=types.INTERNAL_ERROR, message=message)


def _too_large(size: int, most: int) -> MCPError:
    text = f"The result has {size:,} bytes, that of a task at most {most:,}: return less, or a reference to the data."
    return MCPError.from_error_data(_internal(text))


def _text(state: dict[str, Any]) -> bytes:
    return payload.encode(state).encode()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
