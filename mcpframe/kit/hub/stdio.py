"""The hub over stdio: one client, JSON-RPC on the standard streams and nothing else on standard output."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import Mapping
from typing import Any, Protocol

import anyio
from mcp.shared.message import SessionMessage

from mcpframe.frame.compat.sdk import SdkMessages
from mcpframe.frame.core import jsonrpc
from mcpframe.frame.session.streams import WriteStream
from mcpframe.hub.serving.server import HubServer
from mcpframe.kit.bridge.link.messages import cancelled_id
from mcpframe.kit.bridge.stdio.lines import Broken, Lines, broken
from mcpframe.kit.bridge.stdio.streams import GRACE_SECONDS, standard_input, standard_output

log = logging.getLogger(__name__)


async def serve_stdio(server: HubServer) -> None:
    """Serve the client until standard input ends, or standard output is closed.

    Args:
        server: The hub's server, which is running.
    """
    async with standard_output() as output:
        edge = StdioEdge(output)
        serving = asyncio.create_task(server.server.run(edge.read, edge, server.options))
        reading = asyncio.create_task(edge.read_all())
        try:
            await asyncio.wait({serving, reading, output.broken}, return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()
            if reading.done():
                reading.result()
                await edge.answered()
        finally:
            reading.cancel()
            serving.cancel()
            await asyncio.wait({reading, serving})
            for task in (reading, serving):
                task.cancelled() or task.exception()  # what its end causes is no failure
            edge.end()


class MessageOutput(Protocol):
    """Where the edge writes messages."""

    def write(self, text: str) -> None:
        """Write a message, in order."""
        ...


class StdioEdge(WriteStream):
    """The client's side of the server: `read` for its messages, and itself for those to it.

    Args:
        output: Standard output, or another place for messages.

    Attributes:
        read: The server's stream of messages of the client.
    """

    def __init__(self, output: MessageOutput) -> None:
        self._output = output
        self._messages = SdkMessages()
        self._incoming, self.read = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        self._pending: set[jsonrpc.RequestId] = set()
        self._written = asyncio.Event()

    async def read_all(self) -> None:
        """Read the messages of the client until standard input ends."""
        lines = Lines()
        async for data in standard_input():
            for line in lines.feed(data) if data else lines.end():
                if isinstance(line, Broken):
                    log.warning("A message of the client is not one of MCP: %s", line.error)
                    self._output.write(line.answer)
                else:
                    self.take(line.message)

    def take(self, message: dict[str, Any]) -> None:
        """Take a message of the client. One that the SDK cannot read is answered."""
        is_request = jsonrpc.is_request(message)
        try:
            item = self._messages.read(message)
        except ValueError as error:
            log.warning("A message of the client is not one of MCP: %s", error)
            if is_request:
                self._output.write(broken(message["id"], jsonrpc.INVALID_REQUEST, error).answer)
            return
        if is_request:
            self._pending.add(message["id"])
        elif (cancelled := cancelled_id(message)) is not None:
            self._pending.discard(cancelled)  # it may never be answered
        self._incoming.send_nowait(item)

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message to the client."""
        members: Mapping[str, Any] = self._messages.members(item)
        self._output.write(self._messages.text(item))
        if "method" not in members:
            self._pending.discard(members.get("id"))
            self._written.set()

    async def answered(self) -> None:
        """Wait briefly until all requests are answered."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                while self._pending:
                    self._written.clear()
                    await self._written.wait()

    def end(self) -> None:
        """End the server's stream."""
        self._incoming.close()
