"""The bridge's stdio edge: one client, JSON-RPC on the standard streams and nothing else on standard output.

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

from mcpframe.frame.core.jsonrpc import INTERNAL_ERROR, is_request
from mcpframe.kit.base.terminal import visible
from mcpframe.kit.bridge.lines import Broken, Lines, broken
from mcpframe.kit.bridge.link import Link, OpenPage
from mcpframe.kit.bridge.tab import ServerMessage
from mcpframe.kit.bridge.unread import Unread

logger = logging.getLogger(__name__)

_CHUNK = 1 << 16
_GRACE_SECONDS = 1.5
"""How long to wait for open requests after the client has closed its end: clients kill a server after 2 seconds."""


async def serve_stdio(open_page: OpenPage) -> None:
    """Bridge the standard streams until standard input ends, or standard output is closed.

    Args:
        open_page: opens the one page.

    Raises:
        BridgeError: the page could not be opened at the start. Requests until then have been answered with an error.
    """
    async with _standard_output() as output:
        edge = _Edge(output)
        link = Link(open_page, edge)
        reading = asyncio.create_task(_read_into(link, edge))
        opening = asyncio.create_task(link.open())
        try:
            # While the page opens, the end of the input ends the bridge only if no request is open.
            await asyncio.wait([opening, reading, output.broken], return_when=asyncio.FIRST_COMPLETED)
            if link.pending and not output.broken.done():
                await asyncio.wait([opening, output.broken], return_when=asyncio.FIRST_COMPLETED)
            if opening.done():
                opening.result()
            await asyncio.wait([reading, output.broken], return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
            if not output.broken.done():
                await edge.answered(link)
        finally:
            reading.cancel()
            opening.cancel()
            await asyncio.wait([reading, opening])
            await link.close()


class _Edge:
    """Writes the server's messages to standard output."""

    def __init__(self, output: _Output) -> None:
        self._output = output
        self._delivered = asyncio.Event()

    def deliver(self, server_message: ServerMessage) -> None:
        """Write a message; JSON text from JavaScript and Python contains no line breaks."""
        self._output.write(server_message.text)
        self._delivered.set()

    def answer(self, broken: Broken) -> None:
        """Answer a malformed line."""
        self._output.write(broken.answer)
        self.note(broken.error)

    def note(self, text: str) -> None:
        """Show the user a message; clients show or log what a server writes to standard error."""
        print(f"mcpframe bridge: {visible(text)}", file=sys.stderr, flush=True)

    async def answered(self, link: Link) -> None:
        """Wait briefly until all requests are answered."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                while link.pending:
                    self._delivered.clear()
                    await self._delivered.wait()


async def _read_into(link: Link, edge: _Edge) -> None:
    lines = Lines()
    async for data in _standard_input():
        for line in lines.feed(data) if data else lines.end():
            if isinstance(line, Broken):
                edge.answer(line)
                continue
            try:
                link.send(line.text, line.message)
            except Exception as error:  # one message must not end the session
                logger.exception("A message of the client could not be passed on.")
                if is_request(line.message):
                    edge.answer(broken(line.message["id"], INTERNAL_ERROR, f"The bridge failed: {error}"))


async def _standard_input() -> AsyncIterator[bytes]:
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


class _Output:
    """Standard output, written by a thread. Attribute `broken`: done when the client has closed it."""

    def __init__(self, descriptor: int, unread: Unread | None = None) -> None:
        self._descriptor = descriptor
        self._unread = unread or Unread()
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self.broken: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._write, name="standard output", daemon=True)
        self._thread.start()

    def write(self, text: str) -> None:
        """Write a line, in order. A client that leaves too much unread counts as gone."""
        line = text.encode("utf-8", "surrogatepass") + b"\n"
        if self.broken.done():
            return
        if not self._unread.add(len(line)):
            logger.error("The client does not read the messages sent to it: the bridge ends.")
            self._break()
            return
        self._lines.put(line)

    async def flush(self) -> None:
        """Write what is still queued, and end. Does not wait for a client that has stopped reading."""
        self._lines.put(None)
        await asyncio.to_thread(self._thread.join, _GRACE_SECONDS)

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
async def _standard_output() -> AsyncIterator[_Output]:
    """Reserve standard output for messages: other output goes to standard error in the block."""
    sys.stdout.flush()
    descriptor = os.dup(1)
    os.dup2(2, 1)
    output = _Output(descriptor)
    try:
        yield output
    finally:
        await output.flush()
        sys.stdout.flush()
        os.dup2(descriptor, 1)
        os.close(descriptor)
