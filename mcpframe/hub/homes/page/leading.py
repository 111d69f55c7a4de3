"""The hub in the tab that leads: its core, between the ports of tabs and those of clients."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Mapping
from typing import Any

import anyio

from mcpframe.hub.core.errors import TabLoadError
from mcpframe.hub.core.hub import Hub
from mcpframe.hub.core.jobs import Jobs
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.core.transport import PortTransport
from mcpframe.hub.homes.page.place import TabPlace
from mcpframe.hub.homes.page.switchboard import AppPort, Switchboard
from mcpframe.hub.homes.page.window_port import WindowRelay
from mcpframe.hub.homes.page.wire import AppNames, new_id
from mcpframe.hub.serving.port_clients import HubClients
from mcpframe.hub.serving.server import HubServer

log = logging.getLogger(__name__)

RELOAD_SECONDS = 2.0
"""How long a tab whose port has ended may be one that is loaded again."""

_TAB = "a tab of this app"
MOST_CLIENTS = 1000
"""Each tab is one."""


class LeadingTab:
    """The hub of an app, in this tab, for as long as it leads.

    Args:
        place: The tab's browser.
        names: The names of the app's channels and locks.
        options: The hub's.
        on_rival: Called when another tab says that it leads.
    """

    def __init__(
        self, place: TabPlace, names: AppNames, options: HubOptions, on_rival: Callable[[], None] = lambda: None
    ) -> None:
        self._place = place
        self._transport = PortTransport(place.clock)
        self._tabs = AppTabs(place)
        self.hub = Hub(self._transport, self._tabs, place.store, place.clock, options)
        self._server = HubServer(self.hub, name=f"mcpframe-hub {names.app}")
        self._clients = HubClients(self._server, MOST_CLIENTS)
        self._allows = options.allows
        self._board = Switchboard(place, names, self._accept, on_rival)
        self._jobs = Jobs()
        self._active: int | None = None

    async def run(self, hub: str) -> None:
        """Serve until this is cancelled.

        Args:
            hub: The id of the hub.
        """
        async with self.hub.running(), self._server.running(), self._clients.running():
            self._board.open(hub)
            try:
                await anyio.sleep_forever()
            finally:
                self._board.close()
                await self._jobs.end()

    def close(self) -> None:
        """Close all ports, at once."""
        self._board.close()

    def _accept(self, port: AppPort) -> None:
        if port.kind == "client":
            port.on_message = lambda text: self._clients.received(port, text)
            port.on_close = lambda: self._clients.closed(port)
            self._clients.connected(port, _TAB)
        elif port.kind in ("tools", "window"):
            self._tabs.opened(port)
            port.on_control = lambda said: self._said(port, said)
            if port.kind == "tools":
                self._transport.connected(port)
                port.on_message = lambda text: self._transport.received(port, text)
                port.on_close = lambda: self._closed(port)
            else:
                relay = WindowRelay(port, self._transport, self._place.clock, self._allows)
                task = self._jobs.start(relay.run())

                def ended() -> None:
                    relay.close()
                    task.cancel()
                    self._closed(port)

                port.on_close = ended

    def _closed(self, port: AppPort) -> None:
        self._tabs.closed(port)
        self._transport.closed(port)
        if self._active == port.tab:
            self._activated(None)

    def _said(self, port: AppPort, said: Mapping[str, Any]) -> None:
        if said.get("type") == "seen":
            if said.get("active") is True:
                self._activated(port.tab)
            elif self._active == port.tab:
                self._activated(None)

    def _activated(self, tab: int | None) -> None:
        self._active = self._tabs.looked_at = tab
        self.hub.activated(tab)


class AppTabs:
    """The tabs of an app (`interfaces.Tabs`): those that have a port.

    Args:
        place: The browser of the tab that leads.
    """

    def __init__(self, place: TabPlace) -> None:
        self._place = place
        self._ports: dict[int, AppPort] = {}
        self._ended: dict[int, tuple[str, float]] = {}
        self._opening: dict[str, asyncio.Future[int]] = {}
        self.looked_at: int | None = None

    def opened(self, port: AppPort) -> None:
        """Note a port."""
        self._ports[port.tab] = port
        self._ended.pop(port.tab, None)
        opening = self._opening.get(port.window_name)
        if opening is not None and not opening.done():
            opening.set_result(port.tab)

    def closed(self, port: AppPort) -> None:
        """Note the end of a port."""
        if self._ports.get(port.tab) is port:
            del self._ports[port.tab]
            now = self._place.clock.now()
            self._ended = {tab: each for tab, each in self._ended.items() if now - each[1] <= RELOAD_SECONDS}
            self._ended[port.tab] = (port.url, now)

    async def list(self) -> Mapping[int, str | None]:
        """As `Tabs.list`."""
        return {tab: port.url for tab, port in self._ports.items()}

    async def active(self) -> int | None:
        """As `Tabs.active`."""
        return self.looked_at

    async def url(self, tab: int) -> str | None:
        """As `Tabs.url`: also of a tab that may be loaded again just now."""
        if port := self._ports.get(tab):
            return port.url
        url, since = self._ended.get(tab, ("", -math.inf))
        return url if self._place.clock.now() - since <= RELOAD_SECONDS else None

    async def open(self, url: str) -> int:
        """As `Tabs.open`. The tab is there once it has joined; the hub bounds the wait."""
        name = f"mcpframe-{new_id()}"
        if not self._place.open(url, name):
            raise TabLoadError(
                "The browser blocked the new tab, as pages may open one only after a click: open it, and try again."
            )
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._opening[name] = future
        try:
            return await future
        finally:
            del self._opening[name]
