"""Streamable HTTP of 2026-07-28: requests without sessions. All requests share one frame.

Every request is a POST that is answered with JSON, or with an event stream if the server sends other messages before
its answer or is slow. A client cancels by closing the stream. The checks that the specification requires of the HTTP
edge are in `request_checks`; requests that fail them never reach the server.

Ids of different clients may collide. The bridge therefore replaces the id and the progress token of every request by a
number that it never uses again, so that an answer, however late, can only reach the client that sent the request.

The answer to a question has a `requestState`, which only the frame that has asked can continue. It begins with the
bridge's name, if there is one, and another bridge refuses it. The frame gets this name, and whose each request is
(`callers`): a task of one user answers no other.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp.server.streamable_http import check_accept_headers
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mcpframe.frame.core import payload
from mcpframe.frame.core.callers import named_caller
from mcpframe.frame.core.jsonrpc import INTERNAL_ERROR, asked_as, cancellation, is_request
from mcpframe.frame.core.paging import Paging
from mcpframe.frame.core.requests import Requests
from mcpframe.kit.edges.http import request_checks as checks
from mcpframe.kit.edges.http.callers import from_current_user
from mcpframe.kit.edges.http.held import QUESTION_SECONDS, HeldForClients, task_held
from mcpframe.kit.edges.http.response_headers import STREAM_HEADERS
from mcpframe.kit.edges.http.routing import SUBSCRIPTION_KEY, Asked, meta_of, request_for
from mcpframe.kit.edges.http.routing_names import named_state
from mcpframe.kit.edges.http.trace_context import with_trace_context
from mcpframe.kit.edges.link.messages import ServerMessage, Unread
from mcpframe.kit.edges.link.reopening_link import ReopeningLink

logger = logging.getLogger(__name__)

_STREAM_AFTER_SECONDS = 15.0
"""Seconds of silence after which a request gets an event stream, and between the stream's pings: those of the SDK's
server, so that no proxy gives up."""

_SCHEMA_SECONDS = 30.0
"""Seconds for the server to list its tools, if a request is checked against a tool's schema."""


@dataclass
class _Waiting:
    """A request that waits for its answer, and the messages that belong to it.

    Attributes:
        request: the request as the client sent it.
        task: the task that answers its client.
        asked: the request as the server sees it.
        is_answered: whether the answer has arrived.
    """

    request: Mapping[str, Any]
    task: asyncio.Task[Any]
    asked: Asked = field(init=False)
    is_answered: bool = False
    _came: asyncio.Queue[ServerMessage] = field(default_factory=asyncio.Queue)
    _unread: Unread = field(default_factory=lambda: Unread())

    def add(self, server_message: ServerMessage) -> None:
        """Add a message of the server. A client with too much unread data counts as gone."""
        self.is_answered = self.is_answered or server_message.method is None
        if self._unread.add(len(server_message.text)):
            self._came.put_nowait(server_message)
        elif not self.task.cancelling():
            logger.warning("A client does not read the messages sent to it: its request ends.")
            self.task.cancel()

    async def next(self) -> ServerMessage:
        """Return the next message of the server."""
        server_message = await self._came.get()
        self._unread.remove(len(server_message.text))
        return server_message

    @property
    def is_over(self) -> bool:
        """Whether the answer has been taken."""
        return self.is_answered and self._came.empty()


class StatelessRequests:
    """An ASGI application for the requests of this era.

    Attributes:
        is_draining: Whether only requests are accepted that belong to what it holds.
        questions: The questions that clients may still answer.
        tasks: The tasks whose ends their clients do not know yet.
    """

    def __init__(self, take: Callable[[], ReopeningLink], settings: TransportSecuritySettings, name: str = "") -> None:
        self.is_draining = False
        self.questions, self.tasks = HeldForClients(), HeldForClients()
        self._name = name
        self._take = take
        self._security = TransportSecurityMiddleware(settings)
        self._link: ReopeningLink | None = None
        self._requests: Requests[int, _Waiting] = Requests(itertools.count(1))

    @property
    def link(self) -> ReopeningLink | None:
        """The link to the frame, from the first request on."""
        return self._link

    @property
    def pending(self) -> int:
        """The number of requests that wait for an answer."""
        return len(self._requests)

    def end(self) -> None:
        """Answer the open requests with an error: the server ends."""
        if lost := len(self.tasks):
            logger.warning("Tasks that are lost, as their clients had not got the results before the end: %d.", lost)
        for request in self._requests:
            assert self._link is not None  # it has got the request
            failed = self._link.closed_error(request.id, "The server has ended.")
            self.deliver(ServerMessage(payload.encode(failed), request.id))

    async def close(self) -> None:
        """Close the frame."""
        if self._link is not None:
            await self._link.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        request = Request(scope, receive)
        refused = await self._security.validate_request(request, is_post=request.method == "POST")
        message = refused or await self._request(request)
        if isinstance(message, Response):
            await message(scope, receive, send)
            return
        left = asyncio.create_task(_disconnected(receive))
        answering = asyncio.create_task(self._answer(message, request.headers.items(), scope, receive, send))
        try:
            await asyncio.wait([left, answering], return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
            answering.cancel()
            await asyncio.wait([left, answering])
        if not answering.cancelled():
            answering.result()

    async def _request(self, request: Request) -> dict[str, Any] | Response:
        """Return the request in a body as the frame gets it, or the answer that rejects it."""
        refusal = checks.check_head(request.method, check_accept_headers(request))
        if refusal is not None:
            return _response(refusal)
        checked = checks.check_body(await request.body(), request.headers.items())
        if isinstance(checked, checks.Refusal):
            return _response(checked)
        if not is_request(checked.message):
            return Response(status_code=202)  # a client's notifications have no effect in this era
        message = checks.state_for_frame(with_trace_context(checked.message, request.headers), self._name)
        if isinstance(message, checks.Refusal):
            return _response(message)
        if self.is_draining and not checks.belongs_here(message):
            return _response(checks.Refusal(503, INTERNAL_ERROR, checks.ENDING, message["id"]))
        return {**message, "params": from_current_user(message["params"], self._name)}

    # Towards the frame

    def deliver(self, server_message: ServerMessage) -> None:
        """Hand a message of the server to the request that it belongs to."""
        id_ = request_for(server_message.message, (request.value.asked for request in self._requests))
        request = self._requests.find(id_)
        if request is not None:
            state = _state_of(server_message)
            if state is not None:
                self.questions.add(state, QUESTION_SECONDS)
                state = named_state(self._name, state)
            self._note_task(request.value.request, server_message.message)
            request.value.add(_restored(server_message, request.value, state))

    def _note_task(self, request: Mapping[str, Any], message: Mapping[str, Any]) -> None:
        if (task := task_held(request, message)) is not None:
            id_, seconds = task
            key = named_caller(request["params"]).user, id_  # another user's request for it says nothing of it
            if seconds:
                self.tasks.add(key, seconds)
            else:
                self.tasks.remove(key)

    def note(self, text: str) -> None:
        """Log a message for the user."""
        logger.warning("%s", text)

    @contextlib.contextmanager
    def _asking(self, message: Mapping[str, Any]) -> Iterator[_Waiting]:
        """Send a request to the server. If the block is left without an answer, the request is cancelled."""
        if self._link is None:
            self._link = self._take()
            self._link.edge = self
        task = asyncio.current_task()
        assert task is not None
        waiting = _Waiting(message, task)
        number = self._requests.open(waiting).id
        asking = asked_as(message, lambda _: number)
        waiting.asked = Asked.of(asking)
        try:
            self._link.send(payload.encode(asking), asking)
            yield waiting
        finally:
            self._requests.take(number)
            if not waiting.is_answered:
                cancelled = cancellation(number, "The client has closed the response.")
                self._link.send(payload.encode(cancelled), cancelled)

    # Towards the client

    async def _answer(
        self, message: Mapping[str, Any], headers: checks.Headers, scope: Scope, receive: Receive, send: Send
    ) -> None:
        refusal = await self._check_parameters(message, headers)
        if refusal is not None:
            await _response(refusal)(scope, receive, send)
            return
        with self._asking(message) as waiting:
            if checks.continues(message):  # from here on it is pending
                self.questions.remove(message["params"]["requestState"])
            server_message = await _next(waiting)
            if server_message is not None and server_message.method is None:
                answer = server_message.message
                status = checks.status_of(answer["error"]["code"]) if "error" in answer else 200
                await Response(server_message.text, status, media_type="application/json")(scope, receive, send)
                return
            await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
            async for event, more in _events(waiting, server_message):
                await send({"type": "http.response.body", "body": event, "more_body": more})

    async def _check_parameters(self, message: Mapping[str, Any], headers: checks.Headers) -> checks.Refusal | None:
        if not checks.needs_schema(message, headers):
            return None
        try:
            async with asyncio.timeout(_SCHEMA_SECONDS):
                schema = await self._input_schema(message)
        except TimeoutError:
            error = f"The server has not listed its tools within {_SCHEMA_SECONDS:.0f} seconds: try again later."
            return checks.Refusal(checks.status_of(INTERNAL_ERROR), INTERNAL_ERROR, error, message["id"])
        return None if schema is None else checks.check_parameters(schema, message, headers)

    async def _input_schema(self, message: Mapping[str, Any]) -> Any:
        """Return a tool's schema from the server's own list; None if it is not there, or the list does not end."""
        meta = {k: v for k, v in meta_of(message).items() if k != "progressToken"}
        pages = Paging()
        while pages.more:
            params = {"_meta": meta, **pages.params}
            with self._asking({"jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": params}) as waiting:
                while not waiting.is_over:
                    server_message = await waiting.next()
            result = server_message.message.get("result", {})
            tools = result.get("tools")
            for tool in tools if isinstance(tools, list) else ():
                if isinstance(tool, dict) and tool.get("name") == message["params"].get("name"):
                    return tool.get("inputSchema")
            pages.follow(result.get("nextCursor"))
        return None


async def _events(waiting: _Waiting, server_message: ServerMessage | None) -> AsyncIterator[tuple[bytes, bool]]:
    """Yield the pieces of an event stream, each with whether another one follows."""
    while True:
        answered = server_message is not None and server_message.method is None
        yield b": ping\r\n\r\n" if server_message is None else _event(server_message.text), not answered
        if answered:
            return
        server_message = await _next(waiting)


def _event(text: str) -> bytes:
    return b"event: message\r\ndata: " + text.encode("utf-8", "surrogatepass") + b"\r\n\r\n"


async def _next(waiting: _Waiting) -> ServerMessage | None:
    try:
        async with asyncio.timeout(_STREAM_AFTER_SECONDS):
            return await waiting.next()
    except TimeoutError:
        return None


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _state_of(server_message: ServerMessage) -> str | None:
    """Return the state in an answer that asks the client; None for any other message."""
    if server_message.method is not None:
        return None
    result = server_message.message.get("result")
    state = result.get("requestState") if isinstance(result, dict) else None
    return state if isinstance(state, str) else None


def _restored(server_message: ServerMessage, waiting: _Waiting, state: str | None) -> ServerMessage:
    """Return a message with the client's own id and token in place of the bridge's number.

    Args:
        state: The state with the bridge's name, of an answer that has one.
    """
    number, given = waiting.asked.id, waiting.request["id"]
    message = server_message.message
    member = "result" if server_message.method is None else "params"
    changed: dict[str, Any] = {}
    if server_message.method == "notifications/progress":
        changed[member] = {**message[member], "progressToken": meta_of(waiting.request)["progressToken"]}
    elif meta_of(message, member).get(SUBSCRIPTION_KEY) == number:
        meta = {**meta_of(message, member), SUBSCRIPTION_KEY: given}
        changed[member] = {**message[member], "_meta": meta}
    if state is not None and state != message[member]["requestState"]:
        changed[member] = {**changed.get(member, message[member]), "requestState": state}
    if server_message.method is None:
        head = f'{{"jsonrpc":"2.0","id":{number},'
        if not changed and server_message.text.startswith(head):  # as pages write it: saves serializing it
            return ServerMessage(
                f'{{"jsonrpc":"2.0","id":{payload.encode(given)},{server_message.text[len(head) :]}', given
            )
        changed["id"] = given
    if not changed:
        return server_message
    return ServerMessage(
        payload.encode({**message, **changed}),
        given if server_message.method is None else server_message.id,
        server_message.method,
    )


def _response(refusal: checks.Refusal) -> Response:
    body = refusal.body()
    if body is None:
        return Response(status_code=refusal.status, headers={"Allow": "POST"} if refusal.status == 405 else None)
    return Response(payload.encode(body), refusal.status, media_type="application/json")
