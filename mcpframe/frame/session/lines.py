"""A connection served by whatever reads and writes MCP as lines of JSON, as servers do on standard input and output.

This needs no SDK: each message of the host becomes a line that the program reads, each line it writes a message. That
is how console scripts are served, and objects of SDKs other than mcp 2.x. Between the two, what a frame adds to any
server is added to the messages themselves:

- a client that never sends `initialize` is served: the program is sent one in its place, and its answer is kept here.
- `server/discover` is answered for SDKs that do not know it yet, which would log an error for each client.
- the boot's capability is added to the answer of `initialize` and `server/discover`.
- what the program prints goes to the client as `notifications/message` at level info, once the client has set such a
  level (MCP specification, server/utilities/logging); `logging/setLevel` is answered where the program does not.
- a program that ends or raises leaves nobody waiting: requests are answered with the reason.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.reasons import reason_of
from mcpframe.frame.session.printing import PrintedLines, captured, printing_to

log = logging.getLogger(__name__)

NEWEST_HANDSHAKE = "2025-11-25"
"""The newest revision with a handshake; a server that does not know it answers with its own."""
_PATIENCE = 5.0
"""Seconds that a program may take to end once its input has."""
_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")  # rising
_INITIALIZE = "mcpframe:initialize"
"""The id of the `initialize` that is sent in place of a client that sends none."""
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
"""In `_meta` of a request that needs no handshake (MCP specification 2026-07-28)."""

Report = Callable[[str, BaseException | None], None]


class PlainMessages:
    """Messages as they are: JSON-RPC objects in, pairs of JSON text and JSON-RPC object out (`session.Messages`)."""

    def read(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a message of the peer. The connection has checked its form."""
        return body

    def text(self, item: tuple[str, Mapping[str, Any]]) -> str:
        """Return the JSON text of a message."""
        return item[0]

    def members(self, item: tuple[str, Mapping[str, Any]]) -> Mapping[str, Any]:
        """Return the JSON-RPC object of a message."""
        return item[1]


class LineReader:
    """Standard input as an SDK reads it: an async file of lines. It ends when the session does.

    Attributes:
        is_read: whether anybody has begun to read it.
    """

    def __init__(self) -> None:
        self.is_read = False
        self._lines: asyncio.Queue[str] = asyncio.Queue()

    def put(self, line: str) -> None:
        """Let the program read a line."""
        self._lines.put_nowait(f"{line}\n")

    def end(self) -> None:
        """End the input."""
        self._lines.put_nowait("")

    def __aiter__(self) -> LineReader:
        return self

    async def __anext__(self) -> str:
        line = await self.readline()
        if not line:
            raise StopAsyncIteration
        return line

    async def readline(self) -> str:
        """Return the next line with its newline, or an empty text at the end."""
        self.is_read = True
        line = await self._lines.get()
        if not line:
            self.end()  # for whoever reads on
        return line


class LineWriter:
    """Standard output as an SDK writes it: an async file of lines."""

    def __init__(self, on_line: Callable[[str], Awaitable[None]]) -> None:
        self._on_line = on_line
        self._partial: list[str] = []

    async def write(self, text: str) -> int:
        """Write text; each line goes out as soon as it is whole."""
        *whole, rest = text.split("\n")
        for line in whole:
            self._partial.append(line)
            complete, self._partial = "".join(self._partial), []
            if complete.strip():
                await self._on_line(complete)
        if rest:
            self._partial.append(rest)
        return len(text)

    async def flush(self) -> None:
        """Nothing: lines do not wait."""


class LineFiles:
    """A program's standard input and output.

    Attributes:
        stdin: what it reads.
        stdout: what it writes.
    """

    def __init__(self, on_line: Callable[[str], Awaitable[None]]) -> None:
        self.stdin = LineReader()
        self.stdout = LineWriter(on_line)


def log_problem(title: str, error: BaseException | None) -> None:
    """Log how a program has ended."""
    log.error("%s", title, exc_info=error)


Program = Callable[[LineFiles], Awaitable[None]]
"""Serves MCP on these files until their input ends."""


async def serve_lines(
    program: Program,
    read: Any,
    write: Any,
    *,
    discovers: bool = False,
    experimental: Mapping[str, Any] | None = None,
    on_problem: Report = log_problem,
) -> None:
    """Serve one connection with a program, until its read stream ends.

    Args:
        program: what serves.
        read: the messages of the client, as `PlainMessages` has them.
        write: the messages to the client. Closed at the end.
        discovers: whether the program's SDK knows `server/discover`.
        experimental: experimental capabilities to tell the client of.
        on_problem: called with a sentence and what the program raised; None where it has only ended.
    """
    talk = _Conversation(write, discovers=discovers, experimental=experimental or {})

    async def run() -> None:
        with printing_to(talk.printed):
            try:
                await program(talk.files)
                talk.over("The server's program has ended.")
                reason: BaseException | None = None
            except BaseException as error:
                task = asyncio.current_task()
                if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
                    raise
                reason = error
                talk.over(f"The server's program has ended: {reason_of(error)}")
        if not talk.left:
            on_problem(talk.why, reason)
        await talk.fail_pending()

    with captured():
        running = asyncio.create_task(run())
        telling = asyncio.create_task(talk.tell_what_is_printed())
        try:
            async with read, write:
                async for body in read:
                    if not isinstance(body, Exception):  # one that was refused, and answered
                        await talk.hear(body)
                talk.leave()
                await asyncio.wait([running], timeout=_PATIENCE)
        finally:
            talk.leave()
            for task in (running, telling):
                task.cancel()
            await asyncio.wait([running, telling])


class _Conversation:
    """The messages between a client and a program, and what the frame adds to them."""

    def __init__(self, write: Any, *, discovers: bool, experimental: Mapping[str, Any]) -> None:
        self.files = LineFiles(self._said)
        self.printed = PrintedLines()
        self.left = False
        self.why = ""
        self._write = write
        self._discovers = discovers
        self._experimental = dict(experimental)
        self._pending: dict[Any, str] = {}  # the methods of requests that the program has not answered
        self._initialized = False
        self._levels_are_ours = True  # unless the program says that it logs
        self._level: str | None = None

    # --- from the client

    async def hear(self, body: Mapping[str, Any]) -> None:
        """Take a message of the client."""
        method, is_request = body.get("method"), jsonrpc.is_request(body)
        params = body.get("params") or {}
        if self.why:
            if is_request:
                await self._answer_error(body["id"], jsonrpc.INTERNAL_ERROR, self.why)
            return
        if method == "server/discover" and is_request and not self._discovers:
            await self._answer_error(body["id"], jsonrpc.METHOD_NOT_FOUND, "Method not found")
            return
        if method == "initialize":
            self._initialized = True
        elif method is not None and method != "ping" and not self._needs_no_handshake(params):
            self._initialize()
        if method == "logging/setLevel" and is_request:
            self._level = params.get("level")
            if self._levels_are_ours:
                await self._send({"jsonrpc": "2.0", "id": body["id"], "result": {}})
                return
        if is_request:
            self._pending[body["id"]] = str(method)
        elif method == "notifications/cancelled":
            self._pending.pop(jsonrpc.usable_id(params.get("requestId")), None)
        self.files.stdin.put(payload.encode(body))

    def _needs_no_handshake(self, params: Mapping[str, Any]) -> bool:
        meta = params.get("_meta")
        return self._discovers and isinstance(meta, dict) and _VERSION_KEY in meta

    def _initialize(self) -> None:
        """Do the handshake in place of a client that does none, such as one that resumes a session."""
        if self._initialized:
            return
        self._initialized = True
        client = {"name": "mcpframe", "version": "0"}
        params = {"protocolVersion": NEWEST_HANDSHAKE, "capabilities": {}, "clientInfo": client}
        request = {"jsonrpc": "2.0", "id": _INITIALIZE, "method": "initialize", "params": params}
        self.files.stdin.put(payload.encode(request))
        self.files.stdin.put(payload.encode({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    def leave(self) -> None:
        """Note that the client has left: the program's input ends."""
        if not self.left:
            self.left = True
            self.files.stdin.end()
            self.printed.close()

    # --- from the program

    async def _said(self, line: str) -> None:
        try:
            body = json.loads(line)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            log.warning("The server's program wrote a line that is no message: %.200s", line)
            return
        if "method" in body:
            await self._write.send((line, body))
            return
        for printed in self.printed.take():  # before the answer to the request that has printed it
            await self._tell(printed)
        if body.get("id") == _INITIALIZE:
            self._note_capabilities(body)
            return
        method = self._pending.pop(body.get("id"), "")
        if method in ("initialize", "server/discover") and isinstance(body.get("result"), dict):
            self._note_capabilities(body)
            await self._send(body)
            return
        await self._write.send((line, body))

    def _note_capabilities(self, answer: dict[str, Any]) -> None:
        """Note the program's capabilities, and add the frame's to the answer."""
        result = answer.get("result")
        capabilities = result.get("capabilities") if isinstance(result, dict) else None
        if not isinstance(capabilities, dict):
            return
        self._levels_are_ours = "logging" not in capabilities
        capabilities.setdefault("logging", {})
        if self._experimental:
            capabilities["experimental"] = {**(capabilities.get("experimental") or {}), **self._experimental}

    def over(self, why: str) -> None:
        """Note that the program has ended: from now on requests are answered with why."""
        self.why = why

    async def fail_pending(self) -> None:
        """Answer the requests that the program has not answered."""
        pending, self._pending = self._pending, {}
        for id_ in pending:
            await self._answer_error(id_, jsonrpc.INTERNAL_ERROR, self.why)

    async def tell_what_is_printed(self) -> None:
        """Send what the program prints to a client that has asked for it, until the client leaves."""
        async for line in self.printed:
            await self._tell(line)

    async def _tell(self, line: str) -> None:
        if self._level in _LEVELS[:2]:
            params = {"level": "info", "logger": "print", "data": payload.well_formed(line)}
            await self._send({"jsonrpc": "2.0", "method": "notifications/message", "params": params})

    async def _answer_error(self, id_: Any, code: int, message: str) -> None:
        await self._send(jsonrpc.error_response(id_, code, message))

    async def _send(self, body: dict[str, Any]) -> None:
        try:
            await self._write.send((payload.encode(body), body))
        except anyio.ClosedResourceError:
            log.debug("The session has ended before this could be sent: %s", body.get("method", "an answer"))
