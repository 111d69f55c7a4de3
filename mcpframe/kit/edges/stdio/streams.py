"""The standard streams of a program that serves MCP, in bytes.

Each stream has its own thread: it may be a pipe, a file or a terminal, and a client that does not read must not
block its own messages. Clients need not read standard error, and some do not.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import sys
import threading
from collections.abc import AsyncIterator, Callable
from typing import Final

from mcpframe.kit.edges.link.messages import Unread

logger = logging.getLogger(__name__)

_CHUNK = 1 << 16
GRACE_SECONDS = 1.5
"""Seconds to wait for open requests after the client has closed its end: clients kill a server after 2 seconds."""
MOST_WAITING: Final = 1000
"""The most lines of the log that wait for a reader; further ones are dropped."""
_GRACE_OF_LOG = 0.5
"""Seconds to write the remaining lines of the log at the end."""


async def standard_input() -> AsyncIterator[bytes]:
    """Yield the bytes of standard input until its end."""
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        while True:
            try:
                data = os.read(0, _CHUNK)
            except OSError:
                data = b""
            try:
                loop.call_soon_threadsafe(chunks.put_nowait, data)
            except RuntimeError:
                return  # the loop has ended already
            if not data:
                return

    threading.Thread(target=read, name="standard input", daemon=True).start()
    while data := await chunks.get():
        yield data


class _Writer:
    """Writes to a descriptor, in order, in a thread.

    Args:
        name: The name of the thread.
        on_written: Called in the thread with the size of each piece.
        on_broken: Called in the thread when the reader has gone.
    """

    def __init__(
        self,
        descriptor: int,
        name: str,
        *,
        on_written: Callable[[int], None] = lambda _: None,
        on_broken: Callable[[], None] = lambda: None,
    ) -> None:
        self._descriptor = descriptor
        self._on_written = on_written
        self._on_broken = on_broken
        self._pieces: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """The number of pieces that wait to be written."""
        return self._pieces.qsize()

    def write(self, data: bytes) -> None:
        self._pieces.put(data)

    def end(self, seconds: float) -> None:
        """End after writing the waiting pieces, or after a time-out."""
        self._pieces.put(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            while (piece := self._pieces.get()) is not None:
                rest = memoryview(piece)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
                self._on_written(len(piece))
        except OSError:
            self._on_broken()


class Output:
    """Standard output.

    Attributes:
        broken: Done when the client has closed it.
    """

    def __init__(self, descriptor: int, unread: Unread | None = None) -> None:
        """Write to a descriptor; `unread` counts the client's unread bytes."""
        self._unread = unread or Unread()
        self._loop = asyncio.get_running_loop()
        self.broken: asyncio.Future[None] = self._loop.create_future()
        self._writer = _Writer(
            descriptor, "standard output", on_written=self._unread.remove, on_broken=self._break_from_thread
        )

    def write(self, text: str) -> None:
        """Write a line, in order. A client with too much unread data counts as gone."""
        self.write_bytes(text.encode("utf-8", "surrogatepass") + b"\n")

    def write_bytes(self, data: bytes) -> None:
        """Write bytes, in order; see `write`."""
        if self.broken.done():
            return
        if not self._unread.add(len(data)):
            logger.error("The client does not read the messages sent to it: this program ends.")
            self._break()
            return
        self._writer.write(data)

    async def flush(self) -> None:
        """Write the queued messages, and end. Does not wait for a client that has stopped reading."""
        await asyncio.to_thread(self._writer.end, GRACE_SECONDS)

    def _break_from_thread(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended already
            self._loop.call_soon_threadsafe(self._break)

    def _break(self) -> None:
        if not self.broken.done():
            self.broken.set_result(None)


@contextlib.asynccontextmanager
async def standard_output() -> AsyncIterator[Output]:
    """Reserve standard output for messages: other output goes to standard error during the block."""
    sys.stdout.flush()
    descriptor = os.dup(1)
    os.dup2(2, 1)
    output = Output(descriptor)
    try:
        yield output
    finally:
        await output.flush()
        sys.stdout.flush()
        os.dup2(descriptor, 1)
        os.close(descriptor)


class StandardErrorHandler(logging.Handler):
    """Writes each record as a line to standard error, and never waits for its reader.

    Args:
        descriptor: The descriptor. Not `sys.stderr`: Python would wait for its lock when it exits.
    """

    def __init__(self, descriptor: int = 2) -> None:
        super().__init__()
        self._left_out = 0
        self._writer = _Writer(descriptor, "standard error")

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, unless too many wait."""
        if self._writer.waiting >= MOST_WAITING:
            self._left_out += 1
            return
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001  as in the library's own handlers
            self.handleError(record)
            return
        if self._left_out:
            line = f"({self._left_out} lines were left out, as nobody read them.)\n{line}"
            self._left_out = 0
        self._writer.write(f"{line}\n".encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        """Write the waiting lines, if they are read."""
        self._writer.end(_GRACE_OF_LOG)
        super().close()
