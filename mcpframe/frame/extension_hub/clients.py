"""MCP clients over ports: raw JSON-RPC, one session for each port."""

from __future__ import annotations

import asyncio
import logging
import math
from typing import Any, Self

import anyio

from mcpframe.frame.compat.sdk import SdkMessages
from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.extension_hub.runtime import ExtensionPort
from mcpframe.frame.hub import messages
from mcpframe.frame.hub.server import HubServer

log = logging.getLogger(__name__)


class PortClient:
    """A client. It is itself the server's stream for what goes to it.

    Args:
        port: Its port.
        server: The hub's server, which is running.
    """

    def __init__(self, port: ExtensionPort, server: HubServer) -> None:
        self._port = port
        self._server = server
        self._messages = SdkMessages()
        self._incoming, self._read = anyio.create_memory_object_stream[Any](math.inf)
        self._serving: asyncio.Task[None] | None = None
        port.on_message = self._received
        port.on_close = self.end

    def start(self) -> None:
        """Serve the client until its port ends."""
        run = self._server.server.run(self._read, self, self._server.options)
        self._serving = asyncio.get_running_loop().create_task(run)
        self._serving.add_done_callback(self._ended)

    def end(self) -> None:
        """End the session: calls that run are cancelled."""
        if self._serving is not None:
            self._serving.cancel()

    def _ended(self, serving: asyncio.Task[None]) -> None:
        self._incoming.close()
        self._port.close()
        if not serving.cancelled() and (error := serving.exception()):
            log.warning("The session with a client has ended: %s", error)

    def _received(self, text: str) -> None:
        id_: Any = None
        try:
            message = messages.parse(text)
            if not isinstance(message, dict) or message.get("type") == "keep-alive":
                return
            id_ = message["id"] if jsonrpc.is_request(message) else None
            self._incoming.send_nowait(self._messages.read(message))
        except (MessageError, ValueError) as error:
            log.warning("A message of a client is not one of MCP: %s", error)
            if id_ is not None:
                self._post(payload.encode(jsonrpc.error_response(id_, jsonrpc.INVALID_REQUEST, str(error))))
        except anyio.ClosedResourceError:
            return

    async def send(self, item: Any, /) -> None:
        """Send a message to the client."""
        self._post(self._messages.text(item))

    def _post(self, text: str) -> None:
        try:
            self._port.post(text)
        except OSError as error:  # the port has ended, which is heard of separately
            log.debug("A client is gone: %s", error)

    async def aclose(self) -> None:
        """The server writes no more."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass
