"""Serve several clients behind one window, each with its own pair of streams: see `client_routes`."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import anyio

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.errors import StateError, UnexpectedMessage
from mcpframe.frame.session.client_routes import PageClient, Routes
from mcpframe.frame.waiting.streams import WriteStream

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectSendStream

    from mcpframe.frame.session.interfaces import Messages

MOST: Final = 8
"""The most clients with a session that are served at once: clients do not announce that they leave."""

Serve = Callable[[Any, Any], Awaitable[None]]
"""Serves one client on its `(read, write)` until `read` ends."""

BeforeLeaving = Callable[[Callable[[], None]], Callable[[], None]]


async def serve_clients(
    streams: tuple[Any, Any],
    messages: Messages,
    post: Callable[[Mapping[str, Any]], None],
    serve: Serve,
    *,
    most: int = MOST,
    capabilities: Mapping[str, Any] | None = None,
    before_leaving: BeforeLeaving | None = None,
) -> None:
    """Serve every client of a session, until the session ends or serving one of them raises.

    Args:
        streams: the session's streams, shared by all clients.
        messages: the form of messages on them, and on the streams of each client.
        post: posts a JSON-RPC object.
        serve: serves one client.
        most: the most clients with a session that are served at once; with 1, each waits for the end of the previous
            one.
        capabilities: capabilities beyond those of MCP, sent to each client.
        before_leaving: registers a function that is called before the page is left, and returns one that removes it.
            Clients then get errors for their requests.
    """
    clients = _Clients(streams[1], messages, post, serve, Routes(most, capabilities), most)
    stop = before_leaving(clients.interrupt) if before_leaving else None
    try:
        await clients.run(streams[0])
    finally:
        if stop is not None:
            stop()


class _Clients:
    def __init__(
        self,
        write: Any,
        messages: Messages,
        post: Callable[[Mapping[str, Any]], None],
        serve: Serve,
        routes: Routes,
        most: int,
    ) -> None:
        self.write = write
        self.messages = messages
        self.post = post
        self.routes = routes
        self._serve = serve
        self._turn = anyio.Semaphore(2 * most if most > 1 else 1)  # as many without a session
        self._incoming: dict[PageClient, MemoryObjectSendStream[Any]] = {}
        self._failure: Exception | None = None

    def interrupt(self) -> None:
        """Answer every open request with an error before the page is left."""
        with suppress(StateError):  # the session is over
            for error in self.routes.interrupt():
                self.post(error)

    async def run(self, read: Any) -> None:
        async with anyio.create_task_group() as tasks:
            async for item in read:
                self._take(item, tasks)
            for incoming in self._incoming.values():
                incoming.close()
        if self._failure is not None:
            raise self._failure

    def _take(self, item: Any, tasks: anyio.abc.TaskGroup) -> None:
        if isinstance(item, Exception):
            return  # not a message of MCP; its sender has been answered
        message = item if isinstance(item, Mapping) else self.messages.members(item)
        if message.get("method") == "ping" and "id" in message and not self.routes.clients:
            with suppress(StateError):  # from a client that looks for a server
                self.post({"jsonrpc": "2.0", "id": message["id"], "result": {}})
            return
        try:
            routed = self.routes.inbound(message)
        except UnexpectedMessage as error:
            with suppress(StateError):
                self.post(jsonrpc.error_response(message["id"], jsonrpc.INVALID_REQUEST, str(error)))
            return
        if routed is None:
            return
        client, body = routed
        if client not in self._incoming:
            self._incoming[client], outgoing = anyio.create_memory_object_stream[Any](math.inf)
            tasks.start_soon(self._run_one, client, outgoing, tasks.cancel_scope)
        while surplus := self.routes.surplus:
            self.routes.clients.remove(surplus)
            self._incoming[surplus].close()
        try:
            self._incoming[client].send_nowait(item if body is message else self.messages.read(body))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.routes.gone(client)

    async def _run_one(self, client: PageClient, read: Any, scope: anyio.CancelScope) -> None:
        try:
            async with self._turn:
                await self._serve(read, _Writer(self, client))
        except Exception as error:  # noqa: BLE001  raised by `run`: a task group would wrap it
            self._failure = self._failure or error
            scope.cancel()
        finally:
            self.routes.gone(client)
            self._incoming.pop(client).close()
            read.close()


class _Writer(WriteStream):
    """The write stream of one client. Closing it does nothing, as the others continue."""

    def __init__(self, clients: _Clients, client: PageClient) -> None:
        self._clients = clients
        self._client = client

    async def send(self, item: Any, /) -> None:
        """Post one message. Raises `anyio.ClosedResourceError` if the session is over."""
        members = self._clients.messages.members(item)
        message = self._clients.routes.outbound(self._client, members)
        if message is members:
            await self._clients.write.send(item)
        elif message is not None:
            try:
                self._clients.post(message)
            except StateError:
                raise anyio.ClosedResourceError from None
