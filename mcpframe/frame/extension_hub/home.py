"""The whole hub in an extension: the core, its tabs and store over the service worker, and who is at which port."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcpframe.frame.core.errors import OriginError
from mcpframe.frame.core.origins import ANY, parse_allowed_origins
from mcpframe.frame.extension_hub.clients import PortClient
from mcpframe.frame.extension_hub.runtime import ExtensionApi, ExtensionPort, Ports, Worker
from mcpframe.frame.extension_hub.store import ExtensionStore
from mcpframe.frame.extension_hub.tab_document import ExtensionPage
from mcpframe.frame.extension_hub.tabs import ExtensionTabs
from mcpframe.frame.hub.hub import Hub, HubOptions
from mcpframe.frame.hub.loop_clock import LoopClock
from mcpframe.frame.hub.names import LONGEST_NAME, origin_of
from mcpframe.frame.hub.server import HubServer
from mcpframe.frame.hub.transport import PortTransport

log = logging.getLogger(__name__)

RELAY_PORT = "mcpframe-relay"
"""Ports of the extension's own content script."""
PROXY_PORT = "mcp-content-script-proxy"
"""Ports of MCP-B's content scripts."""
CLIENT_PORT = "mcp"
"""Ports of MCP clients."""
SETTINGS = "settings.json"
SITES_KEY = "mcpframe:sites"
"""Where the user's own list of origins is stored, as JSON text."""


@dataclass(frozen=True)
class ExtensionSettings:
    """What the build has set.

    Attributes:
        sites: The origins whose pages' tools are offered.
        longest_name: The longest name of a tool.
        version: The version of mcpframe.
    """

    sites: Sequence[str] = (ANY,)
    longest_name: int = LONGEST_NAME
    version: str = ""


async def serve(runtime: ExtensionApi) -> None:
    """Serve pages and clients for as long as the document is there.

    Args:
        runtime: The extension.
    """
    settings = ExtensionSettings(**json.loads(await runtime.file(SETTINGS)))
    worker = Worker(runtime)
    home = ExtensionHub(runtime, worker, settings)
    await home.load_sites()
    async with home.hub.running(), home.server.running():
        home.ports.listen()
        home.hub.activated(await home.tabs.active())
        await asyncio.Event().wait()


class ExtensionHub:
    """The hub.

    Args:
        runtime: The extension.
        worker: Its service worker.
        settings: What the build has set.

    Attributes:
        hub: The core.
        server: The server for clients.
        tabs: The tabs.
        ports: The extension's ports; others may serve more of them.
    """

    def __init__(self, runtime: ExtensionApi, worker: Worker, settings: ExtensionSettings) -> None:
        self._clock = LoopClock()
        self._transport = PortTransport(self._clock)
        self._worker = worker
        self._store = ExtensionStore(worker)
        self._settings = settings
        self._allowed = parse_allowed_origins(settings.sites)
        self._pages: dict[int, ExtensionPage] = {}
        self._proxies: dict[int, ExtensionPort] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self.tabs = ExtensionTabs(worker, lambda tab: tab in self._pages or tab in self._proxies)
        options = HubOptions(longest_name=settings.longest_name, allows=self._allows)
        self.hub = Hub(self._transport, self.tabs, self._store, self._clock, options)
        self.server = HubServer(self.hub, version=settings.version)
        self.ports = Ports(runtime, self._on_event)
        self.ports.serve(RELAY_PORT, self._take_page)
        self.ports.serve(PROXY_PORT, self._take_proxy)
        self.ports.serve(CLIENT_PORT, self._take_client)

    def _allows(self, url: str) -> bool:
        return origin_of(url) in self._allowed

    async def load_sites(self) -> None:
        """Read the user's own list of origins, which counts in the place of the build's."""
        try:
            text = await self._store.get(SITES_KEY)
            self._allowed = parse_allowed_origins(json.loads(text) if text else self._settings.sites)
        except (OriginError, ValueError, TypeError) as error:
            log.warning("The list of sites that is stored cannot be used: %s", error)
            self._allowed = parse_allowed_origins(self._settings.sites)
        for page in list(self._pages.values()):
            if not self._allows(page.url):
                self._leave(page)

    # Events of the service worker

    def _on_event(self, event: Mapping[str, Any]) -> None:
        self.tabs.on_event(event)
        if event.get("event") == "active":
            self._run(self._activated())
        elif event.get("event") == "stored" and SITES_KEY in event.get("keys", ()):
            self._run(self.load_sites())

    async def _activated(self) -> None:
        self.hub.activated(await self.tabs.active())

    def _run(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)

        def ended(task: asyncio.Task[Any]) -> None:
            self._tasks.discard(task)
            if not task.cancelled() and (error := task.exception()):
                log.warning("An event of the browser could not be handled: %s", error)

        task.add_done_callback(ended)

    # Ports

    def _take_page(self, port: ExtensionPort) -> None:
        sender = port.sender
        if sender.tab is None or sender.frame != 0:
            port.close()
            return
        tab, origin = sender.tab, origin_of(sender.url)
        page = ExtensionPage(port, origin, self._transport, self._clock)
        if sender.origin != origin or not self._allows(sender.url):
            self._leave(page)  # also a sandboxed document, whose origin is opaque
            return
        self._pages[tab] = page

        def closed() -> None:
            page.end()
            if self._pages.get(tab) is page:
                del self._pages[tab]

        port.on_close = closed
        if tab not in self._proxies:
            page.start()

    def _leave(self, page: ExtensionPage) -> None:
        if self._pages.get(page.tab) is page:
            del self._pages[page.tab]
        page.leave()

    def _take_proxy(self, port: ExtensionPort) -> None:
        """Take a port of a content script of MCP-B, which relays its page itself."""
        sender = port.sender
        if sender.tab is None or sender.frame != 0 or not self._allows(sender.url):
            port.close()
            return
        proxy = _Proxy(port, sender.tab, sender.url)
        if (page := self._pages.get(sender.tab)) is not None:
            page.end()
        self._proxies[proxy.tab] = port
        self._transport.connected(proxy)

        def closed() -> None:
            self._transport.closed(proxy)
            if self._proxies.get(proxy.tab) is port:
                del self._proxies[proxy.tab]
                if (page := self._pages.get(proxy.tab)) is not None:
                    page.start()

        port.on_message = lambda text: self._transport.received(proxy, text)
        port.on_close = closed

    def _take_client(self, port: ExtensionPort) -> None:
        if port.sender.tab is not None and not port.sender.url.startswith("chrome-extension://"):
            port.close()  # a content script is as much as its page
            return
        PortClient(port, self.server).start()


class _Proxy:
    """A port of MCP-B, as the hub's transport has it."""

    def __init__(self, port: ExtensionPort, tab: int, url: str) -> None:
        self.tab = tab
        self.url = url
        self.post = port.post
        self.close = port.close
