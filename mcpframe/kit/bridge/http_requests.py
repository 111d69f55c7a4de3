"""Streamable HTTP of 2026-07-28: requests without sessions. All of them share one frame.

Every request is a POST that is answered with JSON, or with an event stream where the server says something before its
answer or takes its time. A client cancels by closing the stream. What the specification asks of the HTTP edge is in
`http_rules.py`: such requests never reach the server.

Clients choose their ids without knowing of each other: an id or progress token that is taken is another one in the
frame.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp.server.streamable_http import check_accept_headers
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from mcpframe.frame import payload
from mcpframe.frame.jsonrpc import RequestId, is_request
from mcpframe.kit.bridge import http_rules as rules
from mcpframe.kit.bridge.link import Link
from mcpframe.kit.bridge.page import Said
from mcpframe.kit.bridge.routing import Asked, meta_of, request_for

logger = logging.getLogger(__name__)

_STREAM_AFTER_SECONDS = 15.0
"""How long a silent request is waited for before its event stream begins, and between the stream's signs of life."""

_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]
_MOST_PAGES = 100

_MOST_LEFT = 1000
"""How many ids are remembered of requests whose clients have left: a late answer must not go to the next one's."""


@dataclass
class _Waiting:
    """A request that waits for its answer, and what came for it."""

    asked: Asked
    given_id: RequestId
    given_token: Any = None
    came: asyncio.Queue[Said] = field(default_factory=asyncio.Queue)


class Requests:
    """An ASGI application for the requests of this era."""

    def __init__(self, take: Callable[[], Link], settings: TransportSecuritySettings) -> None:
        """Take the one link from this function, and keep to these settings."""
        self._take = take
        self._security = TransportSecurityMiddleware(settings)
        self._link: Link | None = None
        self._waiting: dict[RequestId, _Waiting] = {}
        self._left: deque[RequestId] = deque(maxlen=_MOST_LEFT)
        self._numbers = itertools.count(1)

    async def close(self) -> None:
        """Close the frame."""
        if self._link is not None:
            await self._link.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        request = Request(scope, receive)
        response = await self._security.validate_request(request, is_post=request.method == "POST")
        response = response or _response(rules.check_head(request.method, check_accept_headers(request)))
        if response is None:
            checked = rules.check_body(await request.body(), request.headers.items())
            if isinstance(checked, rules.Refusal):
                response = _response(checked)
            elif not is_request(checked.message):
                response = Response(status_code=202)  # no notification of a client means anything in this era
            else:
                response = _response(await self._check_parameters(checked.message, request.headers.items()))
        if response is not None:
            await response(scope, receive, send)
            return
        assert isinstance(checked, rules.Accepted)
        await self._answer(checked, receive, send, scope)

    # The frame's side

    def deliver(self, said: Said) -> None:
        """Hand a message of the server to the request that it belongs to."""
        message = json.loads(said.text)
        id_ = request_for(message, (waiting.asked for waiting in self._waiting.values()))
        waiting = self._waiting.get(id_) if id_ is not None else None
        if waiting is not None:
            waiting.came.put_nowait(_restored(said, message, waiting))

    def note(self, text: str) -> None:
        """Tell the person."""
        logger.warning("%s", text)

    def _ask(self, text: str, message: dict[str, Any]) -> _Waiting:
        if self._link is None:
            self._link = self._take()
            self._link.edge = self
        given_id, given_token = message["id"], meta_of(message).get("progressToken")
        tokens = [waiting.asked.meta.get("progressToken") for waiting in self._waiting.values()]
        changed: dict[str, Any] = {}
        if given_id in self._waiting or given_id in self._left:
            changed["id"] = f"bridge-{next(self._numbers)}"
        if given_token is not None and given_token in tokens:
            meta = {**meta_of(message), "progressToken": f"bridge-{next(self._numbers)}"}
            changed["params"] = {**message["params"], "_meta": meta}
        if changed:
            message = {**message, **changed}
            text = payload.encode(message)
        waiting = _Waiting(Asked.of(message), given_id, given_token)
        self._waiting[message["id"]] = waiting
        self._link.send(text, message)
        return waiting

    def _forget(self, waiting: _Waiting) -> None:
        """Take note that nobody waits any more; the server is told where it has not answered."""
        del self._waiting[waiting.asked.id]
        self._left.append(waiting.asked.id)
        assert self._link is not None
        params = {"requestId": waiting.asked.id, "reason": "The client has closed the response."}
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        self._link.send(payload.encode(cancelled), cancelled)

    # The client's side

    async def _check_parameters(self, message: Mapping[str, Any], headers: rules.Headers) -> rules.Refusal | None:
        if not rules.needs_schema(message, headers):
            return None
        schema = await self._input_schema(message)
        return None if schema is None else rules.check_parameters(schema, message, headers)

    async def _input_schema(self, message: Mapping[str, Any]) -> Any:
        """Ask the server itself for a tool's schema; None where it does not tell."""
        params: dict[str, Any] = {"_meta": {k: v for k, v in meta_of(message).items() if k != "progressToken"}}
        for _ in range(_MOST_PAGES):
            id_ = f"bridge-{next(self._numbers)}"
            ask = {"jsonrpc": "2.0", "id": id_, "method": "tools/list", "params": params}
            waiting = self._ask(payload.encode(ask), ask)
            try:
                answer: dict[str, Any] = {}
                while "id" not in answer:
                    answer = json.loads((await waiting.came.get()).text)
                del self._waiting[id_]
            except asyncio.CancelledError:
                self._forget(waiting)
                raise
            result = answer.get("result", {})
            for tool in result.get("tools", []):
                if tool.get("name") == message["params"].get("name"):
                    return tool.get("inputSchema")
            if not isinstance(result.get("nextCursor"), str):
                return None
            params = {**params, "cursor": result["nextCursor"]}
        return None

    async def _answer(self, accepted: rules.Accepted, receive: Receive, send: Send, scope: Scope) -> None:
        waiting = self._ask(accepted.text, accepted.message)
        left = asyncio.create_task(_disconnected(receive))
        answering = asyncio.create_task(self._send_what_comes(waiting, receive, send, scope))
        try:
            await asyncio.wait([left, answering], return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
            if not answering.done():
                answering.cancel()
                await asyncio.wait([answering])
                self._forget(waiting)
            else:
                self._waiting.pop(waiting.asked.id, None)
                answering.result()

    async def _send_what_comes(self, waiting: _Waiting, receive: Receive, send: Send, scope: Scope) -> None:
        said = await _next(waiting)
        if said is not None and said.method is None:
            answer = json.loads(said.text)
            status = rules.status_of(answer["error"]["code"]) if "error" in answer else 200
            await Response(said.text, status, media_type="application/json")(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": _STREAM_HEADERS})
        async for event, more in _events(waiting, said):
            await send({"type": "http.response.body", "body": event, "more_body": more})


async def _events(waiting: _Waiting, said: Said | None) -> AsyncIterator[tuple[bytes, bool]]:
    """Give an event stream piece by piece, each with whether another one follows."""
    while True:
        answered = said is not None and said.method is None
        yield b": ping\r\n\r\n" if said is None else _event(said.text), not answered
        if answered:
            return
        said = await _next(waiting)


def _event(text: str) -> bytes:
    return b"event: message\r\ndata: " + text.encode("utf-8", "surrogatepass") + b"\r\n\r\n"


async def _next(waiting: _Waiting) -> Said | None:
    try:
        async with asyncio.timeout(_STREAM_AFTER_SECONDS):
            return await waiting.came.get()
    except TimeoutError:
        return None


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _restored(said: Said, message: dict[str, Any], waiting: _Waiting) -> Said:
    """Give a message with the client's own id and token, where they had to be others in the frame."""
    if "method" not in message:
        if said.id == waiting.given_id:
            return said
        return Said(payload.encode({**message, "id": waiting.given_id}), waiting.given_id)
    params = dict(message.get("params") or {})
    if message["method"] == "notifications/progress" and params["progressToken"] != waiting.given_token:
        params["progressToken"] = waiting.given_token
    elif waiting.asked.id != waiting.given_id:
        meta = meta_of(message)
        replaced = {
            k: waiting.given_id if v == waiting.asked.id and k.endswith("/subscriptionId") else v
            for k, v in meta.items()
        }
        if replaced == meta:
            return said
        params["_meta"] = replaced
    else:
        return said
    return Said(payload.encode({**message, "params": params}), None, said.method)


def _response(refusal: rules.Refusal | None) -> Response | None:
    if refusal is None:
        return None
    body = refusal.body()
    if body is None:
        return Response(status_code=refusal.status, headers={"Allow": "POST"} if refusal.status == 405 else None)
    return JSONResponse(body, refusal.status)
