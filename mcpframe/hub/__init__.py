"""The hub: every tool of every open tab, for any MCP client.

    page server ── relay ══ port ══ transport ── hub ── server ── MCP client
                  (in the tab)      (tab, domain)       (official SDK)

No I/O and no browser: the tabs, their ports, the storage and the clock are injected (`interfaces`). Names are resolved
by a table (`names`), what is offered is in `registry`, what outlives a tab in `storage`. `relay` is the other end: the
proxy of one page server.
"""
