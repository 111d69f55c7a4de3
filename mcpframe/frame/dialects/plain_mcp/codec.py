"""The wire format: JSON-RPC 2.0, posted as an object. Everything else is noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpframe.frame.core.codec import Codec
from mcpframe.frame.core.outline import outline_of
from mcpframe.frame.dialects.plain_mcp.messages import (
    FIRST,
    MESSAGE,
    OWN_IDS,
    PING,
    PONG,
    PROBE,
    is_first,
    read_message,
)


def _kind(data: Any) -> str | None:
    if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
        return None
    if "method" not in data:
        return PONG if data.get("id") == PROBE["id"] else MESSAGE
    if data["method"] == PING and "id" in data:
        return PING
    return FIRST if is_first(data) else MESSAGE


def _kind_at_server(data: Any) -> str | None:
    """Return the kind, as `_kind`; answers to the openings of the page's other dialects are noise."""
    kind = _kind(data)
    is_answer = kind is not None and "method" not in data
    return None if is_answer and str(data.get("id")).startswith(OWN_IDS) else kind


def _codec(kind: Callable[[Any], str | None]) -> Codec:
    return Codec(
        kind=kind,
        decode=read_message,
        encode=lambda text, _: text,
        ids=outline_of,
        carries=frozenset({PING, FIRST, PONG, MESSAGE}),
        members=("jsonrpc", "id", "method", "result", "error"),
    )


CODEC = _codec(_kind)
SERVER_CODEC = _codec(_kind_at_server)
