"""Streamable HTTP up to 2025-11-25: sessions, each with a frame of its own.

The SDK's `StreamableHTTPServerTransport` speaks HTTP: event streams, session ids, the checks of every header. It is
joined to a link here, which the SDK's own session manager cannot be: that one serves a server object of this process.
"""

from __future__ import annotations

import contextlib
import json
import logging
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import anyio.abc
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST, jsonrpc_message_adapter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from mcpframe.frame import jsonrpc
from mcpframe.kit.bridge.link import Link
from mcpframe.kit.bridge.page import Said
from mcpframe.kit.bridge.routing import Asked, request_for

logger = logging.getLogger(__name__)

IDLE_SECONDS = 30 * 60.0
"""How long a session without any request is kept; the SDK's own figure."""

MOST_SESSIONS = 8
"""How many sessions are kept: each has a Python of its own in a tab of the browser. Clients often leave without a word,
so that the one that was silent for the longest makes room; its client would be answered with 404, and begin anew."""

Unanswered = Callable[[], Awaitable[None]]


class Sessions:
    """An ASGI application for the requests of this era."""

    def __init__(self, take: Callable[[], Link], settings: TransportSecuritySettings) -> None:
        """Take links from this function, and keep to these settings."""
        self._take = take
        self._settings = settings
        self._security = TransportSecurityMiddleware(settings)
        self._sessions: dict[str, _Session] = {}
        self._tasks: anyio.abc.TaskGroup | None = None

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve for as long as the block lasts."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        request = Request(scope, receive)
        refused = await self._security.validate_request(request, is_post=request.method == "POST")
        if refused is not None:
            await refused(scope, receive, send)
            return
        id_ = request.headers.get(MCP_SESSION_ID_HEADER)
        if id_ is not None:
            session = self._sessions.get(id_)
            if session is None:
                await _error(404, INVALID_REQUEST, "Session not found")(scope, receive, send)
            else:
                await session.handle(scope, receive, send)
            return
        body = await request.body()
        if request.method == "POST" and not _is_initialize(body):
            # The transport would say the same, but a session would have begun for it.
            await self._without_session(scope, _again(body, receive), send)
        elif request.method != "POST":
            await _error(400, INVALID_REQUEST, "Missing session ID")(scope, receive, send)
        elif not self._make_room():
            await _error(503, INTERNAL_ERROR, f"{MOST_SESSIONS} sessions are open: end one first")(scope, receive, send)
        else:
            await self._begin(scope, _again(body, receive), send)

    def _make_room(self) -> bool:
        """Have room for one more session; no session with an open request has to go."""
        if len(self._sessions) < MOST_SESSIONS:
            return True
        silent = [session for session in self._sessions.values() if not session.busy]
        if not silent:
            return False
        oldest = min(silent, key=lambda session: session.last_heard)
        del self._sessions[oldest.id]
        oldest.scope.cancel()
        return True

    async def _without_session(self, scope: Scope, receive: Receive, send: Send) -> None:
        transport = StreamableHTTPServerTransport("none", security_settings=self._settings)
        async with transport.connect():
            await transport.handle_request(scope, receive, send)

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._tasks is not None
        session = _Session(self._take(), self._settings)
        self._sessions[session.id] = session
        await self._tasks.start(self._serve, session)
        statuses: list[int] = []

        async def watched(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            await send(message)

        try:
            await session.handle(scope, receive, watched)
        finally:
            if not statuses or statuses[0] >= 400:
                session.scope.cancel()

    async def _serve(self, session: _Session, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        try:
            await session.serve(task_status)
        finally:
            self._sessions.pop(session.id, None)


class _Session:
    """One client's session: the transport, the link, and what passes between them.

    Attributes:
        scope: cancelled to end it.
        busy: how many HTTP requests are open, event streams included.
        last_heard: when one was open last.
    """

    def __init__(self, link: Link, settings: TransportSecuritySettings) -> None:
        self.id = uuid.uuid4().hex
        self.transport = StreamableHTTPServerTransport(self.id, security_settings=settings, idle_timeout=IDLE_SECONDS)
        self.scope = anyio.CancelScope()
        self.busy = 0
        self.last_heard = anyio.current_time()
        self._link = link
        link.edge = self
        self._asked: dict[jsonrpc.RequestId, Asked] = {}
        self._unanswered: dict[jsonrpc.RequestId, Unanswered] = {}
        self._outgoing, self._to_send = anyio.create_memory_object_stream[SessionMessage](float("inf"))

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        self.busy += 1
        try:
            await self.transport.handle_request(scope, receive, send)
        finally:
            self.busy -= 1
            self.last_heard = anyio.current_time()

    async def serve(self, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Pass messages until the client ends the session, or has not been heard of for a while."""
        async with self.transport.connect() as (read, write):
            idle = self.transport.idle_scope
            assert idle is not None
            task_status.started()
            try:
                with self.scope, idle:
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(self._send_all, write)
                        with contextlib.suppress(anyio.ClosedResourceError):  # the client has ended the session
                            async for item in read:
                                if isinstance(item, SessionMessage):
                                    await self._from_client(item)
                        tasks.cancel_scope.cancel()
            finally:
                with anyio.CancelScope(shield=True):
                    await self.transport.terminate()
                    await self._link.close()
                    self._to_send.close()
                    self._outgoing.close()

    async def _from_client(self, item: SessionMessage) -> None:
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        message = json.loads(text)
        if jsonrpc.is_request(message):
            self._asked[message["id"]] = Asked.of(message)
            metadata = item.metadata
            if isinstance(metadata, ServerMessageMetadata) and metadata.on_request_unanswered:
                self._unanswered[message["id"]] = metadata.on_request_unanswered
        self._link.send(text, message)
        if message.get("method") == "notifications/cancelled":
            # The server may stay silent from now on, but the request's event stream has to end.
            id_ = message.get("params", {}).get("requestId")
            self._asked.pop(id_, None)
            if unanswered := self._unanswered.pop(id_, None):
                await unanswered()

    def deliver(self, said: Said) -> None:
        """Send a message of the server on the stream that it belongs to."""
        message = json.loads(said.text)
        related = request_for(message, self._asked.values())
        if "method" not in message and said.id is not None:
            if self._asked.pop(said.id, None) is None:
                return  # it was cancelled
            self._unanswered.pop(said.id, None)
        body = jsonrpc_message_adapter.validate_python(message, by_name=False)
        metadata = ServerMessageMetadata(related_request_id=related) if related is not None else None
        self._outgoing.send_nowait(SessionMessage(body, metadata))

    def note(self, text: str) -> None:
        """Tell the person."""
        logger.warning("%s", text)

    async def _send_all(self, write: Any) -> None:
        async for item in self._to_send:
            await write.send(item)


def _is_initialize(body: bytes) -> bool:
    try:
        message = json.loads(body)
    except ValueError:
        return False
    return isinstance(message, dict) and message.get("method") == "initialize"


def _again(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read once more; what comes after it comes from the client."""
    given = False

    async def replay() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _error(status: int, code: int, message: str) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}, status)
