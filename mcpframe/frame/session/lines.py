"""Serve a connection with a program that reads and writes MCP as lines of JSON, as on standard input and output.

This needs no SDK: each message of the host becomes a line that the program reads, and each line it writes a message.
Console scripts are served this way, and server objects of SDKs other than mcp 2.x. The features that a frame adds to
every server are added to the messages themselves:

- A client that never sends `initialize` is served: the program gets one in its place, whose answer is not passed on.
- `server/discover` is answered for SDKs that do not know it yet, which would log an error for each client.
- The boot's capability is added to the answer of `initialize` and `server/discover`.
- Output that the program prints or logs goes to the client as `notifications/message`, in order with its messages, if
  the client asks for its level: with `logging/setLevel` up to 2025-11-25, which is answered if the program does not;
  from 2026-07-28 with `io.modelcontextprotocol/logLevel` in the `_meta` of a request, until that is answered (both: MCP
  specification, server/utilities/logging).
- If the program ends or raises, pending and later requests are answered with the reason.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import anyio

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.object_results import with_objects
from mcpframe.frame.core.outline import outline
from mcpframe.frame.core.reasons import reason_of
from mcpframe.frame.session.printing import PrintedLine, PrintedLines, captured, printing_to

log = logging.getLogger(__name__)

NEWEST_HANDSHAKE = "2025-11-25"
"""The newest revision with a handshake; a server that does not know it answers with its own."""
_PATIENCE = 5.0
"""Seconds that a program may take to end after the end of its input."""
_INITIALIZE = "mcpframe:initialize"
"""The id of the `initialize` that is sent in place of a client that sends none."""
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
"""In `_meta` of a request that needs no handshake (MCP specification 2026-07-28)."""
_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
"""In `_meta` of such a request, the lowest level of the logs that its client wants."""

_NO_MESSAGE = "The server's program wrote a line that is not a message: %.200s"

Report = Callable[[str, BaseException | None], None]


class PlainMessages:
    """Unconverted messages: JSON-RPC objects in, pairs of JSON text and JSON-RPC object out (`interfaces.Messages`)."""

    def read(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a message of the peer unchanged: the connection has checked its form."""
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
        is_read: whether reading has begun.
    """

    def __init__(self) -> None:
        self.is_read = False
        self._lines: asyncio.Queue[str] = asyncio.Queue()

    def put(self, line: str) -> None:
        """Add a line for the program to read."""
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
            self.end()  # for further reads
        return line


class LineWriter:
    """Standard output as an SDK writes it: an async file of lines."""

    def __init__(self, on_line: Callable[[str], Awaitable[None]]) -> None:
        self._on_line = on_line
        self._partial: list[str] = []

    async def write(self, text: str) -> int:
        """Write text; each line is sent as soon as it is complete."""
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
        """Do nothing: lines are not buffered."""


class LineFiles:
    """A program's standard input and output.

    Attributes:
        stdin: the input that it reads.
        stdout: the output that it writes.
    """

    def __init__(self, on_line: Callable[[str], Awaitable[None]]) -> None:
        self.stdin = LineReader()
        self.stdout = LineWriter(on_line)


def log_problem(title: str, error: BaseException | None) -> None:
    """Log the end of a program."""
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
        program: the function that serves.
        read: the messages of the client, in the form of `PlainMessages`.
        write: the messages to the client. Closed at the end.
        discovers: whether the program's SDK knows `server/discover`.
        experimental: experimental capabilities to announce to the client.
        on_problem: called with a sentence and the program's exception; None if it only ended.
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
                    raise  # the session ends; otherwise the program has raised it itself
                reason = error
                talk.over(f"The server's program has ended: {reason_of(error)}")
        if not talk.left:
            on_problem(talk.why, reason)
        await talk.fail_pending()

    with captured():
        running = asyncio.create_task(run())
        telling = asyncio.create_task(talk.printed.send_all())
        try:
            async with read, write:
                async for body in read:
                    if not isinstance(body, Exception):  # rejected, and answered
                        await talk.hear(body)
                talk.leave()
                await asyncio.wait([running], timeout=_PATIENCE)
        finally:
            talk.leave()
            for task in (running, telling):
                task.cancel()
            await asyncio.wait([running, telling])


class _Asked(NamedTuple):
    """A request of the client.

    Attributes:
        method: its method.
        modern: whether it is of 2026-07-28 or later.
        level: the log level that it names then; None for none.
    """

    method: str
    modern: bool
    level: Any


class _Conversation:
    """The messages between a client and a program, with the frame's additions."""

    def __init__(self, write: Any, *, discovers: bool, experimental: Mapping[str, Any]) -> None:
        self.files = LineFiles(self._said)
        self.printed = PrintedLines(self._tell, over_queues=True)
        self.left = False
        self.why = ""
        self._write = write
        self._discovers = discovers
        self._experimental = dict(experimental)
        self._pending: dict[Any, _Asked] = {}  # the program's unanswered requests
        self._initialized = False
        self._levels_are_ours = True  # unless the program announces logging
        self._level: str | None = None

    # --- from the client

    async def hear(self, body: Mapping[str, Any]) -> None:
        """Handle a message of the client."""
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
            modern = self._needs_no_handshake(params)
            self._pending[body["id"]] = _Asked(str(method), modern, params["_meta"].get(_LEVEL_KEY) if modern else None)
        elif method == "notifications/cancelled":
            self._answered(jsonrpc.usable_id(params.get("requestId")))
        self.files.stdin.put(payload.encode(body))

    def _needs_no_handshake(self, params: Mapping[str, Any]) -> bool:
        meta = params.get("_meta")
        return self._discovers and isinstance(meta, dict) and _VERSION_KEY in meta

    def _initialize(self) -> None:
        """Do the handshake for a client that omits it, such as one that resumes a session."""
        if self._initialized:
            return
        self._initialized = True
        client = {"name": "mcpframe", "version": "0"}
        params = {"protocolVersion": NEWEST_HANDSHAKE, "capabilities": {}, "clientInfo": client}
        request = {"jsonrpc": "2.0", "id": _INITIALIZE, "method": "initialize", "params": params}
        self.files.stdin.put(payload.encode(request))
        self.files.stdin.put(payload.encode({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    def leave(self) -> None:
        """End the program's input, as the client has left."""
        if not self.left:
            self.left = True
            self.files.stdin.end()
            self.printed.close()

    # --- from the program

    async def _said(self, line: str) -> None:
        try:
            body = payload.loads(line)
        except (ValueError, RecursionError) as error:
            await self._said_no_json(line, error)
            return
        if not isinstance(body, dict):
            log.warning(_NO_MESSAGE, line)
            return
        if "method" in body:
            await self.printed.send_waiting()
            await self._write.send((line, body))
            if "id" not in body:
                self.printed.passed()
            return
        await self.printed.send_everything()  # before the answer to the request that printed it
        if body.get("id") == _INITIALIZE:
            self._note_capabilities(body)
            return
        asked = self._answered(body.get("id"))
        result = body.get("result")
        if asked is None or not isinstance(result, dict):
            await self._write.send((line, body))
        elif asked.method in ("initialize", "server/discover"):
            self._note_capabilities(body)
            await self._send(body)
        elif not asked.modern and (fitted := with_objects(asked.method, result)) is not result:
            await self._send({**body, "result": fitted})
        else:
            await self._write.send((line, body))

    async def _said_no_json(self, line: str, error: Exception) -> None:
        """Answer whoever waits for a line that is not JSON, such as one with `NaN`, which Python's `json` writes."""
        log.warning(_NO_MESSAGE, line)
        head = outline(line)
        if head.kind == "request":
            refused = jsonrpc.error_response(head.id, jsonrpc.PARSE_ERROR, f"The request is not JSON: {error}")
            self.files.stdin.put(payload.encode(refused))
        elif head.kind == "response" and self._answered(jsonrpc.usable_id(head.id)):
            await self._answer_error(head.id, jsonrpc.INTERNAL_ERROR, f"The server's answer is not JSON: {error}")

    def _note_capabilities(self, answer: dict[str, Any]) -> None:
        """Record the program's capabilities, and add the frame's to the answer."""
        result = answer.get("result")
        capabilities = result.get("capabilities") if isinstance(result, dict) else None
        if not isinstance(capabilities, dict):
            return
        self._levels_are_ours = "logging" not in capabilities
        capabilities.setdefault("logging", {})
        if self._experimental:
            capabilities["experimental"] = {**(capabilities.get("experimental") or {}), **self._experimental}

    def over(self, why: str) -> None:
        """Answer requests with this reason from now on, as the program has ended."""
        self.why = why

    async def fail_pending(self) -> None:
        """Answer the program's unanswered requests with an error."""
        await self.printed.send_everything()
        for id_ in list(self._pending):
            self._answered(id_)
            await self._answer_error(id_, jsonrpc.INTERNAL_ERROR, self.why)

    def _answered(self, id_: Any) -> _Asked | None:
        """Return a request that is pending no more; None if it was not."""
        return self._pending.pop(id_, None)

    async def _tell(self, line: PrintedLine) -> None:
        """Send a line to a client that asks for its level; which of the open requests wrote it is not known."""
        if any(map(line.is_at, (self._level, *(asked.level for asked in self._pending.values())))):
            params = {"level": line.level, "logger": line.logger, "data": payload.well_formed(line.text)}
            await self._send({"jsonrpc": "2.0", "method": "notifications/message", "params": params})

    async def _answer_error(self, id_: Any, code: int, message: str) -> None:
        await self._send(jsonrpc.error_response(id_, code, message))

    async def _send(self, body: dict[str, Any]) -> None:
        try:
            await self._write.send((payload.encode(body), body))
        except anyio.ClosedResourceError:
            log.debug("The session has ended before this could be sent: %s", body.get("method", "an answer"))
