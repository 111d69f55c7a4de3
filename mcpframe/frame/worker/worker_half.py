"""The worker's half: serves the clients of the page, each over streams of the SDK."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.serving.framed import SessionFacts
from mcpframe.frame.session.session import encoded, refusal
from mcpframe.frame.waiting.streams import WriteStream
from mcpframe.frame.worker.port import REPLAY, STALE_SECONDS, age_of, read, text_of

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectSendStream

    from mcpframe.frame.session.interfaces import Messages

log = logging.getLogger(__name__)

Serve = Callable[[Any, Any, Mapping[str, Any], SessionFacts | None], Awaitable[None]]
"""Serves one client on its read and write stream, with experimental capabilities and its session with the page, until
the read stream ends."""


class WorkerHalf:
    """The clients of the page, and their streams."""

    def __init__(self, serve: Serve, messages: Messages, post: Callable[[str], None]) -> None:
        """Begin without a client.

        Args:
            serve: see `Serve`.
            messages: the form of the messages on the streams.
            post: sends the page a text.
        """
        self._serve = serve
        self._messages = messages
        self._post = post
        self._incoming: dict[int, MemoryObjectSendStream[Any]] = {}
        self._held: dict[tuple[int, Any], Mapping[str, Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, text: str) -> None:
        """Handle a text of the page."""
        age, text = age_of(text)
        kind, fields, message = read(text)
        if kind == "said":
            self._said(fields[0], age, json.loads(message))
        elif kind == "go":
            if held := self._held.pop((fields[0], fields[1]), None):
                self._hand_over(fields[0], held)
        elif kind == "ask":
            self._post(text_of("alive", *fields))
        elif kind == "open":
            self._open(*fields)
        elif incoming := self._incoming.get(fields[0]):
            incoming.close()

    def problem(self, title: str, detail: str) -> None:
        """Report an error that the server survives."""
        self._post(text_of("problem", title, detail))

    def _open(self, number: int, experimental: Mapping[str, Any], about: Sequence[str] | None) -> None:
        if number in self._incoming:
            return  # the page believes it closed, by a text that was not this program's
        self._incoming[number], read_stream = anyio.create_memory_object_stream[Any](math.inf)
        session = SessionFacts(*about) if about else None
        task = asyncio.create_task(self._run(number, read_stream, experimental, session))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(
        self, number: int, read_stream: Any, experimental: Mapping[str, Any], about: SessionFacts | None
    ) -> None:
        try:
            await self._serve(read_stream, _Writer(self, number), experimental, about)
        except Exception as error:  # the other sessions continue
            log.exception("A session has failed.")
            self.problem(f"A session has failed: {type(error).__name__}: {error}", traceback.format_exc())
        finally:
            self._incoming.pop(number).close()
            read_stream.close()
            self._held = {key: message for key, message in self._held.items() if key[0] != number}
            self._post(text_of("closed", number))

    def _said(self, number: int, age: float, message: Mapping[str, Any]) -> None:
        if (cancelled := (number, jsonrpc.cancelled_id(message))) in self._held:
            del self._held[cancelled]
            return
        if jsonrpc.is_request(message) and age > STALE_SECONDS and not str(message["id"]).startswith(REPLAY):
            self._held[number, message["id"]] = message
            self._post(text_of("asks", number, message["id"]))
        else:
            self._hand_over(number, message)

    def _hand_over(self, number: int, message: Mapping[str, Any]) -> None:
        if jsonrpc.is_request(message):
            self._post(text_of("took", number, message["id"]))
        try:
            item = self._messages.read(message)
        except ValueError as error:
            answer, item = refusal(self._messages, message, error)
            if answer is not None:
                self._post(text_of("said", number, message=json.dumps(answer)))
        try:
            self._incoming[number].send_nowait(item)
        except (KeyError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            if jsonrpc.is_request(message):  # the server has stopped reading
                ended = jsonrpc.error_response(
                    message["id"], jsonrpc.CONNECTION_CLOSED, "The server has ended this session."
                )
                self._post(text_of("said", number, message=json.dumps(ended)))

    def said(self, number: int, item: Any) -> None:
        """Send a client an item of its write stream."""
        if number not in self._incoming:
            raise anyio.ClosedResourceError
        text = encoded(self._messages, item)
        if isinstance(text, str):
            self._post(text_of("said", number, message=text))
            return
        members = self._messages.members(item)
        failed = jsonrpc.error_response(members.get("id"), jsonrpc.INTERNAL_ERROR, str(text))
        if jsonrpc.is_request(members):
            self._incoming[number].send_nowait(self._messages.read(failed))
        elif "method" not in members:
            self._post(text_of("said", number, message=json.dumps(failed)))
        else:
            log.warning("A notification was not sent. %s", text)


class _Writer(WriteStream):
    """The write stream of a client."""

    def __init__(self, program: WorkerHalf, number: int) -> None:
        self._program = program
        self._number = number

    async def send(self, item: Any, /) -> None:
        """Send one message; see `WriteStream`."""
        self._program.said(self._number, item)
