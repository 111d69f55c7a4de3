"""Contain the failures of handlers: an exception ends only its own request.

The SDK answers an `Exception`. Anything else would propagate out of its dispatcher and end the server: `sys.exit()`,
KeyboardInterrupt, GeneratorExit, a group with one of them, or a CancelledError without a cancelled scope. Here each
becomes the error result of a tool call, or the JSON-RPC error of another request. So does a result that cannot be
serialized, for example because it is nested too deep.

In a frame both sides are in one browser, so the client gets the Python message, which the SDK withholds; the traceback
is logged.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import UnexpectedResourceError, UnexpectedToolError
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcpframe.frame.core.raised import note

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

log = logging.getLogger(__name__)

T = TypeVar("T")

_MOST_CAUSES = 100
"""The largest number of exceptions of a chain or group that is examined."""


_answering = contextvars.ContextVar("mcpframe answers a request", default=False)
"""Whether the next call is the SDK's call of a request's handler, rather than one from the author's own code."""


class Crash(Exception):
    """Carries a BaseException that is not an `Exception`, its `__cause__`, to the client."""


def contain_failures(server: object, target: Server[Any]) -> None:
    """Answer a request with an error for any exception of its handler.

    Args:
        server: a FrameServer, an MCPServer or a lowlevel Server.
        target: the lowlevel server in it.
    """
    if isinstance(server, MCPServer):
        _contain_tools(server)
    else:
        _contain_tool_handler(target)
    target.middleware.insert(0, _Contained(target))


async def contained(call: Callable[[], Awaitable[T]]) -> T:
    """Await a call of an author's code; only an `Exception` or a real cancellation propagates.

    Args:
        call: returns the awaitable.

    Raises:
        Crash: for an exception of the call that is not an `Exception`.
        CancelledError: if this task is being cancelled by its owner.
        Exception: an exception of the call.
    """
    task = asyncio.current_task()
    assert task is not None
    cancelled_before = task.cancelling()
    began = time.monotonic()
    try:
        return await call()
    except Exception as error:
        from mcpframe.frame.page import hints  # late: a page without failures does not need it

        await hints.explain(_cause(error), time.monotonic() - began)
        raise
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and _is_being_cancelled():
            raise
        raise Crash(message_of(error)) from error
    finally:
        if task.cancelling() > cancelled_before and not _is_being_cancelled():
            await _forget_cancellation(task, cancelled_before)


def _is_being_cancelled() -> bool:
    """Return whether a cancel scope around this task was cancelled: by the client, or at the end of the session."""
    return anyio.current_effective_deadline() == -math.inf


async def _forget_cancellation(task: asyncio.Task[Any], cancelled_before: int) -> None:
    """Undo a handler's cancellation of its own task, which is the dispatcher's."""
    while task.cancelling() > cancelled_before:
        task.uncancel()
    try:
        await asyncio.sleep(0)  # a pending cancellation is raised here
    except asyncio.CancelledError:
        if _is_being_cancelled():
            raise


class _Contained:
    """The outermost middleware: around all others and the serialization of the result."""

    def __init__(self, target: Server[Any]) -> None:
        self._target = target

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        answering = _answering.set(True)
        try:
            return await contained(lambda: call_next(ctx))
        except (MCPError, ValidationError):
            raise  # answered as protocol errors
        except Exception as error:
            if ctx.request_id is None:
                log.exception("The handler of %r raised an exception", ctx.method)
                return None
            if ctx.method == "tools/call":
                return self._error_result(ctx, error)
            if not isinstance(error, Crash | RecursionError):
                raise  # answered by the SDK
            log.exception("The handler of %r raised an exception", ctx.method)
            raise MCPError(code=types.INTERNAL_ERROR, message=message_of(error)) from error
        finally:
            _answering.reset(answering)

    def _error_result(self, ctx: ServerRequestContext[Any, Any], error: Exception) -> dict[str, Any]:
        name = (ctx.params or {}).get("name")
        log.exception("Tool %r raised an unexpected exception, or has a result that cannot be sent", name)
        result = tool_error(str(name), error).model_dump(by_alias=True, mode="json", exclude_none=True)
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            stamp = {types.SERVER_INFO_META_KEY: self._target.server_info_stamp}
            result |= {"resultType": "complete", "_meta": stamp}
        return result


def _contain_tools(server: MCPServer[Any]) -> None:
    """Put the exception's message into the result of a failed tool call. The SDK logs the traceback afterwards."""
    call_tool = server.call_tool

    async def with_message(
        name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> types.CallToolResult | types.InputRequiredResult:
        is_request = _answering.get()
        answering = _answering.set(False)
        try:
            if is_request:
                return await contained(lambda: call_tool(name, arguments, context))
            # The author's own call: a cancellation, such as that of a timeout around it, is the author's to handle.
            return await call_tool(name, arguments, context)
        except (UnexpectedToolError, Crash) as error:
            note(_cause(error))
            text = f"Error executing tool {name}: {message_of(error)}"
            raise UnexpectedToolError(text) from error.__cause__
        finally:
            _answering.reset(answering)

    server.call_tool = with_message  # type: ignore[method-assign]


def _contain_tool_handler(server: Server[Any]) -> None:
    """Answer any exception of a lowlevel server's `tools/call` handler with an error result, as for `MCPServer`."""
    entry = server.get_request_handler("tools/call")
    if entry is None:
        return

    async def answered(ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams) -> HandlerResult:
        try:
            return await contained(lambda: entry.handler(ctx, params))
        except (MCPError, ValidationError):
            raise  # answered as protocol errors
        except Exception as error:
            log.exception("Tool %r raised an unexpected exception", params.name)
            return tool_error(params.name, error)

    server.add_request_handler("tools/call", types.CallToolRequestParams, answered)


def tool_error(name: str, error: BaseException) -> types.CallToolResult:
    """Return the result of a tool that raised `error`."""
    note(_cause(error))
    text = f"Error executing tool {name}: {message_of(error)}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def message_of(error: BaseException) -> str:
    """Return the message of an exception for the client; for a group, the messages of its exceptions.

    The exception's type is named if it has no message, or is not an `Exception`. Never raises, even if `__str__` does.
    """
    messages: list[str] = []
    todo = [error]
    while todo and len(messages) < _MOST_CAUSES:
        each = _cause(todo.pop())
        if isinstance(each, BaseExceptionGroup):
            todo.extend(reversed(each.exceptions))
        else:
            messages.append(_message(each))
    return "; ".join(messages)


def _cause(error: BaseException) -> BaseException:
    """The author's exception under the wrappers around it."""
    for _ in range(_MOST_CAUSES):
        if not isinstance(error, Crash | UnexpectedToolError | UnexpectedResourceError) or error.__cause__ is None:
            break
        error = error.__cause__
    return error


def _message(error: BaseException) -> str:
    name = type(error).__name__
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001  an author's `__str__` may raise anything
        text = ""
    if not isinstance(error, Exception):
        text = f"{name}: {text}" if text else name
    notes = getattr(error, "__notes__", None)
    written = [note for note in notes if isinstance(note, str)] if isinstance(notes, list) else []
    text = "\n".join([text or name, *written])
    return text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot be sent
