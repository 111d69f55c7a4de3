"""Streamable HTTP up to 2025-11-25: sessions, each with a frame of its own.

The SDK's `StreamableHTTPServerTransport` speaks HTTP: event streams, session ids, the checks of every header. Here it
is connected to a link. The SDK's own session manager cannot be used: it only serves a server object of its own process.
"""

from __future__ import annotations

import contextlib
import json
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import anyio
import anyio.abc
from mcp.server.streamable_http import (
    GET_STREAM_KEY,
    MCP_SESSION_ID_HEADER,
    REQUEST_CANCELLED,
    StreamableHTTPServerTransport,
)
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST, jsonrpc_message_adapter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from mcpframe.frame.core import jsonrpc
from mcpframe.kit.edges.http.posts import read_post, refuse_id, replayed
from mcpframe.kit.edges.http.request_checks import without_events
from mcpframe.kit.edges.http.routing import Asked, request_for
from mcpframe.kit.edges.link.messages import ServerMessage, Unread
from mcpframe.kit.edges.link.reopening_link import ReopeningLink

logger = logging.getLogger(__name__)

IDLE_SECONDS = 30 * 60.0
"""Seconds after which a session without any request ends; the SDK's default."""

MOST_SESSIONS = 8
"""The largest number of sessions: each has its own Python in a tab of the browser. Many clients never end theirs, so
the longest idle one is ended first; its client would then get a 404, and start a new session.
"""

_GOODBYE_SECONDS = 2.0
"""Seconds for an ending session to send its last answers."""


class Sessions:
    """An ASGI application for the requests of this era."""

    def __init__(
        self, take: Callable[[], ReopeningLink], settings: TransportSecuritySettings, most: int | None = None
    ) -> None:
        self._most = most
        self._take = take
        self._settings = settings
        self._security = TransportSecurityMiddleware(settings)
        self._sessions: dict[str, _Session] = {}
        self._tasks: anyio.abc.TaskGroup | None = None

    @property
    def count(self) -> int:
        """The number of sessions."""
        return len(self._sessions)

    @property
    def most(self) -> int:
        """The largest number of sessions."""
        return MOST_SESSIONS if self._most is None else self._most

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve for the duration of the block."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    def end(self) -> None:
        """End all sessions: their open requests are answered with an error."""
        for session in self._sessions.values():
            session.scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        request = Request(scope, receive)
        refused = await self._security.validate_request(request, is_post=request.method == "POST")
        if refused is not None:
            await refused(scope, receive, send)
            return
        id_ = request.headers.get(MCP_SESSION_ID_HEADER)
        session = self._sessions.get(id_) if id_ is not None else None
        message: dict[str, Any] | None = None
        if request.method == "POST":
            line = await read_post(request)
            if isinstance(line, Response):
                await line(scope, receive, send)
                return
            message = line.message
            receive = replayed(line, receive)
        if id_ is not None:
            if session is None or session.has_ended:
                await _error(404, INVALID_REQUEST, "Session not found")(scope, receive, send)
            else:
                await session.handle(scope, receive, send, message)
        elif message is None:
            await _error(400, INVALID_REQUEST, "Missing session ID")(scope, receive, send)
        elif message.get("method") != "initialize" or not jsonrpc.is_request(message):
            # The transport would answer the same, but only after a session was created.
            await self._without_session(scope, receive, send)
        elif not self._make_room():
            await _error(503, INTERNAL_ERROR, f"{self.most} sessions are open: end one first")(scope, receive, send)
        else:
            await self._begin(scope, receive, send, message)

    def _make_room(self) -> bool:
        """Make room for one more session; one with an open request is never ended."""
        if len(self._sessions) < self.most:
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

    async def _begin(self, scope: Scope, receive: Receive, send: Send, message: dict[str, Any]) -> None:
        assert self._tasks is not None
        session = _Session(self._take(), self._settings)
        self._sessions[session.id] = session
        await self._tasks.start(self._serve, session)
        try:
            await session.handle(scope, receive, send, message)
        finally:
            if not session.has_begun:  # rejected, or the client left: no client has its id
                session.scope.cancel()

    async def _serve(self, session: _Session, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Serve a session. Its failure does not affect the others."""
        try:
            await session.serve(task_status)
        except Exception:
            logger.exception("A session has failed.")
        finally:
            self._sessions.pop(session.id, None)


class _Session:
    """One client's session: the transport, the link, and the messages between them.

    Attributes:
        scope: cancelled to end it.
        busy: the number of open HTTP requests, event streams included.
        last_heard: when a request was last open.
        has_begun: whether the server has accepted the client's `initialize`.
        has_ended: whether messages of the client are no longer accepted.
    """

    def __init__(self, link: ReopeningLink, settings: TransportSecuritySettings) -> None:
        self.id = uuid.uuid4().hex
        self.transport = StreamableHTTPServerTransport(self.id, security_settings=settings, idle_timeout=IDLE_SECONDS)
        self.scope = anyio.CancelScope()
        self.busy = 0
        self.last_heard = anyio.current_time()
        self.has_begun = self.has_ended = False
        self._link = link
        link.edge = self
        self._asked: dict[jsonrpc.RequestId, Asked] = {}
        self._answering: dict[str, anyio.Event] = {}
        self._unread = Unread()
        self._outgoing, self._to_send = anyio.create_memory_object_stream[tuple[SessionMessage, int]](float("inf"))

    async def handle(self, scope: Scope, receive: Receive, send: Send, message: Mapping[str, Any] | None) -> None:
        """Answer one HTTP request; `message` is that of its body if it is a POST."""
        self.busy += 1
        try:
            if scope["method"] == "DELETE":
                await self._say_goodbye("The client has ended the session.")
            id_ = jsonrpc.request_id(message) if message is not None and jsonrpc.is_request(message) else None
            if id_ is not None:
                await self._handle_request(scope, receive, send, id_)
            else:
                await self.transport.handle_request(without_events(scope), receive, send)
        finally:
            self.busy -= 1
            self.last_heard = anyio.current_time()

    async def _handle_request(self, scope: Scope, receive: Receive, send: Send, id_: jsonrpc.RequestId) -> None:
        key = str(id_)  # the transport's key of a request
        if key in self._answering or id_ in self._asked or key == GET_STREAM_KEY:
            await refuse_id(id_)(scope, receive, send)
            return
        answered = self._answering[key] = anyio.Event()
        try:
            await self.transport.handle_request(scope, receive, send)
        finally:
            self.transport.close_sse_stream(key)  # else it would stay, and fill up, if the client left early
            del self._answering[key]
            answered.set()

    async def serve(self, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Pass messages on until the client ends the session, or is idle for too long."""
        async with self.transport.connect() as (read, write):
            idle = self.transport.idle_scope
            assert idle is not None
            task_status.started()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._send_all, write)
                try:
                    with self.scope, idle, contextlib.suppress(anyio.ClosedResourceError):  # the client has ended it
                        async for item in read:
                            if isinstance(item, SessionMessage):
                                self._from_client(item)
                finally:
                    with anyio.CancelScope(shield=True):
                        await self._say_goodbye("The session has ended.")
                        await self.transport.terminate()
                        await self._link.close()
                        self._to_send.close()
                        self._outgoing.close()
                tasks.cancel_scope.cancel()

    async def _say_goodbye(self, reason: str) -> None:
        """Answer the open requests, and wait briefly until these answers have been sent."""
        self.has_ended = True
        asked, self._asked = self._asked, {}
        for id_ in asked:
            self._send(self._link.closed_error(id_, reason))
        with anyio.move_on_after(_GOODBYE_SECONDS):
            for answered in list(self._answering.values()):
                await answered.wait()

    def _from_client(self, item: SessionMessage) -> None:
        message: dict[str, Any] = {}
        try:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            message = json.loads(text)
            if jsonrpc.is_request(message):
                self._asked[message["id"]] = Asked.of(message)
            self._link.send(text, message)
            cancelled = jsonrpc.cancelled_id(message)
            if cancelled is not None and cancelled in self._asked:
                del self._asked[cancelled]
                # The server need not answer, but the request's event stream has to end.
                self._send(jsonrpc.error_response(cancelled, REQUEST_CANCELLED, "Request cancelled"))
        except Exception as error:  # one message must not end the session
            logger.exception("A message of a client could not be passed on.")
            if jsonrpc.is_request(message) and message["id"] in self._asked:
                del self._asked[message["id"]]
                failed = jsonrpc.error_response(message["id"], jsonrpc.INTERNAL_ERROR, f"The bridge failed: {error}")
                self._send(failed)

    def deliver(self, server_message: ServerMessage) -> None:
        """Send a message of the server on the stream that it belongs to."""
        message = server_message.message
        related = request_for(message, self._asked.values())
        if server_message.method is None and server_message.id is not None:
            asked = self._asked.pop(server_message.id, None)
            if asked is None:
                return  # the request was cancelled
            self.has_begun = self.has_begun or (asked.method == "initialize" and "result" in message)
        self._send(message, related, len(server_message.text))

    def _send(self, message: Mapping[str, Any], related: jsonrpc.RequestId | None = None, size: int = 0) -> None:
        if not self._unread.add(size):
            if not self.has_ended:
                self.has_ended = True
                logger.warning("A client does not read the messages sent to it: its session ends.")
                self.scope.cancel()
            return
        body = jsonrpc_message_adapter.validate_python(message, by_name=False)  # `checked` has validated it
        metadata = ServerMessageMetadata(related_request_id=related) if related is not None else None
        with contextlib.suppress(anyio.ClosedResourceError):  # the session is over
            self._outgoing.send_nowait((SessionMessage(body, metadata), size))

    def note(self, text: str) -> None:
        """Log a message for the user."""
        logger.warning("%s", text)

    async def _send_all(self, write: Any) -> None:
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # the session is over
            async for item, size in self._to_send:
                await write.send(item)
                self._unread.remove(size)


def _error(status: int, code: int, message: str) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}, status)
