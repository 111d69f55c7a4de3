"""The hub: collects the tools of tabs, offers them, and sends each call to the right tab.

A call goes through `find → tab → consent → send`:

1. The table resolves the name: a tool of one tab, or of a domain.
2. A tool of a tab goes to that tab, and to no other; if that is reloading, the hub waits for it. A tool of a
   domain, or a cached one whose tab is gone, goes to the best tab, or to a new one.
3. Consent is for the page's origin at that moment; if the origin changes meanwhile, the user is asked again.
4. If the tab ends meanwhile, the call is retried only if its tool is declared repeatable.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.abc

from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.visible import plain
from mcpframe.frame.waiting.changes import Changes, Listeners, within
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import limits
from mcpframe.hub.core.bounded_tabs import BoundedTabs
from mcpframe.hub.core.cached_tools import DomainToolStorage
from mcpframe.hub.core.errors import (
    CallDenied,
    RequestTimedOut,
    TabClosed,
    TabFailed,
    TabLoadError,
    TabNotFound,
    UnknownTool,
)
from mcpframe.hub.core.first_tabs import FirstTabs
from mcpframe.hub.core.frame_numbers import page_tab
from mcpframe.hub.core.interfaces import UNNAMED, Caller, CallRequest, KeyValues, OnProgress, Tabs, TabTransport
from mcpframe.hub.core.messages import ToolCall, ToolList
from mcpframe.hub.core.names import UNKNOWN, ToolKey, ToolNames, address_for, domain_of, origin_of
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.core.pace import Pace
from mcpframe.hub.core.registry import TabEntry, ToolRegistry, best_tab
from mcpframe.hub.core.tools import checked_tools, is_repeatable

log = logging.getLogger(__name__)


class Hub:
    """The tools of all tabs, and calls to them.

    Args:
        transport: Messages to and from the tabs.
        storage: The cached tools.
    """

    def __init__(
        self,
        transport: TabTransport,
        tabs: Tabs,
        storage: KeyValues,
        clock: Clock,
        options: HubOptions | None = None,
    ) -> None:
        self._options = options or HubOptions()
        self._tabs = BoundedTabs(tabs, clock, self._options)
        self._transport = transport
        self._clock = clock
        self._storage = DomainToolStorage(storage, clock)
        names = ToolNames(longest=self._options.longest_name)
        self._registry = ToolRegistry(
            self._storage, names, own_numbers=self._options.own_numbers, numbers=self._options.numbers
        )
        self._pace = Pace(clock, self._registered)
        self._listeners = Listeners()
        self._changes = Changes(clock)
        self._first = FirstTabs(tabs, clock, self._options)
        self._openings: dict[str, asyncio.Future[tuple[int, float] | TabFailed]] = {}
        self._tasks: anyio.abc.TaskGroup | None = None
        self._save = asyncio.Event()
        transport.on_list(self._received)

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """All tools, as `tools/list` has them."""
        return self._registry.definitions()

    @property
    def entries(self) -> list[TabEntry]:
        """The tabs that have registered."""
        return list(self._registry)

    @property
    def browser(self) -> dict[str, bool]:
        """The union of the `browser` capabilities of all tabs' pages."""
        return dict.fromkeys(sorted(frozenset().union(*(entry.browser for entry in self._registry))), True)

    @property
    def waits(self) -> bool:
        """Whether any call waits for a tab to open or to register."""
        return bool(self._changes or self._openings)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a function whenever `definitions` has changed. The returned function ends that."""
        return self._listeners.add(listener)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Load the stored tools, and serve for the duration of the block. Changes are stored at the end."""
        await self._storage.load()
        self._changed(self._registry.load())
        try:
            async with anyio.create_task_group() as self._tasks:
                self._tasks.start_soon(self._keep_saving)
                self._tasks.start_soon(self._first.wait, self._changes, self._registry)
                yield
                self._tasks.cancel_scope.cancel()
        finally:
            self._tasks = None
            for entry in self._registry:
                self._transport.disconnect(entry.tab)
            with anyio.CancelScope(shield=True), suppress(TabLoadError):
                await within(self._clock, self._options.connect_seconds, self._storage.save(), TabLoadError)

    async def settled(self) -> None:
        """Return once the tabs that were open at the start have listed their tools (`HubOptions.first_seconds`)."""
        await self._first.settled.wait()

    def activated(self, tab: int | None) -> None:
        """Note which tab the user looks at now; None for none."""
        self._changed(self._registry.activate(tab))

    async def call(
        self, name: str, arguments: Mapping[str, Any], on_progress: OnProgress | None = None, client: Caller = UNNAMED
    ) -> Any:
        """Call a tool. Cancelling this cancels the call in its page.

        Args:
            name: The tool's name, as clients see it.
            on_progress: Called with the call's progress; None to ignore it.
            client: The caller, for the user's consent.

        Returns:
            The page's `CallToolResult`, unchanged; if the page fails, a result with `isError`.

        Raises:
            UnknownTool: No tool has this name.
            CallDenied: The user has not allowed it.
            TabFailed: See its subclasses; `data` has details.
        """
        key = self._registry.find(name)
        if key is None:
            raise UnknownTool(f"No tool is named {name[:200]!r}: see tools/list.")
        try:
            return await self._execute(key, arguments, on_progress, client)
        except TabFailed as error:
            self._audit("failed in", error.tab, key, type(error).__name__)
            raise error.of(key.domain, key.tool, self._number(key.domain, error.tab)) from error.__cause__
        except CallDenied:
            self._audit("is denied in", key.tab, key)
            raise

    async def _execute(
        self, key: ToolKey, arguments: Mapping[str, Any], on_progress: OnProgress | None, client: Caller
    ) -> Any:
        consented: set[tuple[int, str]] = set()
        lost: TabClosed | None = None
        repeatable = False
        for _ in range(max(1, self._options.most_sends)):
            try:
                entry = await self._allowed_tab(key, arguments, client, consented)
                repeatable = is_repeatable(entry.tools[key.tool])
                call = ToolCall("", key.tool, arguments)
                self._audit("is executed by", entry.tab, key)
                answer = await self._transport.send_request(entry.tab, call, self._options.request_seconds, on_progress)
            except TabClosed as error:
                lost = error
                if not repeatable:
                    break
            except (TabFailed, CallDenied) as error:
                if lost is None or isinstance(error, RequestTimedOut):
                    raise
                raise lost from error  # the call was sent: later errors do not mean that it has not run
            else:
                if answer.result is not None:
                    return answer.result
                return {"content": [{"type": "text", "text": plain(answer.error)}], "isError": True}
        assert lost is not None
        raise lost

    async def _allowed_tab(
        self, key: ToolKey, arguments: Mapping[str, Any], client: Caller, consented: set[tuple[int, str]]
    ) -> TabEntry:
        """Return a tab that has a tool, and whose page the user allows to get the call.

        Args:
            consented: The pages allowed already; the returned tab's page is added.

        Raises:
            TabNotFound: No tab has it, and none could be opened.
            CallDenied: The user has not allowed it.
        """
        while True:
            entry = await self._tab_for(key)
            page = (entry.tab, origin_of(entry.url))
            if self._options.consents is None or page in consented:
                return entry
            await self._consent(CallRequest(*page, key.tool, arguments, client))
            consented.add(page)  # during the question the tab may have ended or navigated

    async def _consent(self, request: CallRequest) -> None:
        """Wait for the consent to a call.

        Raises:
            CallDenied: The user has not allowed it.
        """
        assert self._options.consents is not None
        try:
            allowed = await self._options.consents(request)
        except Exception as error:
            log.exception("The user could not be asked.")
            message = f"The user could not be asked whether this call is allowed: {error}"
            raise CallDenied(message, origin=request.origin, tool=request.tool) from error
        if not allowed:
            message = f"The user has not allowed this call of {request.origin}."
            raise CallDenied(message, origin=request.origin, tool=request.tool)

    async def _tab_for(self, key: ToolKey) -> TabEntry:
        """Return a tab that has a tool; one is opened if necessary.

        Raises:
            TabNotFound: No tab has it, and none could be opened.
        """
        if key.tab is not None:
            entry = self._with_tool(key.tab, key)
            if entry is None and await self._is_open(key.tab, key.domain):
                entry = await self._reloaded(key.tab, key)
            if entry is not None:
                return entry
            if key.tool not in self._storage.tools(key.domain):
                raise TabNotFound("The tab of this tool is closed, or does not offer it any more.", tab=key.tab)
        active = await self._tabs.active()
        # From here to the sending of the call nothing else runs: the tab stays.
        return best_tab(self._registry.with_tool(key.domain, key.tool), active) or await self._opened(key)

    async def _reloaded(self, tab: int, key: ToolKey) -> TabEntry | None:
        """Return a reloading tab once it has a tool again; None if it has not in time."""
        seconds = self._options.start_seconds + (limits.FRAME_QUIET_SECONDS if page_tab(tab) != tab else 0.0)
        if await self._changes.until(lambda: self._connected(tab, key.domain), seconds) is None:
            return None
        return await self._changes.until(lambda: self._with_tool(tab, key), self._options.connect_seconds)

    def _connected(self, tab: int, domain: str) -> TabEntry | None:
        entry = self._registry.tab(tab)
        return entry if entry is not None and entry.domain == domain and entry.tools else None

    def _with_tool(self, tab: int | None, key: ToolKey) -> TabEntry | None:
        entry = self._registry.tab(tab) if tab is not None else None
        return entry if entry is not None and entry.domain == key.domain and key.tool in entry.tools else None

    async def _opened(self, key: ToolKey) -> TabEntry:
        """Open a tab for a tool, and return it. Concurrent calls for one domain share it."""
        opening = self._openings.get(key.domain)
        if opening is None:
            if self._tasks is None:
                raise StateError("The hub is not running: see Hub.running.")
            opening = self._openings[key.domain] = asyncio.get_running_loop().create_future()
            self._tasks.start_soon(self._open, key.domain, opening)
        outcome = await asyncio.shield(opening)
        if isinstance(outcome, TabFailed):
            raise _same(outcome)
        tab, until = outcome
        entry = await self._changes.until(lambda: self._with_tool(tab, key), until - self._clock.now())
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
            del self._openings[domain]
            if not opening.done():
                opening.set_result(outcome)

    async def _started(self, tab: int, domain: str) -> TabEntry | None:
        """Return an opened tab once it has tools of a domain; None if it has none in time.

        Raises:
            TabNotFound: It was redirected to another domain, and stays there.
        """
        seconds = self._options.start_seconds
        first = min(seconds, limits.ELSEWHERE_SECONDS)
        entry = await self._changes.until(lambda: self._connected(tab, domain), first)
        if entry is not None or first == seconds:
            return entry
        shown = domain_of(await self._tabs.url(tab))
        if shown not in (domain, UNKNOWN):
            message = (
                f"A tab was opened for {domain}, but it shows a page of {shown}: the user may have to log in there."
            )
            raise TabNotFound(message, tab=tab)
        return await self._changes.until(lambda: self._connected(tab, domain), seconds - first)

    async def _load(self, domain: str) -> int:
        url = address_for(domain, self._storage.url(domain))
        if url is None or not self._options.allows(url):
            raise TabNotFound(f"No tab of {domain} is open, and none can be opened.")
        return await self._tabs.open(url, domain)

    async def _is_open(self, tab: int, domain: str) -> bool:
        """Return whether a tab's page is still of a domain; for the tab of a frame, whether its page is open."""
        url = await self._tabs.url(page_tab(tab))
        return domain_of(url) == domain or (url is not None and page_tab(tab) != tab)

    def _received(self, tab: int, listed: ToolList) -> None:
        self._transport.on_disconnect(tab, lambda: self._gone(tab))
        self._pace.put(tab, listed)

    def _registered(self, tab: int, listed: ToolList) -> None:
        url = self._transport.url(tab)
        if url is None:
            return
        domain = domain_of(url)
        if listed.url is not None and domain_of(listed.url) != domain:
            log.warning("A tab of %s claims to be %.200r: its tools are not taken.", domain, listed.url)
            return
        if not self._options.allows(url):
            log.warning("%s is not allowed: its tools are not taken.", domain)
            return
        tools, problems = checked_tools(listed.tools, url)
        seen = self._registry.put(tab, url, domain, tools, browser=listed.browser, now=self._clock.now())
        where = self._where(domain, tab)
        for problem in problems:
            log.warning("%s: %s", where, problem)
        log.info("%s %s %d tools.", where, "registers" if listed.first else "updates", len(tools))
        self._changed(seen)

    def _gone(self, tab: int) -> None:
        self._pace.forget(tab)
        if (entry := self._registry.tab(tab)) is not None:
            log.info("%s has ended.", self._where(entry.domain, tab))
        self._changed(self._registry.remove(tab))

    def _audit(self, event: str, tab: int | None, key: ToolKey, more: str = "") -> None:
        log.info("Tool %.80r %s %s.%s", key.tool, event, self._where(key.domain, tab), f" {more}" if more else "")

    def _where(self, domain: str, tab: int | None) -> str:
        """Return a domain with the tab's number in tool names, which is not the browser's."""
        number = self._number(domain, tab)
        return domain if number is None else f"{domain}, tab {number}"

    def _number(self, domain: str, tab: int | None) -> int | None:
        return None if tab is None else self._registry.number(domain, tab)

    def _changed(self, seen: bool) -> None:
        self._changes.changed()
        if self._storage.unsaved:
            self._save.set()
        if seen:
            self._listeners.call()

    async def _keep_saving(self) -> None:
        while True:
            await self._save.wait()
            self._save.clear()
            await self._storage.save()


def _same(error: TabFailed) -> TabFailed:
    """Return a copy of an error: several calls raise it, each with its own data."""
    return type(error)(str(error), tab=error.tab)
