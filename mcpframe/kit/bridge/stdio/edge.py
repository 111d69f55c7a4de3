"""The bridge's stdio edge: one client, JSON-RPC on the standard streams and nothing else on standard output."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys

from mcpframe.frame.core.jsonrpc import INTERNAL_ERROR, is_request
from mcpframe.kit.base.terminal import visible
from mcpframe.kit.bridge.link.link import Link, OpenPage
from mcpframe.kit.bridge.link.messages import ServerMessage
from mcpframe.kit.bridge.stdio.lines import Broken, Lines, broken
from mcpframe.kit.bridge.stdio.streams import GRACE_SECONDS, Output, standard_input, standard_output

logger = logging.getLogger(__name__)


async def serve_stdio(
    open_page: OpenPage, *, program: str = "mcpframe bridge", again: str = "It is opened again."
) -> None:
    """Bridge the standard streams until standard input ends, or standard output is closed.

    Args:
        open_page: opens the one page.
        program: what the user has started.
        again: what is said where a page that has ended is opened again.

    Raises:
        BridgeError: the page could not be opened at the start. Requests until then have been answered with an error.
    """
    async with standard_output() as output:
        edge = _Edge(output, program)
        link = Link(open_page, edge, again)
        reading = asyncio.create_task(_read_into(link, edge))
        opening = asyncio.create_task(link.open())
        try:
            # While the page opens, the end of the input ends the bridge only if no request is open.
            await asyncio.wait([opening, reading, output.broken], return_when=asyncio.FIRST_COMPLETED)
            if link.pending and not output.broken.done():
                await asyncio.wait([opening, output.broken], return_when=asyncio.FIRST_COMPLETED)
            if opening.done() and opening.exception() and not sys.stdin.isatty():
                # A client shows its user the answer to its first requests, which may still be on their way.
                await asyncio.wait([reading, output.broken], timeout=GRACE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
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

    def __init__(self, output: Output, program: str) -> None:
        self._output = output
        self._program = program
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
        print(f"{self._program}: {visible(text)}", file=sys.stderr, flush=True)

    async def answered(self, link: Link) -> None:
        """Wait briefly until all requests are answered."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                while link.pending:
                    self._delivered.clear()
                    await self._delivered.wait()


async def _read_into(link: Link, edge: _Edge) -> None:
    lines = Lines()
    async for data in standard_input():
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
