"""The envelope and the signals: their names, and the reader of a payload.

    {"channel": "mcp-default", "type": "mcp", "direction": "client-to-server", "payload": …}

A payload is a JSON-RPC message, or one of the signals, which are texts. `codec.py` recognizes the envelope.

Source: the seed "MCP-B Protocol Specification"; the envelope is that of npm's `@mcp-b/transports`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.errors import MalformedMessage

NAME: Final = "mcp_b"

TAB_CHANNEL: Final = "mcp-default"
"""The channel between a page server and the clients in its own window."""
IFRAME_CHANNEL: Final = "mcp-iframe"
"""The channel between a framed page server and the page around it."""

TO_SERVER: Final = "client-to-server"
TO_CLIENT: Final = "server-to-client"

CHECK_READY: Final = "mcp-check-ready"
"""A client asks whether the server is ready."""
READY: Final = "mcp-server-ready"
"""The server is ready: posted at its start, and as the answer to each `CHECK_READY`."""
STOPPED: Final = "mcp-server-stopped"
"""The server has stopped."""
MESSAGE: Final = "message"
"""The kind of all other payloads."""
PONG: Final = "answer to ping"
"""The kind of the answer to `PING`."""

PING: Final = {"jsonrpc": "2.0", "id": "mcpframe/ping", "method": "ping"}
"""Sent by a client with a repeated `CHECK_READY`: servers of transports 0.1 ignore that, but answer a ping."""


def read_payload(data: Mapping[str, Any]) -> dict[str, Any]:
    payload = data.get("payload")
    if not isinstance(payload, dict):
        raise MalformedMessage("payload must be a JSON-RPC object.")
    return jsonrpc.with_usable_id(payload)
