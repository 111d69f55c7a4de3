"""The hub in an extension: the core, its tabs and store through the service worker, and the owners of its ports."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from mcpframe.frame.core.allowed_origins import ANY, AllowedOrigins, parse_allowed_origins
from mcpframe.frame.core.errors import OriginError
from mcpframe.frame.waiting.clock import Clock, LoopClock
from mcpframe.hub.core import limits
from mcpframe.hub.core.background_tasks import BackgroundTasks
from mcpframe.hub.core.hub import Hub
from mcpframe.hub.core.names import origin_of
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.core.transport import PortTransport
from mcpframe.hub.homes.extension.control import Control
from mcpframe.hub.homes.extension.extension_store import ExtensionStore, KeptNumbers
from mcpframe.hub.homes.extension.extension_tabs import ExtensionTabs
from mcpframe.hub.homes.extension.runtime import ExtensionApi, Ports, Worker
from mcpframe.hub.homes.extension.tab_ports import TabPorts
from mcpframe.hub.serving.server import HubServer

log = logging.getLogger(__name__)

RELAY_PORT = "mcpframe-relay"
"""Ports of the extension's own content script."""
PROXY_PORT = "mcp-content-script-proxy"
"""Ports of MCP-B's content scripts."""
SETTINGS = "settings.json"
SITES_KEY = "mcpframe:sites"
"""The storage key of the user's own list of origins, as JSON text."""


@dataclass(frozen=True)
class ExtensionSettings:
    """The settings from the build.

    Attributes:
        sites: The origins whose pages' tools are offered.
        longest_name: The longest name of a tool.
        version: The version of mcpframe.
        ask: The default for asking before each call, until the user chooses.
        clients: The origins of web pages that may be clients.
    """

    sites: Sequence[str] = (ANY,)
    longest_name: int = limits.NAME_CHARACTERS
    version: str = ""
    ask: bool = False
    clients: Sequence[str] = ()


async def serve(runtime: ExtensionApi) -> None:
    """Serve pages and clients for the lifetime of the document."""
    settings = ExtensionSettings(**json.loads(await runtime.file(SETTINGS)))
    async with ExtensionHub(runtime, settings, LoopClock()).running():
        await asyncio.Event().wait()


class ExtensionHub:
    """The hub.

    Attributes:
        hub: The core.
        server: The server for clients.
        ports: The extension's ports; more may be served.
    """

    def __init__(self, runtime: ExtensionApi, settings: ExtensionSettings, clock: Clock) -> None:
        self._clock = clock
        self._transport = PortTransport(clock)
        worker = Worker(runtime, clock)
        self._store = ExtensionStore(worker)
        self._kept = KeptNumbers(worker)
        self._settings = settings
        self._allowed = parse_allowed_origins(settings.sites)
        self._tab_ports = TabPorts(self._transport, clock, self._allows)
        self._background = BackgroundTasks(
            lambda error: log.warning("An event of the browser could not be handled: %s", error)
        )
        self.tabs = ExtensionTabs(worker, self._tab_ports.is_there)
        self._control = Control(worker, self._store, clock, asks=settings.ask, clients=settings.clients)
        options = HubOptions(
            longest_name=settings.longest_name,
            allows=self._allows,
            consents=self._control.consents,
            numbers=self._kept.numbers,
        )
        self.hub = Hub(self._transport, self.tabs, self._store, clock, options)
        self.server = HubServer(self.hub, version=settings.version)
        self.ports = Ports(runtime, self._on_event)
        self.ports.serve(RELAY_PORT, self._tab_ports.take_page)
        self.ports.serve(PROXY_PORT, self._tab_ports.take_proxy)
        self._clients = self._control.serve(
            self.hub, self.server, self.ports, lambda: list(self._allowed), self._tab_ports.check
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve pages and clients for the duration of the block."""
        await self._control.load()
        await self.load_sites()
        await self._kept.load()
        keeping = asyncio.ensure_future(self._kept.keep())
        try:
            async with self.hub.running(), self.server.running(), self._clients.running():
                self.ports.listen()
                self._background.start(self._activated())
                self._control.begin()
                yield
        finally:
            keeping.cancel()
            self._control.end()

    def _allows(self, url: str) -> bool:
        return origin_of(url) in self._allowed and self._control.allows(url)

    async def load_sites(self) -> None:
        """Read the user's own list of origins, which replaces the build's.

        Raises:
            TabLoadError: It cannot be read.
        """
        text = await self._store.get(SITES_KEY)
        try:
            self._allowed = parse_allowed_origins(json.loads(text) if text else self._settings.sites)
        except (OriginError, ValueError, TypeError) as error:
            log.warning("The stored list of sites cannot be used: no page is relayed: %s", error)
            self._allowed = AllowedOrigins(frozenset())
        self._tab_ports.check()

    # Events of the service worker

    def _on_event(self, event: Mapping[str, Any]) -> None:
        self.tabs.on_event(event)
        self._control.on_event(event)
        if event.get("event") == "active":
            self._background.start(self._activated())
        elif event.get("event") == "removed":
            self._tab_ports.forget(event["tab"])
        elif event.get("event") == "stored" and SITES_KEY in event.get("keys", ()):
            self._background.start(self.load_sites())

    async def _activated(self) -> None:
        tab = await self.tabs.active()
        self.hub.activated(tab)
        self._control.activated(tab, await self.tabs.url(tab) if tab is not None else None)
