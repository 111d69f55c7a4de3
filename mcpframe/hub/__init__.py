"""The hub: every tool of every open tab, for any MCP client.

    page server ── relay ══ port ══ transport ── hub ── server ── MCP client
                  (in the tab)      (tab, domain)       (official SDK)

No I/O and no browser: the tabs, their ports, the storage and the clock are injected (`interfaces`). Names are resolved
by a table (`names`), `registry` has the tools on offer, `cached_tools` those that outlive a tab. `relay` is the other
end: the proxy of one page server.
"""
