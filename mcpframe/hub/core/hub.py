"""The hub: collects the tools and resources of tabs, offers them, and sends each call or read to the right tab.

Both go through `find → tab → consent → send`:

1. The table resolves the name: a tool of one tab, or of a domain. An address is of a resource of one tab.
2. What is of a tab goes to that tab, and to no other; if that is reloading, the hub waits for it. A tool of a
   domain, or a cached one whose tab is gone, goes to the best tab, or to a new one.
3. Consent is for the page's origin at that moment; if the origin changes meanwhile, the user is asked again.
4. If the tab ends meanwhile, a call is retried only if its tool is declared repeatable; a read is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.abc

from mcpframe.frame.core.visible import plain
from mcpframe.frame.waiting.changes import Changes, Listeners, within
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import limits
from mcpframe.hub.core.addresses import addressed
from mcpframe.hub.core.bounded_tabs import BoundedTabs
from mcpframe.hub.core.cached_tools import DomainToolStorage
from mcpframe.hub.core.errors import (
    CallDenied,
    RequestTimedOut,
    ResourceFailed,
    TabClosed,
    TabFailed,
    TabLoadError,
    TabNotFound,
    UnknownResource,
    UnknownTool,
)
from mcpframe.hub.core.first_tabs import FirstTabs
from mcpframe.hub.core.frame_numbers import page_tab
from mcpframe.hub.core.interfaces import UNNAMED, Caller, CallRequest, KeyValues, OnProgress, Tabs, TabTransport
from mcpframe.hub.core.messages import PageRequest, ResourceRead, ToolCall, ToolList
from mcpframe.hub.core.names import PageKey, ResourceKey, ToolKey, ToolNames, domain_of, origin_of
from mcpframe.hub.core.openings import Openings
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.core.pace import Pace
from mcpframe.hub.core.registry import TabEntry, ToolRegistry, best_tab
from mcpframe.hub.core.tools import RESOURCES, TEMPLATES, TOOLS, checked, is_repeatable

log = logging.getLogger(__name__)


class Hub:
    """The tools and resources of all tabs, calls and reads.

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
        self._openings = Openings(self._tabs, self._storage, self._registry, self._changes, clock, self._options)
        self._save = asyncio.Event()
        transport.on_list(self._received)

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """All tools, as `tools/list` has them."""
        return self._registry.definitions()

    @property
    def resources(self) -> list[dict[str, Any]]:
        """All resources, as `resources/list` has them."""
        return self._registry.resources()

    @property
    def templates(self) -> list[dict[str, Any]]:
        """All templates of resources, as `resources/templates/list` has them."""
        return self._registry.templates()

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
        """Call a function after changes of tools, resources and templates. The returned function ends that."""
        return self._listeners.add(listener)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Load the stored tools, and serve for the duration of the block. Changes are stored at the end."""
        await self._storage.load()
        self._changed(self._registry.load())
        try:
            async with anyio.create_task_group() as tasks:
                self._openings.tasks = tasks
                tasks.start_soon(self._keep_saving)
                tasks.start_soon(self._first.wait, self._changes, self._registry)
                yield
                tasks.cancel_scope.cancel()
        finally:
            self._openings.tasks = None
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
        self,
        name: str,
        arguments: Mapping[str, Any],
        on_progress: OnProgress | None = None,
        client: Caller = UNNAMED,
        *,
        seconds: float | None = None,
    ) -> Any:
        """Call a tool. Cancelling this cancels the call in its page.

        Args:
            name: The tool's name, as clients see it.
            on_progress: Called with the call's progress; None to ignore it.
            client: The caller, for the user's consent.
            seconds: How long the tab may take, in place of `HubOptions.request_seconds`.

        Returns:
            The page's `CallToolResult`, with its resources as clients address them; if the page fails, a result with
            `isError`.

        Raises:
            UnknownTool: No tool has this name.
            CallDenied: The user has not allowed it.
            TabFailed: See its subclasses; `data` has details.
        """
        key = self._registry.find(name)
        if key is None:
            raise UnknownTool(f"No tool is named {name[:200]!r}: see tools/list.")
        return await self._asked(key, ToolCall("", key.tool, arguments), on_progress, client, seconds)

    async def read(self, uri: str, on_progress: OnProgress | None = None, client: Caller = UNNAMED) -> Any:
        """Read a resource; see `call`.

        Args:
            uri: Its address, as clients see it.

        Returns:
            The page's `ReadResourceResult`, with addresses as clients see them.

        Raises:
            UnknownResource: No tab of the hub has this address.
            ResourceFailed: The page could not read it.
            CallDenied, TabFailed: As `call` does.
        """
        key = self._registry.find_resource(uri)
        if key is None:
            raise UnknownResource(
                f"No tab has {uri[:200]!r}: addresses in this hub are website://DOMAIN/tabN/, then the page's own. See "
                "resources/list, resources/templates/list, or the link of a tool's result."
            )
        return await self._asked(key, ResourceRead("", key.uri), on_progress, client)

    async def _asked(
        self,
        key: PageKey,
        request: PageRequest,
        on_progress: OnProgress | None,
        client: Caller,
        seconds: float | None = None,
    ) -> Any:
        try:
            return await self._execute(key, request, on_progress, client, seconds or self._options.request_seconds)
        except TabFailed as error:
            self._audit("failed in", error.tab, key, type(error).__name__)
            raise error.of(key.domain, key.asked, self._number(key.domain, error.tab)) from error.__cause__
        except CallDenied:
            self._audit("is denied in", key.tab, key)
            raise

    async def _execute(
        self, key: PageKey, request: PageRequest, on_progress: OnProgress | None, client: Caller, seconds: float
    ) -> Any:
        consented: set[tuple[int, str]] = set()
        lost: TabClosed | None = None
        repeatable = False
        for _ in range(max(1, self._options.most_sends)):
            try:
                entry = await self._allowed_tab(key, request, client, consented)
                repeatable = isinstance(key, ResourceKey) or is_repeatable(entry.tools[key.tool])
                self._audit("is executed by" if isinstance(key, ToolKey) else "is read from", entry.tab, key)
                answer = await self._transport.send_request(entry.tab, request, seconds, on_progress)
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
                    return addressed(answer.result, entry.domain, entry.number)
                if isinstance(key, ResourceKey):
                    raise ResourceFailed(plain(answer.error), domain=key.domain, uri=key.uri, tab=entry.number)
                return {"content": [{"type": "text", "text": plain(answer.error)}], "isError": True}
        assert lost is not None
        raise lost

    async def _allowed_tab(
        self, key: PageKey, request: PageRequest, client: Caller, consented: set[tuple[int, str]]
    ) -> TabEntry:
        """Return a tab that has a tool or resource, and whose page the user allows to get the call.

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
            if isinstance(request, ToolCall):
                await self._consent(CallRequest(*page, request.tool, request.arguments, client), key)
            else:
                await self._consent(CallRequest(*page, "", {}, client, request.uri), key)
            consented.add(page)  # during the question the tab may have ended or navigated

    async def _consent(self, request: CallRequest, key: PageKey) -> None:
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
            raise CallDenied(message, origin=request.origin, **key.asked) from error
        if not allowed:
            message = f"The user has not allowed this call of {request.origin}."
            raise CallDenied(message, origin=request.origin, **key.asked)

    async def _tab_for(self, key: PageKey) -> TabEntry:
        """Return a tab that has a tool or resource; for a tool one is opened if necessary.

        Raises:
            TabNotFound: No tab has it, and none could be opened.
        """
        if key.tab is not None:
            entry = self._registry.offering(key.tab, key)
            if entry is None and await self._is_open(key.tab, key.domain):
                entry = await self._reloaded(key.tab, key)
            if entry is not None:
                return entry
            if isinstance(key, ResourceKey):
                raise TabNotFound("The tab of this resource is closed, or shows another page.", tab=key.tab)
            if key.tool not in self._storage.tools(key.domain):
                raise TabNotFound("The tab of this tool is closed, or does not offer it any more.", tab=key.tab)
        active = await self._tabs.active()
        # From here to the sending of the call nothing else runs: the tab stays.
        return best_tab(self._registry.with_tool(key.domain, key.tool), active) or await self._openings.opened(key)

    async def _reloaded(self, tab: int, key: PageKey) -> TabEntry | None:
        """Return a reloading tab once it has a tool or resource again; None if it has not in time."""
        seconds = self._options.start_seconds + (limits.FRAME_QUIET_SECONDS if page_tab(tab) != tab else 0.0)
        if await self._changes.until(lambda: self._registry.connected(tab, key.domain), seconds) is None:
            return None
        return await self._changes.until(lambda: self._registry.offering(tab, key), self._options.connect_seconds)

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
        tools, problems = checked(TOOLS, listed.tools, url)
        resources, more = checked(RESOURCES, listed.resources, url)
        templates, others = checked(TEMPLATES, listed.templates, url)
        now = self._clock.now()
        seen = self._registry.put(
            tab, url, domain, tools, browser=listed.browser, resources=resources, templates=templates, now=now
        )
        where = self._where(domain, tab)
        for problem in [*problems, *more, *others]:
            log.warning("%s: %s", where, problem)
        log.info("%s %s %d tools.", where, "registers" if listed.first else "updates", len(tools))
        self._changed(seen)

    def _gone(self, tab: int) -> None:
        self._pace.forget(tab)
        if (entry := self._registry.tab(tab)) is not None:
            log.info("%s has ended.", self._where(entry.domain, tab))
        self._changed(self._registry.remove(tab))

    def _audit(self, event: str, tab: int | None, key: PageKey, more: str = "") -> None:
        what = f"Tool {key.tool[:80]!r}" if isinstance(key, ToolKey) else "A resource"  # an address may have data
        log.info("%s %s %s.%s", what, event, self._where(key.domain, tab), f" {more}" if more else "")

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
