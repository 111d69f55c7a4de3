"""Opening of tabs for tools of domains that have none: one tab for all concurrent calls of a domain."""

from __future__ import annotations

import asyncio

import anyio.abc

from mcpframe.frame.core.errors import StateError
from mcpframe.frame.waiting.changes import Changes
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import limits
from mcpframe.hub.core.bounded_tabs import BoundedTabs
from mcpframe.hub.core.cached_tools import DomainToolStorage
from mcpframe.hub.core.errors import TabFailed, TabNotFound
from mcpframe.hub.core.names import UNKNOWN, ToolKey, address_for, domain_of
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.core.registry import TabEntry, ToolRegistry


class Openings:
    """The tabs that a hub opens.

    Args:
        changes: Reports each change of the registry.

    Attributes:
        tasks: The hub's tasks while it runs; None before and afterwards.
    """

    def __init__(
        self,
        tabs: BoundedTabs,
        storage: DomainToolStorage,
        registry: ToolRegistry,
        changes: Changes,
        clock: Clock,
        options: HubOptions,
    ) -> None:
        self.tasks: anyio.abc.TaskGroup | None = None
        self._tabs = tabs
        self._storage = storage
        self._registry = registry
        self._changes = changes
        self._clock = clock
        self._options = options
        self._pending: dict[str, asyncio.Future[tuple[int, float] | TabFailed]] = {}

    def __bool__(self) -> bool:
        """Return whether a call waits for a tab to open."""
        return bool(self._pending)

    async def opened(self, key: ToolKey) -> TabEntry:
        """Open a tab for a tool, and return it. Concurrent calls for one domain share it."""
        opening = self._pending.get(key.domain)
        if opening is None:
            if self.tasks is None:
                raise StateError("The hub is not running: see Hub.running.")
            opening = self._pending[key.domain] = asyncio.get_running_loop().create_future()
            self.tasks.start_soon(self._open, key.domain, opening)
        outcome = await asyncio.shield(opening)
        if isinstance(outcome, TabFailed):
            raise _same(outcome)
        tab, until = outcome
        entry = await self._changes.until(lambda: self._registry.offering(tab, key), until - self._clock.now())
        if entry is None:
            raise TabNotFound(f"A tab was opened for {key.domain}, but its page does not offer this tool.", tab=tab)
        return entry

    async def _open(self, domain: str, opening: asyncio.Future[tuple[int, float] | TabFailed]) -> None:
        """Open a tab of a domain, and wait for its tools."""
        outcome: tuple[int, float] | TabFailed = TabNotFound("The hub has ended.")
        try:
            tab = await self._load(domain)
            entry = await self._started(tab, domain)
            outcome = (tab, self._clock.now() + (self._options.connect_seconds if entry is not None else 0.0))
        except TabFailed as error:
            outcome = error
        finally:
            del self._pending[domain]
            if not opening.done():
                opening.set_result(outcome)

    async def _started(self, tab: int, domain: str) -> TabEntry | None:
        """Return an opened tab once it has tools of a domain; None if it has none in time.

        Raises:
            TabNotFound: It was redirected to another domain, and stays there.
        """
        seconds = self._options.start_seconds
        first = min(seconds, limits.ELSEWHERE_SECONDS)
        entry = await self._changes.until(lambda: self._registry.connected(tab, domain), first)
        if entry is not None or first == seconds:
            return entry
        shown = domain_of(await self._tabs.url(tab))
        if shown not in (domain, UNKNOWN):
            message = (
                f"A tab was opened for {domain}, but it shows a page of {shown}: the user may have to log in there."
            )
            raise TabNotFound(message, tab=tab)
        return await self._changes.until(lambda: self._registry.connected(tab, domain), seconds - first)

    async def _load(self, domain: str) -> int:
        url = address_for(domain, self._storage.url(domain))
        if url is None or not self._options.allows(url):
            raise TabNotFound(f"No tab of {domain} is open, and none can be opened.")
        return await self._tabs.open(url, domain)


def _same(error: TabFailed) -> TabFailed:
    """Return a copy of an error: several calls raise it, each with its own data."""
    return type(error)(str(error), tab=error.tab)
