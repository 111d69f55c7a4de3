"""This dialect, for the composition: see `core.dialect`."""

from __future__ import annotations

from typing import Any

from mcpframe.frame.core.dialect import TAB, TRANSPORT, Dialect
from mcpframe.frame.core.events import SessionBegun
from mcpframe.frame.dialects.mcp_b.messages import CHECK_READY, IFRAME_CHANNEL, NAME, READY, STOPPED, TO_CLIENT
from mcpframe.frame.dialects.mcp_b.roles import IFRAME_CLIENT, IFRAME_SERVER, TAB_CLIENT, TAB_SERVER


def _last_words(_: SessionBegun) -> dict[str, Any]:
    """Return the message that notifies the page around a framed server that it has stopped."""
    return {"channel": IFRAME_CHANNEL, "type": "mcp", "direction": TO_CLIENT, "payload": STOPPED}


DIALECT = Dialect(
    name=NAME,
    title="MCP-B",
    preference=4,
    inner={TRANSPORT: IFRAME_SERVER, TAB: TAB_SERVER},
    outer={TRANSPORT: IFRAME_CLIENT, TAB: TAB_CLIENT},
    last_words=_last_words,
    initializes=False,
    steps={READY: "Server ready", CHECK_READY: "Client checks", STOPPED: "Server stopped"},
    for_hosts="Clients of MCP-B frame this address, with IframeParentTransport",
)
