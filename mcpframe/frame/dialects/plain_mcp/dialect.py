"""This dialect, for the composition: see `core.dialect`."""

from __future__ import annotations

from mcpframe.frame.core.dialect import TRANSPORT, Dialect
from mcpframe.frame.dialects.plain_mcp.messages import FIRST, NAME, PING, PONG
from mcpframe.frame.dialects.plain_mcp.roles import SERVER

DIALECT = Dialect(
    name=NAME,
    title="Plain MCP",
    preference=5,
    inner={TRANSPORT: SERVER},
    has_further_roles=True,
    initializes=False,
    steps={PING: "Ping", PONG: "Peer listens", FIRST: "Client calls"},
    for_hosts="Clients of the official SDKs frame this address, and post MCP's messages as they are",
)
