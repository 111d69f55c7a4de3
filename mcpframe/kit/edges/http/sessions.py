"""Streamable HTTP up to 2025-11-25: sessions, each with a frame of its own.

The SDK's `StreamableHTTPServerTransport` speaks HTTP: event streams, session ids, the checks of every header. Here it
is connected to a link. The SDK's own session manager cannot be used: it only serves a server object of its own process.
"""

from __future__ import annotations

import contextlib
import json
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import anyio
import anyio.abc
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
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
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mcpframe.frame.core import jsonrpc
from mcpframe.kit.base.limits import MOST_SESSIONS
from mcpframe.kit.edges.http.error_answers import error_answer
from mcpframe.kit.edges.http.posts import read_post, refuse_id, replayed
from mcpframe.kit.edges.http.principal import owner_of, sender_of
from mcpframe.kit.edges.http.request_checks import ENDING, without_events
from mcpframe.kit.edges.http.routing import Asked, request_for
from mcpframe.kit.edges.http.routing_names import named_session
from mcpframe.kit.edges.link.messages import ServerMessage, Unread
from mcpframe.kit.edges.link.reopening_link import ReopeningLink

logger = logging.getLogger(__name__)

IDLE_SECONDS = 30 * 60.0
"""Seconds after which a session without any request ends; the SDK's default."""

_GOODBYE_SECONDS = 2.0
"""Seconds for an ending session to send its last answers."""


class Sessions:
    """An ASGI application for the requests of this era.

    Args:
        most: The largest number of sessions; None for the usual one.
        name: The bridge's name (`names`); empty for none.
        most_of_user: The largest number of one user, where there is authorization; None for any.

    Attributes:
        is_draining: Whether new sessions are refused.
    """

    def __init__(
        self,
        take: Callable[[], ReopeningLink],
        settings: TransportSecuritySettings,
        most: int | None = None,
        name: str = "",
        most_of_user: int | None = None,
    ) -> None:
        self.is_draining = False
        self._most = most
        self._most_of_user = most_of_user
        self._name = name
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
        failure: Exception | None = None
        async with anyio.create_task_group() as self._tasks:
            try:
                yield
            except Exception as error:  # noqa: BLE001  raised below: the task group would wrap it
                failure = error
            self._tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

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
        if session is not None and session.owner != owner_of(scope):
            session = None  # as if there was none: an id is not a secret between users
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
                await error_answer(404, INVALID_REQUEST, "Session not found")(scope, receive, send)
            else:
                await session.handle(scope, receive, send, message)
        elif message is None:
            await error_answer(400, INVALID_REQUEST, "Missing session ID")(scope, receive, send)
        elif message.get("method") != "initialize" or not jsonrpc.is_request(message):
            # The transport would answer the same, but only after a session was created.
            await self._without_session(scope, receive, send)
        elif self.is_draining:
            await error_answer(503, INTERNAL_ERROR, ENDING)(scope, receive, send)
        elif full := self._make_room(sender_of(scope)):
            await full(scope, receive, send)
        else:
            await self._begin(scope, receive, send, message)

    def _make_room(self, user: str | None) -> Response | None:
        """Make room for one more session of a user; return the refusal if there is none."""
        living = [session for session in self._sessions.values() if not session.has_ended]
        theirs = [session for session in living if user is not None and session.user == user]
        if self._most_of_user is not None and len(theirs) >= self._most_of_user:
            if not self._end_idlest(theirs):
                # Not 503: balancers would send the request to another bridge, which counts for itself.
                return error_answer(429, INVALID_REQUEST, f"You have {len(theirs)} sessions, all busy: end one first")
        elif len(living) >= self.most and not self._end_idlest(living):
            return error_answer(503, INTERNAL_ERROR, f"{self.most} sessions are open: end one first")
        return None

    def _end_idlest(self, sessions: Sequence[_Session]) -> bool:
        """End the one of these sessions that has been idle the longest, if there is one.

        One with an open request, or whose page is opening, is not idle.
        """
        idle = [session for session in sessions if not (session.busy or session.is_opening)]
        if not idle:
            return False
        idlest = min(idle, key=lambda session: session.last_heard)
        del self._sessions[idlest.id]
        idlest.scope.cancel()
        return True

    async def _without_session(self, scope: Scope, receive: Receive, send: Send) -> None:
        transport = StreamableHTTPServerTransport("none", security_settings=self._settings)
        async with transport.connect():
            await transport.handle_request(scope, receive, send)

    async def _begin(self, scope: Scope, receive: Receive, send: Send, message: dict[str, Any]) -> None:
        assert self._tasks is not None
        name = named_session(self._name, uuid.uuid4().hex)
        session = _Session(name, self._take(), self._settings, owner_of(scope), sender_of(scope))
        self._sessions[session.id] = session
        session.busy += 1  # from now on, as another client may need room before its first request is handled
        try:
            await self._tasks.start(self._serve, session)
            await session.handle(scope, receive, send, message)
        finally:
            session.busy -= 1
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
        owner: who began it, by which client: of another one's requests it knows nothing.
        user: the user's name; None without authorization.
        scope: cancelled to end it.
        busy: the number of open HTTP requests, event streams included.
        last_heard: when a request was last open.
        has_begun: whether the server has accepted the client's `initialize`.
        has_ended: whether messages of the client are no longer accepted.
    """

    def __init__(
        self,
        id_: str,
        link: ReopeningLink,
        settings: TransportSecuritySettings,
        owner: AuthorizationContext | None,
        user: str | None,
    ) -> None:
        self.id = id_
        self.owner = owner
        self.user = user
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

    @property
    def is_opening(self) -> bool:
        """Whether its page is being opened: a client that was answered before that keeps its room."""
        return self._link.is_opening

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
