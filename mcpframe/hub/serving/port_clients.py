"""Clients of the hub over ports: raw JSON-RPC, one session of `HubServer` for each port.

The home of the hub reports new ports, their messages, and their ends, as for `PortTransport`. When a port closes, its
session and its calls end.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.errors import MessageError, TooManyPending
from mcpframe.frame.core.limits import PENDING_REQUESTS
from mcpframe.frame.core.outline import outline
from mcpframe.frame.waiting.streams import WriteStream
from mcpframe.hub.core import limits
from mcpframe.hub.core.codec import LIMITS
from mcpframe.hub.core.interfaces import ON_THIS_MACHINE
from mcpframe.hub.serving.calls import client_origin
from mcpframe.hub.serving.server import HubServer

log = logging.getLogger(__name__)

_BUSY = "The hub has {0} clients already: end one first."


class ClientPort(Protocol):
    """One connection to a client."""

    def post(self, text: str) -> None:
        """Post JSON text. Any exception means that the connection has ended."""
        ...

    def close(self) -> None:
        """End the connection. Does nothing if it has ended."""
        ...


class HubClients:
    """The clients of a hub.

    Args:
        server: The hub's server, which is running.
        most: The largest number of clients.
        changed: Called when their number changes.
    """

    def __init__(
        self, server: HubServer, most: int = limits.HUB_CLIENTS, changed: Callable[[], None] = lambda: None
    ) -> None:
        self._changed = changed
        self._server = server
        self._most = most
        self._clients: dict[ClientPort, _Client] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        """Not a task group: a browser's events come outside of any task, where none can be used."""
        self._runs = False

    def __len__(self) -> int:
        return len(self._clients)

    def __contains__(self, port: object) -> bool:
        return port in self._clients

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve clients for the duration of the block; its end closes all ports."""
        self._runs = True
        try:
            yield
        finally:
            self._runs = False
            for port in list(self._clients):
                self.closed(port)
                _guarded_close(port)
            if self._tasks:
                await asyncio.wait(set(self._tasks))

    def connected(self, port: ClientPort, origin: str = ON_THIS_MACHINE) -> bool:
        """Take a new port, and return whether there was room; otherwise it is closed.

        Args:
            origin: The client's origin: see `Caller.origin`.
        """
        if not self._runs or len(self._clients) >= self._most:
            log.warning(_BUSY.format(len(self._clients)))
            _guarded_close(port)
            return False
        client = self._clients[port] = _Client(port, origin)
        client.task = asyncio.get_running_loop().create_task(self._serve(client))
        self._tasks.add(client.task)
        client.task.add_done_callback(lambda task: self._ended(client, task))
        self._changed()
        return True

    def received(self, port: ClientPort, text: str) -> None:
        """Take a message of a port, JSON text. Never raises."""
        if client := self._clients.get(port):
            client.take(text)

    def closed(self, port: ClientPort) -> None:
        """Note that a port has closed: its session ends, and its calls are cancelled."""
        if client := self._clients.pop(port, None):
            client.cancel()
            self._changed()

    async def _serve(self, client: _Client) -> None:
        client_origin.set(client.origin)  # in this task
        try:
            await self._server.server.run(client.read, client, self._server.options)
        except Exception:  # one client must not end the others
            log.exception("The session of a client has failed.")

    def _ended(self, client: _Client, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        client.end()
        if self._clients.pop(client.port, None) is not None:
            _guarded_close(client.port)
            self._changed()


class _Client(WriteStream):
    """One client: `read` is the stream of its messages to the server; the object is the stream to the client."""

    def __init__(self, port: ClientPort, origin: str) -> None:
        self.port = port
        self.origin = origin
        self.task: asyncio.Task[None] | None = None
        self._incoming, self.read = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        self._pending = jsonrpc.Pending(PENDING_REQUESTS)

    def take(self, text: str) -> None:
        """Take a message of the client. An unreadable request is answered; other unreadable messages are ignored."""
        try:
            message = payload.decode(text, **LIMITS)
            if not isinstance(message, dict) or "jsonrpc" not in message:
                return  # keep-alive, and anything else that is not JSON-RPC
            message = jsonrpc.with_usable_id(message)
            item = SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False))
            self._pending.asked(message)
        except (MessageError, TooManyPending, ValueError) as error:
            log.debug("A message of a client is ignored: %s", error)
            self._refuse(text, error)
            return
        try:
            self._incoming.send_nowait(item)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            log.debug("A message of a client comes after the end of its session.")

    async def send(self, item: SessionMessage, /) -> None:
        """Post a message to the client."""
        members: Mapping[str, Any] = {
            name: getattr(item.message, name) for name in item.message.model_fields_set
        }  # no second dump of a large result
        self._pending.answered(members)
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        if "method" not in members and (size := _size(text)) > limits.ANSWER_BYTES:
            error = f"The answer has {size:,} bytes; the limit is {limits.ANSWER_BYTES:,}."
            text = payload.encode(jsonrpc.error_response(members["id"], jsonrpc.INTERNAL_ERROR, error))
        self._post(text)

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()

    def end(self) -> None:
        """End the server's stream."""
        self._incoming.close()
        self.read.close()

    def _refuse(self, text: str, error: Exception) -> None:
        seen = outline(text)
        id_ = jsonrpc.answerable_id(seen.id)
        if seen.kind == "request" and id_ is not None:
            self._post(payload.encode(jsonrpc.error_response(id_, jsonrpc.INVALID_REQUEST, str(error))))

    def _post(self, text: str) -> None:
        try:
            self.port.post(text)
        except Exception as error:  # noqa: BLE001  a port may raise anything
            log.debug("A client has gone: %s", error)
            self.cancel()


def _size(text: str) -> int:
    """Return the length of a text in UTF-8; for one certainly within the limit, in characters."""
    return len(text) if len(text) <= limits.ANSWER_BYTES // 4 else len(text.encode("utf-8", "surrogatepass"))


def _guarded_close(port: ClientPort) -> None:
    try:
        port.close()
    except Exception as error:  # noqa: BLE001  a port may raise anything
        log.debug("A client's port could not be closed: %s", error)
