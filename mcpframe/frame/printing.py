"""What a handler prints, line by line, for whoever serves the request it was printed in.

`captured` wraps `sys.stdout` so that everything still goes to the console, and additionally to the `PrintedLines` of
the request being handled, when there is one. Which request that is lives in a context variable, so requests that run
at the same time do not mix, and what is printed outside of a request goes nowhere else.
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
    """The lines one request prints, waiting to be taken. To be made, iterated and closed in the event loop's thread.

    Writing may happen in a worker thread; its lines then wait for the next one from the event loop's, or for `close`.

    Args:
        max_lines: How many lines may wait; further ones are counted and dropped.
        max_line: How many characters of a line are collected before it is cut.
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
        """Add printed text. Complete lines can be taken; the rest waits for its newline, or for `close`."""
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

    def close(self) -> None:
        """Take the rest as a line, and end the iteration after what waits."""
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
    """A text stream that also writes to the current request's lines. Everything else is the original's."""

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
    """Wrap `sys.stdout` for as long as this lasts. Inside of another `captured` this does nothing."""
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
    """Send what is printed in this context to `lines` too; None: to the console alone."""
    token = _current.set(lines)
    try:
        yield
    finally:
        _current.reset(token)
