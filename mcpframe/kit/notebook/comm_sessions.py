"""Serves a server to the views of a widget, over the messages of the widget's comm.

Each view of the widget is a client with a session of its own. What is sent, in both directions:

    {"session": ID, "open": true}       by the view: a session begins
    {"session": ID, "message": {...}}   a message of MCP, as JSON-RPC
    {"session": ID, "close": true}      the session is over: by a view that is removed, or by the kernel, with "reason"
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

import anyio

from mcpframe.frame.compat import sdk
from mcpframe.frame.core.errors import EntryError
from mcpframe.frame.serving.framed import unwrapped
from mcpframe.frame.serving.server_module import server_module

log = logging.getLogger(__name__)

MOST_SESSIONS = 20
"""Views that are connected at once. One more ends the oldest: a notebook that is reloaded does not close its views."""
_MOST_UNREAD = 1000
_LONGEST_ID = 100


class CommSessions:
    """The sessions of a widget's views. They run in the event loop of the kernel, as tasks, and so on its thread.

    Args:
        server: A `FrameServer`, or a server object of an official SDK or of FastMCP.
        send: Sends content to all views of the widget.

    Raises:
        EntryError: `server` is not a server object.
    """

    def __init__(self, server: object, send: Callable[[Mapping[str, Any]], None]) -> None:
        sdk.prepare()
        if not any(hasattr(unwrapped(server), each) for each in ("run", "run_stdio_async")):
            raise EntryError(f"An object of type {type(server).__name__} is not an MCP server.")
        self._server = server
        self._module = server_module(target=server)
        self._messages = self._module.messages()
        self._send = send
        self._sessions: dict[str, _Session] = {}

    def receive(self, content: object) -> None:
        """Take the content of a message of the widget, in the event loop; other content is ignored."""
        if not isinstance(content, Mapping):
            return
        key = content.get("session")
        if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_ID:
            return
        session = self._sessions.get(key)
        if content.get("open") is True and session is None:
            self._open(key)
        elif session is not None and content.get("close") is True:
            session.end()
        elif session is not None and isinstance(message := content.get("message"), Mapping):
            session.take(message)

    def close(self) -> None:
        """End all sessions."""
        for session in [*self._sessions.values()]:
            session.end()

    @property
    def count(self) -> int:
        """How many sessions are open."""
        return len(self._sessions)

    def _open(self, key: str) -> None:
        if len(self._sessions) >= MOST_SESSIONS:
            next(iter(self._sessions.values())).end()
        session = _Session(key, self._messages, self._send)
        self._sessions[key] = session
        task = asyncio.get_running_loop().create_task(session.run(self._module.serve, self._server))
        session.task = task
        task.add_done_callback(lambda _: self._over(session))

    def _over(self, session: _Session) -> None:
        session.close()
        if self._sessions.get(session.key) is session:
            del self._sessions[session.key]


class _Session:
    """One view's session."""

    def __init__(self, key: str, messages: Any, send: Callable[[Mapping[str, Any]], None]) -> None:
        self.key = key
        self.task: asyncio.Task[None] | None = None
        self._messages = messages
        self._send = send
        self._into, self._read = anyio.create_memory_object_stream[Any](_MOST_UNREAD)
        self._write, self._out = anyio.create_memory_object_stream[Any](0)

    def take(self, message: Mapping[str, Any]) -> None:
        """Pass a message of the client on to the server. One that is none of MCP is an error there."""
        try:
            item = self._messages.read(message)
        except ValueError as error:
            item = error
        try:
            self._into.send_nowait(item)
        except anyio.WouldBlock:
            self.end(f"More than {_MOST_UNREAD} messages wait.")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # it ends

    def end(self, reason: str = "") -> None:
        """End it, with the calls that run."""
        if reason:
            self._send({"session": self.key, "close": True, "reason": reason})
        if self.task is not None:
            self.task.cancel()

    def close(self) -> None:
        """Close its streams, once its task is done."""
        for stream in (self._into, self._read, self._write, self._out):
            stream.close()

    async def run(self, serve: Callable[..., Any], server: object) -> None:
        """Serve until the session ends."""
        reason = "The server has ended the session."
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._pump)
                await serve(server, self._read, self._write)
                tasks.cancel_scope.cancel()
        except Exception as error:
            log.exception("The server's session in the notebook has failed.")
            reason = f"The server has failed: {error}"
        self._send({"session": self.key, "close": True, "reason": reason})

    async def _pump(self) -> None:
        async for item in self._out:
            self._send({"session": self.key, "message": json.loads(self._messages.text(item))})
