"""Chromium's DevTools protocol: commands, their answers, and events.

A Chromium of ours is reached over the two pipes of `--remote-debugging-pipe`. They are the only way in: no port is
opened, and Chromium exits when they close. One that runs already is reached over a WebSocket
(`kit.browser.devtools.websocket`).
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mcpframe.frame.core.requests import Requests
from mcpframe.kit.base.deadline import within
from mcpframe.kit.base.errors import BrowserGone

EventHandler = Callable[[str, dict[str, Any]], None]
"""Called with an event's name and parameters."""

LONGEST = 1 << 27
"""The longest message that is read, in bytes: far more than a message of MCP may have."""

HEAD = 64
"""The number of bytes kept of a longer message, for `in_place_of`."""

_NOISE = ('{"method":"Runtime.consoleAPICalled"', '{"method":"Runtime.exceptionThrown"')
"""The beginnings of events that are not read, which a page can make as large and as frequent as it likes."""

_ANSWER_SECONDS = 60.0
"""Seconds for an answer of the browser. It normally answers at once; after this time it counts as hung."""


class DevToolsWire(Protocol):
    """A way to a browser, for messages in JSON."""

    async def receive(self) -> bytes | str:
        """Return the next message. Raises `EOFError` or `OSError` when the browser is gone."""
        ...

    def send(self, *pieces: str) -> None:
        """Send a message, in order. It is lost if the browser is gone.

        Args:
            pieces: Its text: a large one is nowhere in memory as a whole.
        """
        ...

    def close(self) -> None:
        """End the connection."""
        ...


class DevTools:
    """The protocol's client for one browser.

    Attributes:
        closed: done when the browser is gone.
        longest_of_console: the longest event of a console, and of an uncaught error, that is passed on, in bytes; by
            default none is.
    """

    def __init__(self, wire: DevToolsWire) -> None:
        self.longest_of_console = 0
        self._wire = wire
        self._commands: Requests[int, _Command] = Requests(itertools.count(1))
        self._handlers: dict[str, EventHandler] = {}
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.get_running_loop().create_task(self._read())

    async def command(self, method: str, session: str = "", /, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its result. A browser that does not answer counts as gone for all callers.

        Args:
            method: its name, such as `"Page.navigate"`.
            session: the id of the target's session; empty for the browser itself.

        Raises:
            BrowserGone: the browser is gone, the session has ended, or the answer is an error.
        """
        async with within(_ANSWER_SECONDS, self._given_up):
            return await self.post(method, session, **params)

    def post(
        self, method: str, session: str = "", /, *, body: str | Sequence[str] = (), **params: Any
    ) -> asyncio.Future[dict[str, Any]]:
        """Send a command, in order with the others, and return a future of its result. Otherwise like `command`.

        Args:
            body: The parameter `body`, if it has one: base64, which may be in pieces.
        """
        result: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        result.add_done_callback(_look_at_failure)
        if self.closed.done():
            result.set_exception(BrowserGone("The browser has ended."))
            return result
        command = self._commands.open(_Command(result, session))
        message: dict[str, Any] = {"id": command.id, "method": method}
        if session:
            message["sessionId"] = session
        if body:
            params["body"] = ""
        text = json.dumps({**message, "params": params}, separators=(",", ":"))
        if body:  # before the last quotation mark
            self._wire.send(text[:-3], *([body] if isinstance(body, str) else body), text[-3:])
        else:
            self._wire.send(text)
        return result

    def handle(self, session: str, handler: EventHandler | None) -> None:
        """Call a handler with the events of a session; None removes it."""
        if handler is None:
            self._handlers.pop(session, None)
        else:
            self._handlers[session] = handler

    async def close(self) -> None:
        """End the connection. A browser that is reached over pipes exits."""
        self._wire.close()
        self._reading.cancel()
        await asyncio.wait([self._reading])
        self._end()

    async def _read(self) -> None:
        try:
            while True:
                raw = await self._wire.receive()
                if self._is_noise(raw):
                    continue
                message = json.loads(raw)
                if "id" in message:
                    self._answer(message)
                    continue
                if message["method"] == "Target.detachedFromTarget":
                    self._end_session(message["params"]["sessionId"])
                if handler := self._handlers.get(message.get("sessionId", "")):
                    asyncio.get_running_loop().call_soon(handler, message["method"], message["params"])
        except (EOFError, OSError):
            pass  # the browser is gone
        finally:
            self._end()

    def _is_noise(self, raw: bytes | str) -> bool:
        head = raw[:HEAD].decode("utf-8", "replace") if isinstance(raw, bytes) else raw[:HEAD]
        return head.startswith(_NOISE) and len(raw) > self.longest_of_console

    def _answer(self, message: dict[str, Any]) -> None:
        command = self._commands.take(message["id"])
        if command is None or command.value.result.done():
            return
        if "error" in message:
            command.value.result.set_exception(BrowserGone(f"The browser refuses: {message['error'].get('message')}."))
        else:
            command.value.result.set_result(message["result"])

    def _end_session(self, session: str) -> None:
        """Fail the commands of a session that has ended: the browser does not answer those that a busy page has."""
        for command in [each for each in self._commands if each.value.session == session]:
            self._commands.take(command.id)
            _fail(command.value, "The page has ended.")

    def _given_up(self) -> BrowserGone:
        self._end()
        return BrowserGone(f"The browser has not answered for {_ANSWER_SECONDS:g} s.")

    def _end(self) -> None:
        if not self.closed.done():
            self.closed.set_result(None)
        for command in self._commands.take_all():
            _fail(command.value, "The browser has ended.")


@dataclass(frozen=True)
class _Command:
    """A command that waits for its result, and the session that it was sent to."""

    result: asyncio.Future[dict[str, Any]]
    session: str


def _fail(command: _Command, reason: str) -> None:
    if not command.result.done():
        command.result.set_exception(BrowserGone(reason))


def _look_at_failure(result: asyncio.Future[dict[str, Any]]) -> None:
    """Mark the failure of a command as handled, so that the event loop does not warn if no caller awaits it."""
    if not result.cancelled():
        result.exception()


def text_of(value: Mapping[str, Any]) -> str:
    """Return a value of a page as its console shows it (DevTools, `Runtime.RemoteObject`)."""
    shown = value.get("value", value.get("description", value["type"]))
    return shown if isinstance(shown, str) else str(shown)


def in_place_of(head: str) -> str:
    """Return the replacement for a message that is too long: an error answer to its command. An event is dropped.

    Args:
        head: The beginning of the message.
    """
    match = re.match(r'\{"id": *(\d+),', head)
    return f'{{"id":{match[1]},"error":{{"message":"its answer is too long"}}}}' if match else ""


class _Pipes:
    """A `DevToolsWire` over two pipes; each message ends with a zero byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.WriteTransport) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self) -> bytes:
        head = b""
        while True:
            try:
                message = (await self._reader.readuntil(b"\0"))[:-1]
            except asyncio.LimitOverrunError as error:
                skipped = await self._reader.readexactly(error.consumed)
                head = head or skipped[:HEAD]
                continue
            if not head:
                return message
            if instead := in_place_of(head.decode("utf-8", "replace")):
                return instead.encode()
            head = b""

    def send(self, *pieces: str) -> None:
        self._writer.writelines([*(piece.encode() for piece in pieces), b"\0"])

    def close(self) -> None:
        self._writer.close()


async def connect_pipes(reading: int, writing: int) -> DevTools:
    """Create the protocol's client over two file descriptors, which it then owns."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), open(reading, "rb", 0))  # noqa: ASYNC230, SIM115
    writer, _ = await loop.connect_write_pipe(asyncio.Protocol, open(writing, "wb", 0))  # noqa: ASYNC230, SIM115
    return DevTools(_Pipes(reader, writer))
