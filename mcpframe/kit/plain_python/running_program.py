"""A server that runs in a process of its own, on its standard streams: to a link, what a page is to the bridge.

The SDK's client of stdio starts and ends the process; `frame.session.lines` adds what a frame adds to every program. A
program that has ended answers with the reason, and is started again by the next message.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.session.lines import LineFiles, serve_lines
from mcpframe.kit.base.processes import printed_reason
from mcpframe.kit.edges.link.messages import ServerMessage
from mcpframe.kit.edges.link.reopening_link import ReopeningLink

log = logging.getLogger(__name__)

_KEPT: Final = 200
"""The last pieces of standard error that are kept, for the reason of an end."""
_CHUNK: Final = 4096
_ENDING: Final = 15.0
"""Seconds for a process to end: the SDK closes its input, and kills it after four."""
_NOT_ITS: Final = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
"""Variables that would lead a Python to packages of another environment."""


class ProgramEnded(Exception):
    """The program has ended before its client."""


@dataclass(frozen=True)
class Program:
    """How a server's process is started.

    Attributes:
        command: The program and its arguments.
        folder: The folder that it runs in.
        knows_discovery: Whether it serves revisions without a handshake.
        variables: Its environment variables, besides those of this process.
    """

    command: Sequence[str]
    folder: Path
    knows_discovery: bool = False
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)

    def parameters(self) -> StdioServerParameters:
        """Return what the SDK starts."""
        own = {name: value for name, value in os.environ.items() if name not in _NOT_ITS}
        command, *arguments = self.command
        return StdioServerParameters(command=command, args=arguments, env={**own, **self.variables}, cwd=self.folder)


class RunningProgram:
    """One process of a server. A `LinkedPage`.

    Args:
        link: Called back about its messages, and about its end once another message comes.
    """

    def __init__(self, program: Program, link: ReopeningLink) -> None:
        self._program = program
        self._link = link
        self._errors = _Errors()
        self._ended = ""
        self._late: list[str] = []
        self._to_program, read = anyio.create_memory_object_stream[Mapping[str, Any]](math.inf)
        serving = serve_lines(
            self._speak,
            read,
            _ToLink(link),
            discovers=program.knows_discovery,
            on_problem=self._on_end,
        )
        self._serving = asyncio.create_task(serving)

    async def printed(self) -> str:
        """Return the end of what it has printed on standard error, after its end."""
        return await asyncio.to_thread(self._errors.text)

    # What a link calls

    def send(self, text: str) -> None:
        """Send the server a message; to one that has ended, once it runs again."""
        if not self._ended:
            self._to_program.send_nowait(json.loads(text))
            return
        self._late.append(text)
        if len(self._late) == 1:
            asyncio.get_running_loop().call_soon(self._report_end)  # the link is in the middle of sending

    def await_answer(self, _: Callable[[], bool]) -> None:
        """Do nothing: the end of a process is noticed."""

    def answer_cancelled(self) -> None:
        """Do nothing."""

    async def complete(self) -> None:
        """Do nothing: all of its files are here."""

    async def close(self) -> None:
        """End the process."""
        self._to_program.close()
        await asyncio.wait([self._serving], timeout=_ENDING)
        self._serving.cancel()
        await asyncio.wait([self._serving])
        self._errors.close()

    # Internals

    def _report_end(self) -> None:
        late, self._late = self._late, []
        requests = [(message, text) for text in late if jsonrpc.is_request(message := json.loads(text))]
        self._link.on_gone(self._ended, {message["id"]: text for message, text in requests})

    def _on_end(self, reason: str, _: BaseException | None) -> None:
        self._ended = reason

    async def _speak(self, files: LineFiles) -> None:
        """Pass lines between the conversation and the process, until one of them ends."""
        async with stdio_client(self._program.parameters(), errlog=self._errors.file) as (read, write):
            self._errors.begin()
            sending = asyncio.create_task(_send_all(files, write))
            receiving = asyncio.create_task(_receive_all(files, read))
            try:
                done, _ = await asyncio.wait([sending, receiving], return_when=asyncio.FIRST_COMPLETED)
                has_left = receiving not in done
                for task in done:
                    task.result()
            finally:
                for task in (sending, receiving):
                    task.cancel()
                await asyncio.wait([sending, receiving])
        if not has_left:
            raise ProgramEnded(_last_words(await self.printed()))


def _last_words(printed: str) -> str:
    """Return why a program has ended: its exception, or the last line of its log."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    if "Traceback (most recent call last)" in printed or not lines:
        return printed_reason(printed)
    return lines[-1].rstrip(".")


async def _send_all(files: LineFiles, write: Any) -> None:
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # it has ended
        while line := await files.stdin.readline():
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError as error:  # such as half of a surrogate pair
                await _refuse(files, json.loads(line), error)
            else:
                await write.send(SessionMessage(message))


async def _refuse(files: LineFiles, message: Mapping[str, Any], error: ValueError) -> None:
    log.warning("A message of the client cannot be passed on: %s", error)
    if jsonrpc.is_request(message):
        refused = jsonrpc.error_response(message["id"], jsonrpc.INVALID_REQUEST, "The message is not text in UTF-8.")
        await files.stdout.write(payload.encode(refused) + "\n")


async def _receive_all(files: LineFiles, read: Any) -> None:
    async for item in read:
        if isinstance(item, SessionMessage):  # of any other line the SDK has logged that it is no message
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            await files.stdout.write(f"{text}\n")


class _ToLink:
    """The stream of a conversation to its client."""

    def __init__(self, link: ReopeningLink) -> None:
        self._link = link

    async def __aenter__(self) -> _ToLink:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def send(self, item: tuple[str, Mapping[str, Any]]) -> None:
        """Send a message, given as text and parsed."""
        text, body = item
        self._link.on_message(ServerMessage(text, body.get("id"), body.get("method")))


class _Errors:
    """The standard error of a process: it is printed here, too, and its end is kept."""

    def __init__(self) -> None:
        self._read, write = os.pipe()
        self.file = os.fdopen(write, "w")
        self._kept: deque[bytes] = deque(maxlen=_KEPT)
        self._thread: threading.Thread | None = None

    def text(self) -> str:
        """Return the end of what the process has written."""
        if self._thread is not None:
            self._thread.join(1)  # a process that has ended has closed it, unless it left others behind
        return b"".join(self._kept).decode("utf-8", "replace")

    def begin(self) -> None:
        """Print what the process writes from now on, until it has ended."""
        self.file.close()  # the process has a copy
        self._thread = threading.Thread(target=self._run, name="standard error of a server", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.file.close()
        if self._thread is None:
            os.close(self._read)

    def _run(self) -> None:
        with os.fdopen(self._read, "rb", buffering=0) as pipe:
            while data := pipe.read(_CHUNK):
                self._kept.append(data)
                with suppress(OSError):
                    os.write(2, data)
