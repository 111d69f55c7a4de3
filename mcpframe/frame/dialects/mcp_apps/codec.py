"""The wire format: JSON-RPC 2.0, posted as an object. The seed's form, JSON text, is read as well.

Both sides have the same codec: a message's kind is its method if that belongs to the handshake, or to the tool call
that a view shows.
"""

from __future__ import annotations

from typing import Any

from mcpframe.frame.core.codec import Codec
from mcpframe.frame.core.outline import outline_of
from mcpframe.frame.dialects.mcp_apps.messages import (
    ANSWER,
    INITIALIZE,
    INITIALIZE_ID,
    INITIALIZED,
    MESSAGE,
    PROXY_READY,
    TOOL_DATA,
    read_message,
)


def _kind(data: Any) -> str | None:
    if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
        return None
    if "method" not in data:
        return ANSWER if data.get("id") == INITIALIZE_ID else MESSAGE
    method = data["method"]
    if method in (INITIALIZE, INITIALIZED, PROXY_READY):
        return str(method)
    return TOOL_DATA if isinstance(method, str) and method.startswith(TOOL_DATA) else MESSAGE


CODEC = Codec(
    kind=_kind,
    decode=read_message,
    encode=lambda text, _: text,
    ids=outline_of,
    carries=frozenset({INITIALIZE, INITIALIZED, PROXY_READY, ANSWER, TOOL_DATA, MESSAGE}),
    members=("jsonrpc", "id", "method", "result", "error"),
    reads_text=True,
)
