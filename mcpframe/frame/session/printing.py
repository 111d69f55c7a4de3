"""Collect a handler's printed lines for the request it runs in.

`captured` wraps `sys.stdout` so that everything still goes to the console, and additionally to the `PrintedLines` of
the request being handled, if there is one. The current request is in a context variable, so that concurrent requests
do not mix, and text printed outside of a request goes to the console alone.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO, cast

import anyio

_current: ContextVar[PrintedLines | None] = ContextVar("mcpframe_printed_lines", default=None)


class PrintedLines:
    """A queue of the lines one request prints. Create, iterate and close it in the event loop's thread.

    A worker thread may write; its lines are delivered with the next write from the event loop's thread, or by `close`.

    Args:
        max_lines: The most lines in the queue; further ones are counted and dropped.
        max_line: The most characters of a line; longer lines are split.
    """

    def __init__(self, *, max_lines: int = 1000, max_line: int = 65536) -> None:
        self._max_lines = max_lines
        self._max_line = max_line
        self._waiting: deque[str] = deque()
        self._partial = ""
        self._dropped = 0
        self._closed = False
        self._thread = threading.get_ident()
        self._changed = anyio.Event()

    def write(self, text: str) -> None:
        """Add printed text. Complete lines are queued; the rest waits for its newline, or for `close`."""
        if self._closed:
            return
        *lines, self._partial = (self._partial + text).split("\n")
        if len(self._partial) >= self._max_line:
            lines.append(self._partial)
            self._partial = ""
        for line in lines:
            self._add(line)
        if lines and threading.get_ident() == self._thread:
            self._changed.set()

    def take(self) -> list[str]:
        """Remove the complete lines from the queue, and return them."""
        lines = list(self._waiting)
        self._waiting.clear()
        return lines

    def close(self) -> None:
        """Queue the incomplete line, and end the iteration after the queued lines."""
        if self._partial:
            self._add(self._partial)
        if self._dropped:
            self._waiting.append(f"({self._dropped} more printed lines were not sent)")
        self._partial = ""
        self._closed = True
        self._changed.set()

    def _add(self, line: str) -> None:
        if len(self._waiting) < self._max_lines:
            self._waiting.append(line)
        else:
            self._dropped += 1

    async def __aiter__(self) -> AsyncIterator[str]:
        while True:
            self._changed = anyio.Event()
            while self._waiting:
                yield self._waiting.popleft()
            if self._closed:
                return
            await self._changed.wait()


class _Tee:
    """A text stream that also writes to the current request's lines. Other attributes are the original stream's."""

    def __init__(self, console: TextIO) -> None:
        self._console = console

    def write(self, text: str) -> int:
        written = self._console.write(text)
        lines = _current.get()
        if lines is not None:
            lines.write(text)
        return written

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._console, name)


@contextmanager
def captured() -> Iterator[None]:
    """Wrap `sys.stdout` in this block. Nested in another `captured` it does nothing."""
    console = sys.stdout
    if isinstance(console, _Tee):
        yield
        return
    tee = cast("TextIO", _Tee(console))
    sys.stdout = tee
    try:
        yield
    finally:
        if sys.stdout is tee:
            sys.stdout = console


@contextmanager
def printing_to(lines: PrintedLines | None) -> Iterator[None]:
    """Also send text printed in this context to `lines`; with None, to the console alone."""
    token = _current.set(lines)
    try:
        yield
    finally:
        _current.reset(token)
