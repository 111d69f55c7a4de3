"""The hub over stdio: one client, JSON-RPC on the standard streams and nothing else on standard output."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping
from typing import Any

import anyio
from mcp.shared.message import SessionMessage

from mcpframe.frame.compat.sdk import SdkMessages
from mcpframe.frame.core import jsonrpc
from mcpframe.frame.waiting.streams import WriteStream
from mcpframe.hub.serving.server import HubServer
from mcpframe.kit.edges.stdio.edge import MessageOutput, StdioEdge
from mcpframe.kit.edges.stdio.lines import broken
from mcpframe.kit.edges.stdio.streams import standard_input, standard_output

log = logging.getLogger(__name__)


async def serve_stdio(server: HubServer) -> None:
    """Serve the client until standard input ends, or standard output is closed.

    Args:
        server: The hub's server, which is running.
    """
    async with standard_output() as output:
        edge = HubEdge(output)
        serving = asyncio.create_task(server.server.run(edge.read, edge, server.options))
        reading = asyncio.create_task(edge.read_all(standard_input()))
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
                task.cancelled() or task.exception()  # the client's end is not a failure
            edge.end()


class HubEdge(StdioEdge, WriteStream):
    """The client's side of the server: `read` has its messages, and the object itself is the stream to it.

    Attributes:
        read: The server's stream of messages of the client.
    """

    def __init__(self, output: MessageOutput) -> None:
        super().__init__(output)
        self._messages = SdkMessages()
        self._incoming, self.read = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        self._requests: set[jsonrpc.RequestId] = set()

    @property
    def pending(self) -> int:
        return len(self._requests)

    def waits_for(self, id_: jsonrpc.RequestId) -> bool:
        return id_ in self._requests

    def take(self, message: dict[str, Any], text: str = "") -> None:
        """Take a message of the client. A message that the SDK cannot read is answered with an error."""
        is_request = jsonrpc.is_request(message)
        try:
            item = self._messages.read(message)
        except ValueError as error:
            if is_request:
                self.answer(broken(message["id"], jsonrpc.INVALID_REQUEST, error))
            else:
                self.note(str(error))
            return
        if is_request:
            self._requests.add(message["id"])
        elif (cancelled := jsonrpc.cancelled_id(message)) is not None:
            self._requests.discard(cancelled)  # it may never be answered
        self._incoming.send_nowait(item)

    def note(self, text: str) -> None:
        log.warning("A message of the client is not one of MCP: %s", text)

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message to the client."""
        members: Mapping[str, Any] = self._messages.members(item)
        if "method" not in members:
            self._requests.discard(members.get("id"))
        self.write(self._messages.text(item))

    def end(self) -> None:
        self._incoming.close()
