"""The wire format: an object with a `type`; an MCP message is the `payload` of an `MCP_MESSAGE`."""

from __future__ import annotations

from typing import Any

from mcpframe.frame.core.codec import Codec, enveloped, ids_in
from mcpframe.frame.dialects.sep.messages import MCP_MESSAGE, read_mcp_message

_CLAIMED = "MCP_"


def _kind(data: Any) -> str | None:
    kind = data.get("type") if isinstance(data, dict) else None
    return kind if isinstance(kind, str) and kind.startswith(_CLAIMED) else None


CODEC = Codec(
    kind=_kind,
    decode=read_mcp_message,
    encode=enveloped(f'{{"type":"{MCP_MESSAGE}","payload":', "}"),
    ids=ids_in("payload"),
    carries=frozenset({MCP_MESSAGE}),
    members=("type",),
    body="payload",
)
