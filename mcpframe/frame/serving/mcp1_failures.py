"""Contain the failures of servers of mcp 1.x (`mcp.server.fastmcp`, lowlevel `Server` with decorators).

Like `failures` for 2.x; each part has one reason:

1. An exception of a handler that is not an `Exception`, and a result without a JSON form, would end the server instead
   of the request (`Server._handle_request`).
2. The client gets only the message of a tool's exception: its notes (`hints`), with the advice, are added to it, and
   its traceback goes to the page's console. The result names the place of the exception (`raised`).
3. The error of a request that has timed out takes its code from httpx, which may be a placeholder.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import anyio

from mcpframe.frame.compat.placeholders import PlaceholderError
from mcpframe.frame.core.jsonrpc import INTERNAL_ERROR
from mcpframe.frame.core.raised import RAISED, note, noting, place_of
from mcpframe.frame.core.reasons import reason_of
from mcpframe.frame.serving.user_input import asking_by, check_can_ask

BUNDLED_WITH = ("mcp1",)

log = logging.getLogger(__name__)

_REQUEST_TIMEOUT = 408
"""mcp 1.x takes the code of its time-outs from httpx, in whose place a bundle may have a placeholder."""
_MEANT = frozenset({"McpError", "ToolError", "UrlElicitationRequiredError"})
"""Exceptions that an author raises to answer a call, with a message for the client."""


@cache
def contain() -> None:
    """Let an exception of a handler end only its request. Does nothing when repeated."""
    server = import_module("mcp.server.lowlevel.server").Server
    server._handle_request = _contained(server._handle_request)
    server.call_tool = _explaining(server.call_tool)
    session: Any = import_module("mcp.shared.session")
    try:
        session.httpx.codes.REQUEST_TIMEOUT  # noqa: B018  a placeholder has no code
    except PlaceholderError:
        session.httpx = SimpleNamespace(codes=SimpleNamespace(REQUEST_TIMEOUT=_REQUEST_TIMEOUT))


def _contained(handle: Callable[..., Any]) -> Callable[..., Any]:
    types: Any = import_module("mcp.types")

    async def handle_request(self: Any, message: Any, req: Any, session: Any, *args: Any, **kwargs: Any) -> None:
        async def elicit(text: str, schema: Mapping[str, Any]) -> Any:
            check_can_ask(types, session)
            return await session.elicit(text, schema, message.request_id)

        try:
            with asking_by(elicit), noting() as errors:
                _name_places(message, errors, types.CallToolResult)
                await handle(self, message, req, session, *args, **kwargs)
        except BaseException as error:
            # Of the client, or of the end of the session.
            if isinstance(error, asyncio.CancelledError) and anyio.current_effective_deadline() == -math.inf:
                raise
            text = reason_of(error)
            if isinstance(req, types.CallToolRequest):
                content = [types.TextContent(type="text", text=f"Error executing tool {req.params.name}: {text}")]
                place = {RAISED: place_of(error)}
                answer = types.ServerResult(types.CallToolResult(content=content, isError=True, _meta=place))
            else:
                answer = types.ErrorData(code=INTERNAL_ERROR, message=text)
            message._completed = True
            await session._send_response(message.request_id, answer)

    return handle_request


def _name_places(message: Any, errors: list[BaseException], kind: type[Any]) -> None:
    """Add the place of a tool's exception to the error result with which a request is answered; see `raised`."""
    respond = message.respond

    async def respond_with_place(response: Any) -> None:
        result = getattr(response, "root", None)
        if errors and isinstance(result, kind) and result.isError:
            result.meta = {**(result.meta or {}), RAISED: place_of(errors[-1])}
        await respond(response)

    message.respond = respond_with_place


class _Explained(Exception):
    """The exception of a tool, with the advice of its notes in its message."""


def _explaining(call_tool: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the decorator `Server.call_tool`: the SDK answers with the message of the handler's exception."""

    def decorator_for(self: Any, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        register = call_tool(self, *args, **kwargs)

        def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
            async def explained(name: str, arguments: dict[str, Any]) -> Any:
                began = time.monotonic()
                try:
                    return await function(name, arguments)
                except Exception as error:
                    from mcpframe.frame.page import hints  # late: a page without failures does not need it

                    wrapped = error.__cause__ if type(error).__name__ == "ToolError" else None
                    cause = wrapped or error
                    note(cause)
                    await hints.explain(cause, time.monotonic() - began)
                    if type(cause).__name__ not in _MEANT:
                        log.error("Tool %r raised an unexpected exception", name, exc_info=cause)
                    if isinstance(cause, BaseExceptionGroup) or getattr(cause, "__notes__", None):
                        prefix = f"Error executing tool {name}: " if wrapped else ""
                        raise _Explained(f"{prefix}{reason_of(cause)}") from error
                    raise

            register(explained)
            return function

        return decorator

    return decorator_for
