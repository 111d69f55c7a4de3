"""The bridge: a framed server for every MCP client.

    client ── edge ── link ── host page ── framed server
             (stdio, http)    (one tab of a headless Chromium for each connection)

JSON-RPC passes as text, unchanged, in both directions and both protocol eras. `run` puts the parts together.
"""
