"""Changes of lists and resources, for the clients of every process that shares the server's values.

Within a process the SDK's bus has them (`frame.compat.resource_updates`). Here a change is also written beside the
values, where each other process, on whichever machine, looks once a second. The record has the latest changes alone, as
a change says only that something is to be read again:

    {"next": 7, "changes": [[5, "w1", "ToolsListChanged", ""], [6, "w2", "ResourceUpdated", "notes://1"]]}
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)

from mcpframe.frame.core.errors import StorageError
from mcpframe.frame.serving.server import FrameServer
from mcpframe.frame.storage.values import Storage

log = logging.getLogger(__name__)

STORAGE_ID: Final = "changes of all users"
"""The id of the storage with the record. No user has such a name."""
_KEY: Final = "latest"
_EMPTY: Final[dict[str, Any]] = {"next": 0, "changes": []}
_SECONDS: Final = 1.0
"""Seconds until a change of another process is looked for."""
_PASSING_SECONDS: Final = 5.0
"""Seconds for this process's clients to take a change."""
_MOST: Final = 200
"""The most changes in the record. If more were made within a second, all lists count as changed."""
_LISTS = (ToolsListChanged, PromptsListChanged, ResourcesListChanged)

_of_another: ContextVar[bool] = ContextVar("mcpframe_change_of_another", default=False)


class SharedChanges:
    """The changes of one process, and of all others.

    Args:
        storage: Where the record is, shared by the processes.
        process: The name of this process.
    """

    def __init__(self, server: MCPServer[Any], storage: Storage, process: str) -> None:
        self._server = server
        self._storage = storage
        self._process = process
        self._own: list[ServerEvent] = []
        self._changed = asyncio.Event()
        self._next = 0
        self._is_failing = False

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Share changes for the duration of the block, unless the author's own bus does."""
        bus = self._server._subscriptions
        if not isinstance(bus, InMemorySubscriptionBus):
            yield
            return
        unsubscribe = bus.subscribe(self._hear)
        sharing = asyncio.create_task(self._run())
        try:
            yield
        finally:
            unsubscribe()
            sharing.cancel()
            await asyncio.wait([sharing])

    def _hear(self, event: ServerEvent) -> None:
        if not _of_another.get():
            self._own.append(event)
            self._changed.set()

    async def _run(self) -> None:
        first: dict[str, Any] | None = None
        while True:
            try:
                if first is None:  # what was changed before this process had clients is nothing to them
                    first = await self._storage.get(_KEY, _EMPTY)
                    self._next = first["next"]
                await self._exchange()
                self._is_failing = False
            except StorageError as error:
                if not self._is_failing:
                    log.warning("Changes are not shared with other processes: %s", error)
                self._is_failing = True
                await asyncio.sleep(_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(_SECONDS):
                    await self._changed.wait()

    async def _exchange(self) -> None:
        """Write this process's changes, and pass on those of others."""
        self._changed.clear()
        own, self._own = self._own, []
        try:
            record = await (
                self._storage.update(_KEY, lambda record: _added(record, self._process, own), _EMPTY)
                if own
                else self._storage.get(_KEY, _EMPTY)
            )
        except StorageError:
            self._own = [*own, *self._own]
            self._changed.set()
            raise
        changes = record["changes"]
        missed = len(changes) >= _MOST and changes[0][0] > self._next
        events: list[ServerEvent] = [kind() for kind in _LISTS] if missed else []
        for number, process, kind, uri in changes:
            if number >= self._next and process != self._process and (event := _event(kind, uri)) not in events:
                events.append(event)
        self._next = record["next"]
        for event in events:
            await self._pass_on(event)

    async def _pass_on(self, event: ServerEvent) -> None:
        token = _of_another.set(True)
        try:
            async with asyncio.timeout(_PASSING_SECONDS):
                if isinstance(event, ToolsListChanged) and isinstance(self._server, FrameServer):
                    await self._server.tools_changed()
                else:
                    await self._server._subscriptions.publish(event)
        except TimeoutError:
            log.warning("A client does not take a change: %s", event)
        finally:
            _of_another.reset(token)


def _added(record: dict[str, Any], process: str, events: list[ServerEvent]) -> dict[str, Any]:
    """Return a record with further changes, each in place of an earlier one of the same."""
    number, changes = record["next"], record["changes"]
    for event in events:
        kind, uri = type(event).__name__, event.uri if isinstance(event, ResourceUpdated) else ""
        changes = [each for each in changes if each[2:] != [kind, uri]]
        changes.append([number, process, kind, uri])
        number += 1
    return {"next": number, "changes": changes[-_MOST:]}


def _event(kind: str, uri: str) -> ServerEvent:
    return next((each() for each in _LISTS if each.__name__ == kind), ResourceUpdated(uri=uri))
