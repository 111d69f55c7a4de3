"""The ports of tabs. The browser identifies their senders; the list of sites decides which are served.

A page may have two content scripts: the extension's, whose page is relayed here, and MCP-B's, which relays the page
itself and speaks to the hub. While MCP-B's is there, the extension's is idle.

A newer port of a tab replaces the older one. If both are of one document, the older one's script leaves for good, as it
would only open its port again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core.frame_numbers import FrameNumbers
from mcpframe.hub.core.names import domain_of, origin_of
from mcpframe.hub.core.transport import PortTransport, TextPort
from mcpframe.hub.homes.extension.runtime import ExtensionPort
from mcpframe.hub.homes.extension.tab_document import TabDocument

log = logging.getLogger(__name__)


class TabPorts:
    """The ports of all tabs.

    Args:
        allows: Returns whether the tools of a page are offered, given its address.
    """

    def __init__(self, transport: PortTransport, clock: Clock, allows: Callable[[str], bool]) -> None:
        self._transport = transport
        self._clock = clock
        self._allows = allows
        self._pages: dict[int, TabDocument] = {}
        self._proxies: dict[int, TextPort] = {}
        self._numbers: dict[int, FrameNumbers] = {}

    def is_there(self, tab: int) -> bool:
        """Return whether the page of a tab has connected."""
        return tab in self._pages or tab in self._proxies

    def check(self) -> None:
        """Leave the pages that are no longer allowed."""
        for tab, page in list(self._pages.items()):
            if not self._allows(page.url):
                del self._pages[tab]
                page.leave()
        for tab, proxy in list(self._proxies.items()):
            if not self._allows(proxy.url):
                del self._proxies[tab]
                self._transport.closed(proxy)
                proxy.close()

    def forget(self, tab: int) -> None:
        """Note that a tab was closed."""
        self._numbers.pop(tab, None)

    def take_page(self, port: ExtensionPort) -> None:
        """Take a port of the extension's own content script."""
        tab, origin = port.sender.tab, origin_of(port.sender.url)
        if tab is None:
            port.close()
            return
        numbers = self._numbers.setdefault(tab, FrameNumbers())
        page = TabDocument(port, tab, origin, self._transport, self._clock, allows=self._allows, numbers=numbers)
        if not self._is_served(port):
            page.leave()
            return
        before = self._pages.get(tab)
        if before is not None and before.is_document(port.sender.document):
            log.warning("Two relays are in one document of %s: the newer one stays.", domain_of(page.url))
            before.leave()
        self._pages[tab] = page

        def closed() -> None:
            page.end()
            if self._pages.get(tab) is page:
                del self._pages[tab]

        port.on_close = closed
        if tab not in self._proxies:
            page.start()

    def take_proxy(self, port: ExtensionPort) -> None:
        """Take a port of a content script of MCP-B."""
        tab = port.sender.tab
        if tab is None or not self._is_served(port):
            port.close()
            return
        proxy = TextPort(tab, port.sender.url, port.post, port.close, self._transport)
        port.on_message = proxy.received
        if (page := self._pages.get(tab)) is not None:
            page.end()
        self._proxies[tab] = proxy
        self._transport.connected(proxy)

        def closed() -> None:
            self._transport.closed(proxy)
            if self._proxies.get(tab) is proxy:
                del self._proxies[tab]
                if (page := self._pages.get(tab)) is not None:
                    page.start()

        port.on_close = closed

    def _is_served(self, port: ExtensionPort) -> bool:
        """Return whether the sender is a tab's page of an allowed origin: not a frame, and not a sandboxed document."""
        sender = port.sender
        return sender.frame == 0 and sender.origin == origin_of(sender.url) and self._allows(sender.url)
