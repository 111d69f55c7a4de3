"""The message in the body of a POST, checked by the rules of stdio before the SDK's transport reads it.

The SDK takes a request with the id `1.0` for a notification, and leaves one without an answer if another has its id.
"""

from __future__ import annotations

from typing import Any

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.transport_security import (
    RequestBodyLimitMiddleware,
    TransportSecurityMiddleware,
    TransportSecuritySettings,
)
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.kit.edges.http.request_checks import read_body
from mcpframe.kit.edges.http.trace_context import with_trace_context
from mcpframe.kit.edges.stdio.lines import LIMITS, Broken, Line, broken


async def read_post(request: Request) -> Line | Response:
    """Return the message of a POST, or the answer that rejects it."""
    line = read_body(await request.body())
    if isinstance(line, Broken):
        return refusal(line)
    message = with_trace_context(line.message, request.headers)
    return line if message is line.message else Line(payload.encode(message), message)


def refusal(error: Broken) -> Response:
    return Response(error.answer, 400, media_type="application/json")


def refuse_id(id_: jsonrpc.RequestId) -> Response:
    """Return the answer to a request whose id is in use."""
    return refusal(broken(id_, jsonrpc.INVALID_REQUEST, jsonrpc.id_in_use(id_)))


def replayed(line: Line, receive: Receive) -> Receive:
    """Return an ASGI `receive` with a message that was read already, and after it the client's events."""
    given = False

    async def replay() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": line.text.encode("utf-8", "surrogatepass"), "more_body": False}

    return replay


class Screened:
    """An ASGI application that refuses requests for other hosts, or from other origins, before it reads their bodies.

    Any page on the web can send them: without this, their bodies would fill the memory first.
    """

    def __init__(self, app: ASGIApp, settings: TransportSecuritySettings) -> None:
        self._app = app
        self._security = TransportSecurityMiddleware(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        refused = await self._security.validate_request(Request(scope), is_post=scope["method"] == "POST")
        await (refused or self._app)(scope, receive, send)


class CheckedPosts:
    """An ASGI application that passes requests on to the SDK's session manager, with their messages checked."""

    def __init__(self, app: ASGIApp, settings: TransportSecuritySettings) -> None:
        self._app = app
        self._security = TransportSecurityMiddleware(settings)
        self._open: set[tuple[str, str]] = set()
        """The open requests: the id of the session, and the transport's key of the request."""
        self._limited = RequestBodyLimitMiddleware(self._post, LIMITS.max_message_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        app = self._limited if scope["method"] == "POST" else self._app
        await app(scope, receive, send)

    async def _post(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        refused = await self._security.validate_request(request, is_post=True)
        line = refused or await read_post(request)
        if isinstance(line, Response):
            await line(scope, receive, send)
            return
        session = request.headers.get(MCP_SESSION_ID_HEADER)
        if session is None or not jsonrpc.is_request(line.message):
            await self._app(scope, replayed(line, receive), send)
            return
        key = session, str(line.message["id"])
        if key in self._open:
            await refuse_id(line.message["id"])(scope, receive, send)
            return
        self._open.add(key)
        try:
            await self._app(scope, replayed(line, receive), send)
        finally:
            self._open.discard(key)
