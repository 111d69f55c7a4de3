"""Several processes that accept from one socket: requests that one of them can answer reach it.

Each also listens on a Unix socket in a folder that only their user can read. A request for the session or the task, or
with the state or the handle of a kept value, of another process is passed on to that one's socket; its name stands
before the ids of its sessions and tasks, before its states and before its handles. If it has ended, the request is
handled here: an unknown session is answered with 404, as MCP has it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import socket
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcpframe.frame.core.jsonrpc import CONNECTION_CLOSED
from mcpframe.frame.serving.task_notices import LISTEN
from mcpframe.kit.edges.http.error_answers import error_answer
from mcpframe.kit.edges.http.request_checks import TASK_METHODS
from mcpframe.kit.edges.http.routing_names import NAME, named_session, split_session, split_state
from mcpframe.kit.edges.http.running import run_until_cancelled
from mcpframe.kit.edges.stdio.lines import LIMITS
from mcpframe.kit.web.serve import http_settings

_SESSION = MCP_SESSION_ID_HEADER.encode()
_OF_ONE_CONNECTION = {b"connection", b"content-length", b"keep-alive", b"transfer-encoding", b"upgrade"}
"""The headers that each of both connections has of its own."""
_CONNECT_SECONDS = 5.0
_HANDLE = re.compile(rb'"(?:kept:///)?(%b)-k[0-9a-f]{16}' % NAME.pattern.encode())
"""The handle of a kept value at the beginning of a text, alone or in its address: see `frame.serving.kept`."""


class SharingProcess:
    """One of several processes, as an ASGI application around that of the server.

    Args:
        app: The server's application.
        folder: The folder with the sockets of all processes.

    Attributes:
        name: The name of this process.
    """

    def __init__(self, app: ASGIApp, folder: Path, name: str) -> None:
        self.name = name
        self._app = app
        self._folder = folder

        logging.getLogger("httpx2").setLevel(logging.WARNING)  # a line for each request that is passed on

    @staticmethod
    def new_name() -> str:
        """Return a name that no other process has."""
        return f"w{secrets.token_hex(6)}"

    @asynccontextmanager
    async def listening(self, app: ASGIApp) -> AsyncIterator[None]:
        """Listen on the socket of this process for the duration of the block.

        Args:
            app: Answers what other processes pass on: this process, behind whatever tells who sends a request.
        """
        path = self._path(self.name)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(path))
            listener.listen(256)
            serving = asyncio.create_task(run_until_cancelled(http_settings(app), listener))
            try:
                yield
            finally:
                serving.cancel()
                await asyncio.wait([serving])
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.sock"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request, or pass it on."""
        session = next((value.decode("latin-1") for name, value in scope["headers"] if name == _SESSION), None)
        body = await _read(receive)
        if session is None:
            owner = _owner_of(body)
        else:
            owner, rest = split_session(session)
            if owner == self.name:
                headers = [(name, value) for name, value in scope["headers"] if name != _SESSION]
                scope = {**scope, "headers": [*headers, (_SESSION, rest.encode("latin-1"))]}
        if owner not in ("", self.name) and self._path(owner).exists():
            with suppress(httpx2.ConnectError):  # it has been killed
                await self._pass_on(owner, scope, body, receive, send)
                return
        await self._app(scope, _replayed(body, receive), self._naming(send))

    def _naming(self, send: Send) -> Send:
        """Return `send` for answers of this process, which puts its name before the id of a new session."""

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [(name, value) for name, value in message["headers"] if name.lower() != _SESSION]
                new = [value for name, value in message["headers"] if name.lower() == _SESSION]
                ids = [(_SESSION, named_session(self.name, value.decode("latin-1")).encode("latin-1")) for value in new]
                message = {**message, "headers": [*headers, *ids]}
            await send(message)

        return named

    async def _pass_on(self, owner: str, scope: Scope, body: list[Message], receive: Receive, send: Send) -> None:
        """Let another process answer. If the client leaves, the request ends there, too."""
        headers = [line for line in scope["headers"] if line[0] not in _OF_ONE_CONNECTION]
        url = f"http://worker{scope['path']}"
        content = b"".join(event.get("body", b"") for event in body)
        begun = False

        async def answer() -> None:
            nonlocal begun
            transport = httpx2.AsyncHTTPTransport(uds=str(self._path(owner)))
            timeout = httpx2.Timeout(None, connect=_CONNECT_SECONDS)
            async with (
                httpx2.AsyncClient(transport=transport, timeout=timeout, trust_env=False) as client,
                client.stream(scope["method"], url, headers=headers, content=content) as response,
            ):
                lines = [line for line in response.headers.raw if line[0].lower() not in _OF_ONE_CONNECTION]
                begun = True
                await send({"type": "http.response.start", "status": response.status_code, "headers": lines})
                async for piece in response.aiter_raw():
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        answering = asyncio.create_task(answer())
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait([answering, leaving], return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
        except httpx2.ConnectError:
            raise
        except httpx2.TransportError:  # killed in the middle
            if begun:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            else:
                # It may have run, so not 503: see `OpenRequests`.
                error = error_answer(500, CONNECTION_CLOSED, "The process with this request has ended.")
                await error(scope, receive, send)
        finally:
            for task in (answering, leaving):
                task.cancel()
            await asyncio.wait([answering, leaving])


async def _left(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _read(receive: Receive) -> list[Message]:
    """Return the events of a request's body, or those up to the limit of a body."""
    events: list[Message] = []
    size = 0
    while True:
        events.append(event := await receive())
        size += len(event.get("body", b""))
        if event["type"] != "http.request" or not event.get("more_body", False) or size > LIMITS.max_message_bytes:
            return events


def _replayed(events: list[Message], receive: Receive) -> Receive:
    rest = list(events)

    async def replay() -> MutableMapping[str, Any]:
        return rest.pop(0) if rest else await receive()

    return replay


def _named_in(message: Any) -> str:
    """Return the name before the task or the state in a message. Those who listen to several tasks need one process."""
    method, params = message["method"], message["params"]
    if method in TASK_METHODS:
        return split_session(params["taskId"])[0]
    if method == LISTEN:
        return split_session(params["notifications"]["taskIds"][0])[0]
    return split_state(params["requestState"])[0]


def _owner_of(events: list[Message]) -> str:
    """Return the name of the process that holds the state, the task or the kept value in a message; empty for none."""
    body = b"".join(event.get("body", b"") for event in events)
    if len(body) > LIMITS.max_message_bytes:
        return ""
    if b'"requestState"' in body or b'"taskId' in body:
        with suppress(ValueError, RecursionError, AttributeError, LookupError, TypeError):
            if owner := _named_in(json.loads(body)):
                return owner
    # A text of another meaning that looks like a handle is at worst answered by a process like this one.
    named = _HANDLE.search(body)
    return named[1].decode() if named else ""
