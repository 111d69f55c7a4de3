"""MCP over stdio: one client, JSON-RPC on the standard streams and nothing else on standard output."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterable
from typing import Any, Protocol

from mcpframe.frame.core.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, RequestId, id_in_use, is_request
from mcpframe.frame.waiting.changes import Changes
from mcpframe.frame.waiting.clock import LoopClock
from mcpframe.kit.base.terminal import visible
from mcpframe.kit.edges.link.early_answers import EarlyAnswers
from mcpframe.kit.edges.link.messages import ServerMessage
from mcpframe.kit.edges.link.reopening_link import OpenPage, ReopeningLink
from mcpframe.kit.edges.stdio.lines import Broken, broken, messages_of
from mcpframe.kit.edges.stdio.streams import GRACE_SECONDS, Output, standard_input, standard_output

logger = logging.getLogger(__name__)


async def serve_stdio(
    open_page: OpenPage,
    *,
    command: str = "mcpframe bridge",
    reopening_note: str = "It is opened again.",
    early: EarlyAnswers | None = None,
) -> None:
    """Bridge the standard streams until standard input ends, or standard output is closed.

    Args:
        command: the name of the command in its messages.
        reopening_note: the note that an ended page is reopened.
        early: answers until the page is open. If it cannot be opened, the calls of a client that has got one say so.

    Raises:
        BridgeError: the page could not be opened at the start. Requests until then have been answered with an error.
    """
    async with standard_output() as output:
        edge = _LinkEdge(output, command)
        link = edge.link = ReopeningLink(open_page, edge, reopening_note, early)
        reading = asyncio.create_task(edge.read_all(standard_input()))
        opening = asyncio.create_task(link.open())
        try:
            # While the page opens, the end of the input ends the bridge only if no request is open.
            await asyncio.wait([opening, reading, output.broken], return_when=asyncio.FIRST_COMPLETED)
            if link.pending and not output.broken.done():
                await asyncio.wait([opening, output.broken], return_when=asyncio.FIRST_COMPLETED)
            failure = opening.exception() if opening.done() else None
            if failure is not None and link.has_answered_early:
                edge.note(str(failure))  # and each call says so
            elif failure is not None and not sys.stdin.isatty():
                # A client shows its user the answer to its first requests, which may still be on their way.
                await asyncio.wait([reading, output.broken], timeout=GRACE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if opening.done() and not link.has_answered_early:
                opening.result()
            await asyncio.wait([reading, output.broken], return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
            if not output.broken.done():
                await edge.answered()
        finally:
            reading.cancel()
            opening.cancel()
            await asyncio.wait([reading, opening])
            await link.close()


class MessageOutput(Protocol):
    """A destination of messages."""

    def write(self, text: str) -> None:
        """Write a message, in order."""
        ...


class StdioEdge:
    """One client that sends messages in lines: the edge of the bridge, and of the hub.

    Args:
        output: Standard output, or another place for messages.
    """

    def __init__(self, output: MessageOutput) -> None:
        self._output = output
        self._written = Changes(LoopClock())

    @property
    def pending(self) -> int:
        """The number of the client's requests that wait for an answer."""
        raise NotImplementedError

    def waits_for(self, id_: RequestId) -> bool:
        """Return whether a request of the client with this id waits for an answer."""
        raise NotImplementedError

    def take(self, message: dict[str, Any], text: str) -> None:
        """Take a message of the client, parsed and as text."""
        raise NotImplementedError

    def note(self, text: str) -> None:
        """Show the user a message."""
        raise NotImplementedError

    async def read_all(self, chunks: AsyncIterable[bytes]) -> None:
        """Take the messages of the client until its stream ends. Malformed ones are answered."""
        async for line in messages_of(chunks):
            if isinstance(line, Broken):
                self.answer(line)
            elif is_request(line.message) and self.waits_for(id_ := line.message["id"]):
                self.answer(broken(id_, INVALID_REQUEST, id_in_use(id_)))
            else:
                self.take(line.message, line.text)

    def write(self, text: str) -> None:
        """Write a message; JSON text from JavaScript and Python contains no line breaks."""
        self._output.write(text)
        self._written.changed()

    def answer(self, broken: Broken) -> None:
        """Answer a malformed message."""
        self.write(broken.answer)
        self.note(broken.error)

    async def answered(self) -> None:
        """Wait briefly until all requests are answered."""
        await self._written.until(lambda: None if self.pending else True, GRACE_SECONDS)


class _LinkEdge(StdioEdge):
    """The edge of a link."""

    def __init__(self, output: Output, command: str) -> None:
        super().__init__(output)
        self._command = command
        self.link: ReopeningLink

    @property
    def pending(self) -> int:
        return self.link.pending

    def waits_for(self, id_: RequestId) -> bool:
        return self.link.waits_for(id_)

    def take(self, message: dict[str, Any], text: str) -> None:
        try:
            self.link.send(text, message)
        except Exception as error:  # one message must not end the session
            logger.exception("A message of the client could not be passed on.")
            if is_request(message):
                self.answer(broken(message["id"], INTERNAL_ERROR, f"The bridge failed: {error}"))

    def deliver(self, server_message: ServerMessage) -> None:
        self.write(server_message.text)

    def note(self, text: str) -> None:
        # Clients show or log the standard error of a server.
        print(f"{self._command}: {visible(text)}", file=sys.stderr, flush=True)
