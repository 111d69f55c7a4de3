"""The hub in the leading tab: its core, between the ports of tabs and those of clients."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Mapping
from typing import Any

import anyio

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.hub.core import limits
from mcpframe.hub.core.codec import LIMITS
from mcpframe.hub.core.errors import TabLoadError
from mcpframe.hub.core.hub import Hub
from mcpframe.hub.core.names import domain_of, origin_of
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.core.transport import PortTransport, TextPort
from mcpframe.hub.homes.page.switchboard import PagePort, Switchboard
from mcpframe.hub.homes.page.tab_browser import TabBrowser
from mcpframe.hub.homes.page.wire import ChannelNames, new_id
from mcpframe.hub.relay.document_tools import DocumentTools
from mcpframe.hub.relay.half import TellingHalf
from mcpframe.hub.relay.page_relay import PageRelay, PortDocument
from mcpframe.hub.serving.port_clients import HubClients
from mcpframe.hub.serving.server import HubServer

log = logging.getLogger(__name__)


_TAB = "a tab of this hub"


class LeadingTab:
    """The hub of several tabs, in this tab, while it leads.

    Args:
        on_rival: Called when another tab announces that it leads.
    """

    def __init__(
        self, place: TabBrowser, names: ChannelNames, options: HubOptions, on_rival: Callable[[], None] = lambda: None
    ) -> None:
        self._place = place
        self._transport = PortTransport(place.clock)
        self._tabs = PageTabs(place)
        self.hub = Hub(self._transport, self._tabs, place.store, place.clock, options)
        self._server = HubServer(self.hub, name=f"mcpframe-hub {names.name}")
        self._clients = HubClients(self._server, limits.PAGE_HUB_CLIENTS)
        self._allows = options.allows
        self._board = Switchboard(place, names, self._accept, on_rival)
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

    def close(self) -> None:
        """Close all ports at once."""
        self._board.close()

    def _accept(self, port: PagePort) -> None:
        if port.kind == "client":
            port.on_message = lambda text: self._clients.received(port, text)
            port.on_close = lambda: self._clients.closed(port)
            self._clients.connected(port, _TAB)
        elif port.kind in ("tools", "window"):
            self._tabs.opened(port)
            port.on_control = lambda said: self._said(port, said)
            leave = self._take_tools(port) if port.kind == "tools" else self._take_window(port)

            def closed() -> None:
                self._tabs.closed(port)
                leave()
                if self._active == port.tab:
                    self._activated(None)

            port.on_close = closed

    def _take_tools(self, port: PagePort) -> Callable[[], None]:
        proxy = TextPort(port.tab, port.url, port.post, port.close, self._transport)
        self._transport.connected(proxy)
        port.on_message = proxy.received
        return lambda: self._transport.closed(proxy)

    def _take_window(self, port: PagePort) -> Callable[[], None]:
        """Relay the tools of a page without Python. `static/host/page-hub.js` has both scripts of its document."""

        def relay(page: TellingHalf, tools: DocumentTools) -> PageRelay:
            return PageRelay(
                port.tab,
                port.url,
                origin_of(port.url),
                page,
                tools,
                self._transport,
                self._place.clock,
                allows=self._allows,
                on_close=port.close,
            )

        document = PortDocument(lambda command: port.post(payload.encode(command)), relay)

        def heard(text: str) -> None:
            try:
                document.report(payload.decode(text, **LIMITS))
            except (MessageError, KeyError, TypeError, ValueError) as error:
                log.warning("A report of %s is ignored: %s", domain_of(port.url), error)

        port.on_message = heard
        document.start()
        return document.end

    def _said(self, port: PagePort, said: Mapping[str, Any]) -> None:
        if said.get("type") == "seen":
            if said.get("active") is True:
                self._activated(port.tab)
            elif self._active == port.tab:
                self._activated(None)

    def _activated(self, tab: int | None) -> None:
        self._active = self._tabs.looked_at = tab
        self.hub.activated(tab)


class PageTabs:
    """The tabs of a hub in a page (`interfaces.Tabs`): those that have a port.

    Args:
        place: The browser of the leading tab.
    """

    def __init__(self, place: TabBrowser) -> None:
        self._place = place
        self._ports: dict[int, PagePort] = {}
        self._ended: dict[int, tuple[str, float]] = {}
        self._opening: dict[str, asyncio.Future[int]] = {}
        self.looked_at: int | None = None

    def opened(self, port: PagePort) -> None:
        self._ports[port.tab] = port
        self._ended.pop(port.tab, None)
        opening = self._opening.get(port.window_name)
        if opening is not None and not opening.done():
            opening.set_result(port.tab)

    def closed(self, port: PagePort) -> None:
        if self._ports.get(port.tab) is port:
            del self._ports[port.tab]
            now = self._place.clock.now()
            self._ended = {tab: each for tab, each in self._ended.items() if now - each[1] <= limits.RELOAD_SECONDS}
            self._ended[port.tab] = (port.url, now)

    async def list(self) -> Mapping[int, str | None]:
        return {tab: port.url for tab, port in self._ports.items()}

    async def active(self) -> int | None:
        return self.looked_at

    async def url(self, tab: int) -> str | None:
        """Return the address of a tab, even of one that may be reloading; None if there is none."""
        if port := self._ports.get(tab):
            return port.url
        url, since = self._ended.get(tab, ("", -math.inf))
        return url if self._place.clock.now() - since <= limits.RELOAD_SECONDS else None

    async def open(self, url: str) -> int:
        """Open a tab; see `Tabs.open`. Returns once the tab has joined; the hub bounds the wait."""
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
