"""Notifies clients that a resource or the list of tools has changed, in both protocol eras, also outside of a request.

The SDK publishes such changes on a server's bus, which `subscriptions/listen` streams to clients of 2026-07-28. Clients
up to 2025-11-25 send `resources/subscribe` instead (MCP specification, server/resources), which the SDK leaves to the
application: here each such connection subscribes to the same bus.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import ResourceUpdated, ServerEvent, SubscriptionBus, ToolsListChanged

_KEY = "mcpframe.subscriptions"


def answer_subscriptions(server: Server[Any], bus: SubscriptionBus) -> None:
    """Answer `resources/subscribe` and `resources/unsubscribe` for a server, unless its author has handlers for them.

    Args:
        server: The lowlevel server.
        bus: Where changes are published.
    """
    if server.get_request_handler("resources/subscribe") is not None:
        return

    async def subscribe(ctx: ServerRequestContext[Any, Any], params: types.SubscribeRequestParams) -> types.EmptyResult:
        connection = ctx.session._connection
        listener = connection.state.get(_KEY)
        if listener is None:
            listener = connection.state[_KEY] = _Listener(connection)
            connection.exit_stack.callback(bus.subscribe(listener.hear))
        listener.uris.add(str(params.uri))
        return types.EmptyResult()

    async def unsubscribe(
        ctx: ServerRequestContext[Any, Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        if listener := ctx.session._connection.state.get(_KEY):
            listener.uris.discard(str(params.uri))
        return types.EmptyResult()

    server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, subscribe)
    server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, unsubscribe)


async def announce_update(bus: SubscriptionBus, uri: str) -> None:
    """Publish that a resource has changed.

    Args:
        bus: Where.
        uri: The resource's URI.
    """
    await bus.publish(ResourceUpdated(uri=uri))


async def announce_tools(bus: SubscriptionBus, connections: Iterable[Connection]) -> None:
    """Publish that the list of tools has changed.

    Args:
        bus: Where, for clients that have subscribed.
        connections: Those of clients of the handshake era.
    """
    await bus.publish(ToolsListChanged())
    for connection in connections:
        await connection.send_tool_list_changed()


class _Listener:
    """The subscriptions of one connection."""

    def __init__(self, connection: Connection) -> None:
        self.uris: set[str] = set()
        self._connection = connection
        self._sending: set[asyncio.Task[None]] = set()

    def hear(self, event: ServerEvent) -> None:
        if isinstance(event, ResourceUpdated) and event.uri in self.uris:
            task = asyncio.get_running_loop().create_task(self._connection.send_resource_updated(event.uri))
            self._sending.add(task)  # the loop itself would let it be collected
            task.add_done_callback(self._sending.discard)
