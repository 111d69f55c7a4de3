"""Collect what a server prints and logs, for the request in which it does so.

`install` wraps `sys.stdout`, `sys.stderr` and `os.write`, so that everything still goes to the console, and also to the
`PrintedLines` of the current request, if there is one. The current request is in a context variable, so that concurrent
requests do not mix, and text printed outside of a request goes to the console alone.

What a handler of `logging` writes keeps the level and the logger of its record. Records and warnings of the SDKs and
of mcpframe stay on the console: they are about serving, and repeat what the result says, or what is being sent.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import threading
import warnings
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, NamedTuple, TextIO, cast

import anyio

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The log levels of MCP, rising."""
_NAMES = {1: "print", 2: "stderr"}
"""The loggers of printed text, by file descriptor."""
_OF_LOGGING = ((logging.DEBUG, "debug"), (logging.INFO, "info"), (logging.WARNING, "warning"), (logging.ERROR, "error"))
_SERVING = re.compile(r"[/\\](?:site-packages[/\\](?:mcp|fastmcp)|mcpframe[/\\](?:frame|hub|kit))[/\\]")
"""Files whose records stay on the console."""
_SOURCES = {
    logging.Handler.handle.__code__: "record",
    getattr(warnings, "_showwarnmsg").__code__: "msg",  # noqa: B009  private: what `warn` ends in
}
"""The functions in which a record or a warning is written, and the names of their variables."""
_DEEPEST = 16
"""The most frames between a handler of `logging` and its stream: rich's takes nine."""


class PrintedLine(NamedTuple):
    """A line that was printed, or a log record.

    Attributes:
        text: the text, without its newline.
        level: one of `LEVELS`.
        logger: the name of the logger; `"print"` and `"stderr"` for what is printed.
    """

    text: str
    level: str = "info"
    logger: str = "print"

    def is_at(self, least: object) -> bool:
        """Return whether a client that asks for logs from the level `least` on gets this; it may be anything."""
        return least in LEVELS and LEVELS.index(self.level) >= LEVELS.index(least)


_current: ContextVar[PrintedLines | None] = ContextVar("mcpframe_printed_lines", default=None)


class PrintedLines:
    """The lines of a request that have to be sent. Create and await it in the event loop's thread.

    A worker thread may write; its lines are sent with the next write from the event loop's thread, or by `close`.

    Args:
        send: Sends a line to the client.
        over_queues: Whether the server's messages reach the client over queues of its SDK: see `message_follows`.
        max_lines: The most lines that wait; further ones are counted and dropped.
        max_line: The most characters of a line; longer lines are split.
    """

    def __init__(
        self,
        send: Callable[[PrintedLine], Awaitable[None]],
        *,
        over_queues: bool = False,
        max_lines: int = 1000,
        max_line: int = 65536,
    ) -> None:
        self._send = send
        self._over_queues = over_queues
        self._max_lines = max_lines
        self._max_line = max_line
        self._waiting: deque[PrintedLine | None] = deque()  # None: a message that is on its way, see `message_follows`
        self._partial: dict[str, str] = {}
        self._dropped = 0
        self._closed = False
        self._thread = threading.get_ident()
        self._changed = anyio.Event()
        self._sending = asyncio.Lock()

    def write(self, text: str, logger: str = "print") -> None:
        """Add printed text. Complete lines are queued; the rest waits for its newline, or for `close`."""
        if self._closed:
            return
        *lines, partial = (self._partial.get(logger, "") + text).split("\n")
        if len(partial) >= self._max_line:
            lines.append(partial)
            partial = ""
        self._partial[logger] = partial
        for line in lines:
            self._add(PrintedLine(line, logger=logger))
        if lines:
            self._notify()

    def log(self, record: logging.LogRecord, text: str) -> None:
        """Add the text of a log record, or a part of it."""
        if text := text.removesuffix("\n"):
            level = next((name for most, name in _OF_LOGGING if record.levelno <= most), "critical")
            self._add(PrintedLine(text, level, record.name))
            self._notify()

    def mark(self) -> None:
        """Hold back later lines until a message, which is on its way now, has `passed`."""
        if self._over_queues and not self._closed:
            self._waiting.append(None)

    def unmark(self) -> None:
        """Take the last mark back, as its message is not sent."""
        for place in reversed(range(len(self._waiting))):
            if self._waiting[place] is None:
                del self._waiting[place]
                return

    def passed(self) -> None:
        """Release the lines that were printed after a message, as it has been sent."""
        if self._waiting and self._waiting[0] is None:
            self._waiting.popleft()
            self._notify()

    async def send_everything(self) -> None:
        """Send all complete lines, whatever they wait for."""
        self._waiting = deque(line for line in self._waiting if line is not None)
        await self.send_waiting()

    async def send_waiting(self) -> None:
        """Send the complete lines, up to a mark."""
        async with self._sending:  # in order, whoever sends
            with printing_to(None):  # output printed while sending is not the request's
                while self._waiting and (line := self._waiting[0]) is not None:
                    self._waiting.popleft()
                    await self._send(line)

    async def send_all(self) -> None:
        """Send the lines as they are completed, until `close`."""
        while True:
            self._changed = anyio.Event()
            await self.send_waiting()
            if self._closed and not self._waiting:
                return
            if not self._closed:
                await self._changed.wait()

    def close(self) -> None:
        """Queue the incomplete lines, and end `send_all` after the queued lines."""
        for logger, partial in self._partial.items():
            if partial:
                self._add(PrintedLine(partial, logger=logger))
        if self._dropped:
            self._waiting.append(PrintedLine(f"({self._dropped} more printed lines were not sent)"))
        self._waiting = deque(line for line in self._waiting if line is not None)
        self._partial.clear()
        self._dropped = 0
        self._closed = True
        self._changed.set()

    def _add(self, line: PrintedLine) -> None:
        if len(self._waiting) < self._max_lines:
            self._waiting.append(line._replace(text=line.text[: self._max_line]))
        else:
            self._dropped += 1

    def _notify(self) -> None:
        if threading.get_ident() == self._thread:
            self._changed.set()


async def send_printed() -> None:
    """Send what the current request has printed, before its next message."""
    if lines := _current.get():
        await lines.send_waiting()


@contextmanager
def message_follows() -> Iterator[None]:
    """Keep the order of the current request's lines and of a message that the block sends over queues of an SDK."""
    lines = _current.get()
    if lines is None:
        yield
        return
    lines.mark()
    try:
        yield
    except BaseException:
        lines.unmark()
        raise


def _note(text: str, logger: str) -> None:
    """Add text that the code around this call writes to the lines of its request."""
    lines = _current.get()
    if lines is None:
        return
    source = _source()
    if source is None:
        lines.write(text, logger)
    elif isinstance(source, warnings.WarningMessage):
        if not source.category.__module__.startswith(("mcp.", "fastmcp.")):
            lines.write(text, logger)
    elif not _SERVING.search(source.pathname):
        lines.log(source, text)


def _source() -> logging.LogRecord | warnings.WarningMessage | None:
    """Return the log record or the warning that is being written, found in the frames of this call."""
    frame: FrameType | None = sys._getframe(3)
    for _ in range(_DEEPEST):
        if frame is None:
            break
        if name := _SOURCES.get(frame.f_code):
            source = frame.f_locals[name]
            return source if isinstance(source, logging.LogRecord | warnings.WarningMessage) else None
        frame = frame.f_back
    return None


class _Tee:
    """A stream that also writes to the current request's lines. Other attributes are the original stream's."""

    def __init__(self, console: Any, logger: str) -> None:
        self._console = console
        self._logger = logger

    def write(self, text: Any) -> int:
        written: int = self._console.write(text)
        _note(text if isinstance(text, str) else bytes(text).decode("utf-8", "replace"), self._logger)
        return written

    def writelines(self, lines: list[Any]) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> Any:
        return _Tee(self._console.buffer, self._logger)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._console, name)


def install() -> None:
    """Wrap the standard streams for good, before the author's code is imported, which may keep them: `basicConfig`."""
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _Tee):
            setattr(sys, name, _Tee(stream, _NAMES[descriptor]))
    if os.write.__module__ != __name__:
        _wrap_os_write()


def _wrap_os_write() -> None:
    original = os.write

    def write(descriptor: int, data: Any, /) -> int:
        written = original(descriptor, data)
        if descriptor in _NAMES:
            _note(bytes(data)[:written].decode("utf-8", "replace"), _NAMES[descriptor])
        return written

    os.write = write


@contextmanager
def captured() -> Iterator[None]:
    """Wrap the standard streams in this block, unless they are."""
    before = sys.stdout, sys.stderr, os.write
    install()
    wrapped = sys.stdout, sys.stderr, os.write
    try:
        yield
    finally:
        for name, tee, original in zip(("stdout", "stderr"), wrapped, before, strict=False):
            if getattr(sys, name) is tee:
                setattr(sys, name, cast("TextIO", original))
        if os.write is wrapped[2]:
            os.write = before[2]


@contextmanager
def printing_to(lines: PrintedLines | None) -> Iterator[None]:
    """Also send text printed in this context to `lines`; with None, to the console alone."""
    token = _current.set(lines)
    try:
        yield
    finally:
        _current.reset(token)
