"""The hub in an extension (Manifest V3): in its offscreen document, next to content scripts and a service worker.

    page ── content script ══ port ══ TabDocument ── PortTransport ── Hub ── HubServer ══ port ══ client
                                        service worker ══ messages ══ Worker ── tabs, store

A bundle carries it only if the author's code names `mcpframe.hub.homes.extension`.
"""
