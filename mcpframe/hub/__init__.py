"""The hub: every tool of every open tab, for any MCP client.

    page server ── relay ══ port ══ transport ── hub ── server ── MCP client
                  (in the tab)      (tab, domain)       (official SDK)

No I/O and no browser: the tabs, their ports, the storage and the clock are injected (`interfaces`). Names are resolved
by a table (`names`), `registry` has the tools on offer, `cached_tools` those that outlive a tab. `relay` is the other
end: the proxy of one page server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpframe import on_demand

if TYPE_CHECKING:
    from mcpframe.frame.waiting.clock import LoopClock as LoopClock
    from mcpframe.hub.core.hub import Hub as Hub
    from mcpframe.hub.core.interfaces import Tabs as Tabs
    from mcpframe.hub.core.interfaces import TabTransport as TabTransport
    from mcpframe.hub.core.options import HubOptions as HubOptions
    from mcpframe.hub.core.transport import PortTransport as PortTransport
    from mcpframe.hub.homes.page.page_hub import PageHub as PageHub
    from mcpframe.hub.relay.page_relay import PageRelay as PageRelay
    from mcpframe.hub.relay.relay import Relay as Relay
    from mcpframe.hub.serving.server import HubServer as HubServer
else:
    __getattr__, __dir__ = on_demand(__name__)
