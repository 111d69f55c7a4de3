"""Notify clients of changes of a resource or the list of tools, in both protocol eras, also outside of a request.

The SDK publishes such changes on a server's bus, which `subscriptions/listen` streams to clients of 2026-07-28. Clients
up to 2025-11-25 send `resources/subscribe` instead (MCP specification, server/resources), which the SDK leaves to the
application: here each such connection subscribes to the same bus.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Iterable
from typing import Any

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import ResourceUpdated, ServerEvent, SubscriptionBus, ToolsListChanged

_KEY = "mcpframe.subscriptions"


def answer_subscriptions(server: Server[Any], bus: SubscriptionBus) -> None:
    """Answer `resources/subscribe` and `resources/unsubscribe` for a server, unless its author has handlers for them.

    Args:
        server: The lowlevel server.
        bus: the bus for changes.
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
    """Publish a change of a resource.

    Args:
        bus: the server's bus.
        uri: the resource's URI.
    """
    await bus.publish(ResourceUpdated(uri=uri))


class ToolListing:
    """The list of tools of a server: clients that have read it are notified of changes, and some tools may be cached.

    Args:
        server: The lowlevel server.
        bus: the bus for changes, for clients that have subscribed.
    """

    def __init__(self, server: Server[Any], bus: SubscriptionBus) -> None:
        self._bus = bus
        self._clients: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._cached: set[str] = set()
        server.middleware.append(self._pass_on)

    async def changed(self) -> None:
        """Notify all clients that tools were added or removed."""
        await self._bus.publish(ToolsListChanged())
        for connection in list(self._clients):
            await connection.send_tool_list_changed()

    def cache(self, names: Iterable[str]) -> None:
        """Add the annotation `cache` to tools, which the SDK's model of annotations lacks."""
        self._cached.update(names)

    async def _pass_on(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """The middleware."""
        if ctx.method == "initialize":  # other clients subscribe
            self._clients.add(ctx.session._connection)
        result = await call_next(ctx)
        if self._cached and ctx.method == "tools/list" and isinstance(result, dict):
            tools = [_as_cached(tool) if tool["name"] in self._cached else tool for tool in result["tools"]]
            return {**result, "tools": tools}
        return result


def _as_cached(tool: dict[str, Any]) -> dict[str, Any]:
    return {**tool, "annotations": {**(tool.get("annotations") or {}), "cache": True}}


class _Listener:
    """The subscriptions of one connection."""

    def __init__(self, connection: Connection) -> None:
        self.uris: set[str] = set()
        self._connection = connection
        self._sending: set[asyncio.Task[None]] = set()

    def hear(self, event: ServerEvent) -> None:
        if isinstance(event, ResourceUpdated) and event.uri in self.uris:
            task = asyncio.get_running_loop().create_task(self._connection.send_resource_updated(event.uri))
            self._sending.add(task)  # the loop's own reference is weak
            task.add_done_callback(self._sending.discard)
