"""The messages by which a peer is recognized, and the wire format: MCP's JSON-RPC, posted as objects.

Plain MCP has no specification. Sources: the official TypeScript SDK over `PostMessageTransport` of npm's
`@modelcontextprotocol/ext-apps`, and npm's `@nuwa-ai/ui-kit` and `mcp-browser-transport`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.codec import Codec
from mcpframe.frame.core.outline import outline_of

NAME: Final = "plain_mcp"

FIRST: Final = "first request"
"""The kind of a request by which a client begins: see `_is_first`."""
PING: Final = "ping"
"""The kind of each request `ping`. A server answers it before it is initialized, too (MCP, "Ping")."""
PONG: Final = "answer to our ping"
"""The kind of the answer to a `ping` with `PING_ID`."""
MESSAGE: Final = "message"
"""The kind of all other JSON-RPC messages."""

_OWN_IDS: Final = "mcpframe/"
"""The start of the ids of requests that are not the session's."""
PING_ID: Final = f"{_OWN_IDS}ping"
"""The id of a `ping` that is posted until it is answered: see `further_roles`."""

OF_MCP: Final = ("tools/", "resources/", "prompts/", "completion/", "logging/")
"""The starts of the methods of a client's requests."""
BEGIN: Final = ("initialize", "server/discover")
_REVISION: Final = "io.modelcontextprotocol/protocolVersion"
"""In the `_meta` of every request from 2026-07-28 on."""


def kind(data: Any) -> str | None:
    """Return the kind of a message; None for noise."""
    if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
        return None
    if "method" not in data:
        return PONG if data.get("id") == PING_ID else MESSAGE
    if "id" not in data:
        return MESSAGE
    return PING if data["method"] == PING else FIRST if _is_first(data) else MESSAGE


def _is_first(data: Mapping[str, Any]) -> bool:
    """Return whether a request is one by which a client begins.

    Other requests do not: a host of MCP Apps may send a `ping` to a view that has not initialized.
    """
    params = data.get("params")
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    return data["method"] in BEGIN or (isinstance(meta, Mapping) and _REVISION in meta)


def _kind_at_server(data: Any) -> str | None:
    """Return the kind, as `kind`; answers to the openings of the page's other dialects are noise."""
    its_kind = kind(data)
    return None if its_kind and "method" not in data and str(data.get("id")).startswith(_OWN_IDS) else its_kind


def read_message(data: Mapping[str, Any]) -> dict[str, Any]:
    return jsonrpc.with_usable_id(dict(data))


def codec(kind: Callable[[Any], str | None]) -> Codec:
    return Codec(
        kind=kind,
        decode=read_message,
        encode=lambda text, _: text,
        ids=outline_of,
        carries=frozenset({PING, FIRST, PONG, MESSAGE}),
        members=("jsonrpc", "id", "method", "result", "error"),
    )


SERVER_CODEC = codec(_kind_at_server)
