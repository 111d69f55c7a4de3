"""Subscriptions to changes at a server: of its lists, and of single resources. Each protocol era has its own way."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from mcp import Client
from mcp.client.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    Subscription,
    SubscriptionLost,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from inspector.session.telling import sentence

_LISTS = {ToolsListChanged: "tools", PromptsListChanged: "prompts", ResourcesListChanged: "resources"}

PATIENCE = 5.0
"""Seconds to wait for a server to confirm the subscription to its lists, before it is used."""


class Updates:
    """The subscriptions at one server, during one session."""

    def __init__(self, list_changed: Callable[[str], None]) -> None:
        """Create it without subscriptions.

        Args:
            list_changed: called with "tools", "prompts" or "resources" when that list has changed.
        """
        self._list_changed = list_changed
        self._client: Client | None = None
        self._counts: Counter[str] = Counter()
        self._followed: dict[str, asyncio.Task[None] | None] = {}
        self._problems: dict[str, str] = {}
        self._callbacks: dict[str, Callable[[], None]] = {}
        self._lists: asyncio.Task[None] | None = None

    @property
    def _modern(self) -> bool:
        return self._client is not None and self._client.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def begin(self, client: Client) -> None:
        """Use a client that has just connected, and subscribe to its lists."""
        self._client = client
        has = client.server_capabilities
        tools = bool(has.tools and has.tools.list_changed)
        prompts = bool(has.prompts and has.prompts.list_changed)
        resources = bool(has.resources and has.resources.list_changed)
        if self._modern and (tools or prompts or resources):
            listening = client.listen(
                tools_list_changed=tools, prompts_list_changed=prompts, resources_list_changed=resources
            )
            begun = asyncio.get_running_loop().create_future()
            self._lists = asyncio.ensure_future(self._listen_to_lists(listening, begun))
            await asyncio.wait([begun], timeout=PATIENCE)  # later changes are reported

    async def end(self) -> None:
        """End all subscriptions."""
        tasks = [task for task in (self._lists, *self._followed.values()) if task is not None]
        self._client = self._lists = None
        self._followed.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for tell in self._callbacks.values():
            tell()

    def follows(self, uri: str) -> bool:
        """Return whether a resource is subscribed to."""
        return uri in self._followed

    def count(self, uri: str) -> int:
        """Return the number of updates of a resource since the first subscription."""
        return self._counts[uri]

    def problem(self, uri: str) -> str:
        """Return the reason why subscribing to a resource failed."""
        return self._problems.get(uri, "")

    def tell(self, uri: str, tell: Callable[[], None]) -> None:
        """Set the function to call at every change of a resource's state here; it replaces an earlier one."""
        self._callbacks[uri] = tell

    async def follow(self, uri: str) -> None:
        """Subscribe to a resource; if that fails, `problem` returns the reason."""
        self._problems.pop(uri, None)
        client = self._client
        if client is None:
            self._problems[uri] = "Not connected."
            return
        if self._modern:
            begun = asyncio.get_running_loop().create_future()
            self._followed[uri] = asyncio.ensure_future(self._listen_to(client, uri, begun))
            await begun
            return
        try:
            await client.subscribe_resource(uri)
        except MCPError as error:
            self._problems[uri] = sentence(error)
        else:
            self._followed[uri] = None

    async def unfollow(self, uri: str) -> None:
        """Unsubscribe from a resource."""
        task = self._followed.pop(uri, None)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        elif self._client is not None:
            try:
                await self._client.unsubscribe_resource(uri)
            except MCPError as error:
                self._problems[uri] = sentence(error)

    def note(self, method: str, uri: str) -> None:
        """Handle a notification. Not needed in the modern era, in which subscriptions have their own streams."""
        if self._modern:
            return
        if method == "notifications/resources/updated":
            self._updated(uri)
        elif method.endswith("/list_changed"):
            self._list_changed(method.split("/")[1])

    def _updated(self, uri: str) -> None:
        self._counts[uri] += 1
        if tell := self._callbacks.get(uri):
            tell()

    async def _listen_to_lists(
        self, listening: AbstractAsyncContextManager[Subscription], begun: asyncio.Future[None]
    ) -> None:
        try:
            async with listening as events:
                begun.set_result(None)
                async for event in events:
                    if type(event) in _LISTS:
                        self._list_changed(_LISTS[type(event)])
        except (MCPError, SubscriptionLost, RuntimeError):
            return  # the session is over, or the server does not report changes
        finally:
            if not begun.done():
                begun.set_result(None)

    async def _listen_to(self, client: Client, uri: str, begun: asyncio.Future[None]) -> None:
        try:
            async with client.listen(resource_subscriptions=[uri]) as events:
                if not begun.done():
                    begun.set_result(None)
                async for event in events:
                    if isinstance(event, ResourceUpdated):
                        self._updated(uri)
        except (MCPError, SubscriptionLost, RuntimeError) as error:
            self._problems[uri] = sentence(error)
        finally:
            if self._followed.get(uri) is asyncio.current_task():
                del self._followed[uri]
            if not begun.done():
                begun.set_result(None)
            if tell := self._callbacks.get(uri):
                tell()
