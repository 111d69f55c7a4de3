"""A server's lifespan, in a task of its own: an exception in it ends nothing else.

If it raises before it yields, each request is answered with that error. A later exception, for example of a task group
in it, is reported, and the server continues.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from mcpframe.frame.serving.failures import message_of

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

log = logging.getLogger(__name__)

Report = Callable[[str, BaseException], None]

_PATIENCE = 5.0
"""The longest the end of a lifespan may take, in seconds: the SDK's limit for closing a connection."""


@dataclass(frozen=True)
class Begun:
    """The outcome of starting a lifespan.

    Attributes:
        state: The value it yielded; None if it did not.
        error: The exception it raised instead.
    """

    state: Any = None
    error: BaseException | None = None


def log_problem(title: str, error: BaseException) -> None:
    """Log an exception of a lifespan."""
    log.error("%s", title, exc_info=error)


@asynccontextmanager
async def own_lifespan(
    enter: Callable[[], AbstractAsyncContextManager[Any]], report: Report = log_problem
) -> AsyncIterator[Begun]:
    """Run a lifespan for as long as the block lasts.

    Args:
        enter: Returns the lifespan's context manager.
        report: Called with a sentence and the exception that the lifespan raised.

    Yields:
        The outcome of its start. Context variables that it set are also set in the block.
    """
    begun: asyncio.Future[Begun] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()

    async def live() -> None:
        try:
            async with enter() as state:
                begun.set_result(Begun(state))
                await over.wait()
        except BaseException as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
                raise  # the server ends; otherwise the author's code has raised it, which is a failure like others
            doing = "stopped" if begun.done() else "could not begin"
            report(f"The server's lifespan {doing}: {message_of(error)}", error)
            if not begun.done():
                begun.set_result(Begun(error=error))

    before, context = contextvars.copy_context(), contextvars.copy_context()
    task = asyncio.create_task(live(), context=context)
    try:
        either: list[asyncio.Future[Any]] = [begun, task]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not begun.done():  # the task was cancelled
            begun.set_result(Begun(error=asyncio.CancelledError("The lifespan was cancelled.")))
        for variable, value in context.items():
            if before.get(variable) is not value:
                variable.set(value)
        yield begun.result()
    finally:
        if begun.done():
            over.set()
        else:
            task.cancel()
        with anyio.move_on_after(_PATIENCE, shield=True):
            await asyncio.wait([task])
        if not task.done():
            task.cancel()
            log.warning("The server's lifespan did not end within %s seconds", _PATIENCE)


async def refuse(
    read: ReadStream[SessionMessage | Exception], write: WriteStream[SessionMessage], error: BaseException
) -> None:
    """Answer every request with the error of the server's start, until the client disconnects."""
    text = f"The server could not begin: {message_of(error)}"
    async with read, write:
        async for item in read:
            if isinstance(item, SessionMessage) and isinstance(item.message, types.JSONRPCRequest):
                data = types.ErrorData(code=types.INTERNAL_ERROR, message=text)
                answer = types.JSONRPCError(jsonrpc="2.0", id=item.message.id, error=data)
                await write.send(SessionMessage(answer))
