"""The messages by which a peer is recognized, and the reader of all messages: MCP's JSON-RPC as it is.

Plain MCP has no specification. Sources: the official TypeScript SDK over `PostMessageTransport` of npm's
`@modelcontextprotocol/ext-apps`, and npm's `@nuwa-ai/ui-kit`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcpframe.frame.core import jsonrpc

NAME: Final = "plain_mcp"

FIRST: Final = "first request"
"""The kind of a request by which a client begins: see `is_first`."""
PING: Final = "ping"
"""The kind of each request `ping`. A server answers it before it is initialized, too (MCP, "Ping")."""
PONG: Final = "answer to our ping"
"""The kind of the answer to `PROBE`."""
MESSAGE: Final = "message"
"""The kind of all other JSON-RPC messages."""

OWN_IDS: Final = "mcpframe/"
"""The start of the ids of requests that are not the session's."""
PROBE: Final = {"jsonrpc": "2.0", "id": f"{OWN_IDS}ping", "method": PING}
"""Posted until it is answered, be it by an error: a page listens only some time after it was framed."""

BEGIN: Final = ("initialize", "server/discover")
_REVISION: Final = "io.modelcontextprotocol/protocolVersion"
"""In the `_meta` of every request from 2026-07-28 on."""

Json = Mapping[str, Any]


def is_first(data: Json) -> bool:
    """Return whether a message is a request by which a client begins.

    Other requests do not: a host of MCP Apps may send a `ping` to a view that has not initialized.
    """
    if "id" not in data:
        return False
    params = data.get("params")
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    return data.get("method") in BEGIN or (isinstance(meta, Mapping) and _REVISION in meta)


def read_message(data: Json) -> dict[str, Any]:
    return jsonrpc.with_usable_id(dict(data))
