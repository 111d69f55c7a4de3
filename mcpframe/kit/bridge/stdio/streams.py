"""The standard streams of a server over stdio, in bytes.

Each stream has a thread of its own: it may be a pipe, a file or a terminal, and a client that does not read must not
block its own messages.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import sys
import threading
from collections.abc import AsyncIterator

from mcpframe.kit.bridge.link.messages import Unread

logger = logging.getLogger(__name__)

_CHUNK = 1 << 16
GRACE_SECONDS = 1.5
"""How long to wait for open requests after the client has closed its end: clients kill a server after 2 seconds."""


async def standard_input() -> AsyncIterator[bytes]:
    """Yield the bytes of standard input; empty once at its end."""
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
    while True:
        data = await chunks.get()
        yield data
        if not data:
            return


class Output:
    """Standard output, written by a thread.

    Attributes:
        broken: Done when the client has closed it.
    """

    def __init__(self, descriptor: int, unread: Unread | None = None) -> None:
        """Write to this descriptor; `unread` counts what the client has not read."""
        self._descriptor = descriptor
        self._unread = unread or Unread()
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self.broken: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._write, name="standard output", daemon=True)
        self._thread.start()

    def write(self, text: str) -> None:
        """Write a line, in order. A client that leaves too much unread counts as gone."""
        self.write_bytes(text.encode("utf-8", "surrogatepass") + b"\n")

    def write_bytes(self, data: bytes) -> None:
        """Write bytes, as `write`."""
        if self.broken.done():
            return
        if not self._unread.add(len(data)):
            logger.error("The client does not read the messages sent to it: this program ends.")
            self._break()
            return
        self._lines.put(data)

    async def flush(self) -> None:
        """Write what is still queued, and end. Does not wait for a client that has stopped reading."""
        self._lines.put(None)
        await asyncio.to_thread(self._thread.join, GRACE_SECONDS)

    def _write(self) -> None:
        try:
            while (line := self._lines.get()) is not None:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
                self._unread.remove(len(line))
        except OSError:
            with contextlib.suppress(RuntimeError):  # the loop has ended already
                self._loop.call_soon_threadsafe(self._break)

    def _break(self) -> None:
        if not self.broken.done():
            self.broken.set_result(None)


@contextlib.asynccontextmanager
async def standard_output() -> AsyncIterator[Output]:
    """Reserve standard output for messages: other output goes to standard error in the block."""
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
