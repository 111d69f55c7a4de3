"""The hub in a page: for several tabs of one origin, without an extension or a program beside the browser.

    async with PageHub("shop").running() as hub:
        async with hub.offering(server), mcp.Client(hub.client()) as client:
            print(await client.list_tools())  # those of all open tabs

All tabs of one origin that use one name have one hub. One of them leads: it runs the hub. When it is closed, crashes or
is frozen, the next one leads. Tabs without Python join with `static/host/page-hub.js`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.core.errors import StateError
from mcpframe.hub.core import limits
from mcpframe.hub.core.background_tasks import BackgroundTasks
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.homes.page.dialing import Dialled
from mcpframe.hub.homes.page.election import Election
from mcpframe.hub.homes.page.leading import LeadingTab
from mcpframe.hub.homes.page.offering import ServerOffer
from mcpframe.hub.homes.page.remote import RemoteHub
from mcpframe.hub.homes.page.tab_browser import TabBrowser
from mcpframe.hub.homes.page.wire import ChannelNames
from mcpframe.hub.serving.server import HubServer, client_streams

if in_pyodide():  # now: a page that restores a snapshot would have to fetch it later
    from mcpframe.frame.browser import hub_tab

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

log = logging.getLogger(__name__)


class PageHub:
    """The hub of several tabs of one origin, in one of them.

    Args:
        name: The name of the hub: tabs of one origin and one name have one hub.
        options: The hub's settings, used when this tab leads. All tabs should have the same.
        leads: Whether this tab may lead.
        place: The browser; None for this page's.
    """

    def __init__(
        self,
        name: str = "hub",
        *,
        options: HubOptions | None = None,
        leads: bool = True,
        place: TabBrowser | None = None,
    ) -> None:
        self._names = ChannelNames(name)
        self._options = replace(options or HubOptions(), own_numbers=True)
        self._leads = leads
        self._given_place = place
        self._place: TabBrowser | None = None
        self._background = BackgroundTasks()
        self._serving: asyncio.Task[None] | None = None
        self._ports: list[Dialled] = []
        self._leading: LeadingTab | None = None
        self._remote = RemoteHub()
        self._users = _Users(self)
        self._server = HubServer(self._remote, name=f"mcpframe-hub {name}", lifespan=self._users.session)
        self._election: Election | None = None
        self._is_away = False

    @property
    def is_running(self) -> bool:
        """Whether this tab is part of the hub."""
        return self._place is not None

    @property
    def is_leading(self) -> bool:
        """Whether this tab leads."""
        return self._leading is not None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[PageHub]:
        """Join the hub for the duration of the block.

        Yields:
            This object.

        Raises:
            StateError: The browser has no Web Locks or no broadcast channels, as in insecure contexts.
        """
        if self._place is not None:
            raise StateError("This PageHub is running already: use another one.")
        place = self._place = self._given_place or _own_place()
        self._election = Election(place, self._names, self._lead, self._resign)
        watching = Dialled(place, self._names, "watch")
        watching.on_unresponsive = self._election.usurp
        remote = self._remote.begin(place, self._names)
        remote.on_unresponsive = self._election.usurp
        self._ports = [watching, remote]
        async with self._server.running():
            stop = place.watch(self._seen, self._away, self._back)
            self._back()
            try:
                yield self
            finally:
                stop()
                self._away()
                self._remote.close()
                await self._background.end()
                self._place = None

    @asynccontextmanager
    async def offering(self, server: Any) -> AsyncIterator[None]:
        """Offer the tools of a server as this tab's, for the duration of the block.

        Args:
            server: The server object: a `FrameServer`, a server of the official SDK, or one of FastMCP.

        Raises:
            EntryError: `server` is not a server object.
            StateError: This is not running.
        """
        place = self._running_place()
        offer = ServerOffer(place, self._names, server)
        offer.port.on_unresponsive = self._usurp
        self._ports.append(offer.port)
        if not self._is_away:
            offer.port.start()
        try:
            yield
        finally:
            self._ports.remove(offer.port)
            await offer.end()

    async def ready(self, seconds: float = limits.LEADER_SECONDS) -> bool:
        """Wait for a hub, for this many seconds at most. Returns whether there is one."""
        self._running_place()
        return await self._remote.ready(seconds)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Any]:
        """Open a session with the hub's MCP server, for the duration of the block.

        It survives a change of the leading tab: calls in flight fail with the reason `HubChanged`, and the list of
        tools changes.

        Yields:
            `(read, write)` of the SDK, for `mcp.Client(hub.client())`.

        Raises:
            StateError: This is not running.
        """
        self._running_place()
        async with client_streams(self._server) as streams:
            yield streams

    @property
    def server(self) -> Server[Any]:
        """The hub as a lowlevel server of the SDK, for a bundle whose tools are those of the hub's open tabs.

        This tab is part of the hub while the server has a session; it does not have to be `running` for that.
        """
        return self._server.server

    # Events of this tab

    def _lead(self, hub: str) -> None:
        assert self._place is not None
        log.info("This tab has the hub of %r.", self._names.name)
        self._leading = LeadingTab(self._place, self._names, self._options)
        self._serving = self._background.start(self._serve(self._leading, hub))

    async def _serve(self, leading: LeadingTab, hub: str) -> None:
        try:
            await leading.run(hub)
        except Exception:
            log.exception("The hub of this tab has failed: another one leads, or this one again a little later.")
            if self._leading is leading:
                self._stop_leading()
                self._later()

    def _later(self) -> None:
        assert self._place is not None
        assert self._election is not None
        self._election.stop()
        election = self._election
        self._place.clock.call_later(
            limits.LEADER_RETRY_SECONDS, lambda: None if self._is_away or self._place is None else election.start()
        )

    def _resign(self) -> None:
        log.warning("Another tab has the hub of %r now, as this one did not respond.", self._names.name)
        self._stop_leading()

    def _stop_leading(self) -> None:
        leading, self._leading = self._leading, None
        if leading is not None:
            leading.close()
        if self._serving is not None:
            self._serving.cancel()

    def _usurp(self) -> None:
        if self._election is not None:
            self._election.usurp()

    def _away(self) -> None:
        """Leave the hub: the page is frozen, perhaps for ever, and the other tabs must not wait for it."""
        self._is_away = True
        self._stop_leading()
        if self._election is not None:
            self._election.stop()
        for port in tuple(self._ports):
            port.pause()

    def _back(self) -> None:
        self._is_away = False
        if self._election is not None and self._leads:
            self._election.start()
        for port in tuple(self._ports):
            port.start()

    def _seen(self) -> None:
        assert self._place is not None
        for port in tuple(self._ports):
            port.control("seen", active=self._place.is_seen())

    def _running_place(self) -> TabBrowser:
        if self._place is None:
            raise StateError("This PageHub is not running: use it within `async with hub.running()`.")
        return self._place


class _Users:
    """The sessions of a hub's server: this tab is part of the hub while there is one."""

    def __init__(self, hub: PageHub) -> None:
        self._hub = hub
        self._count = 0
        self._turn = asyncio.Lock()
        self._running: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    @asynccontextmanager
    async def session(self, server: Server[Any]) -> AsyncIterator[None]:
        """Hold one session open. Raises `StateError` as `PageHub.running` does."""
        if self._hub.is_running and not self._count:  # by its author
            yield
            return
        await self._begin()
        try:
            await self._hub.ready(limits.READY_SECONDS)
            yield
        finally:
            await self._end()

    async def _begin(self) -> None:
        async with self._turn:
            if self._running is None:
                begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._over.clear()
                self._running = asyncio.get_running_loop().create_task(self._run(begun))
                try:
                    await begun
                except BaseException:
                    self._running.cancel()
                    self._running = None
                    raise
            self._count += 1

    async def _run(self, begun: asyncio.Future[None]) -> None:
        try:
            async with self._hub.running():
                begun.set_result(None)
                await self._over.wait()
        except Exception as error:
            if begun.done():
                log.exception("The hub has failed.")
            else:
                begun.set_exception(error)

    async def _end(self) -> None:
        async with self._turn:
            self._count -= 1
            if not self._count and self._running is not None:
                self._over.set()
                await asyncio.wait({self._running})
                self._running = None


def _own_place() -> TabBrowser:
    if not in_pyodide():
        raise StateError("PageHub finds its tab only in a browser: elsewhere, pass it a `place`.")
    return hub_tab.ThisTab()
