"""One valid message of each kind of MCP-B, on the iframe channel, and what a page server answers."""

from __future__ import annotations

from typing import Any

CHANNEL = "mcp-iframe"


def to_server(payload: Any, channel: str = CHANNEL) -> dict[str, Any]:
    """Return a message as a client posts it."""
    return {"channel": channel, "type": "mcp", "direction": "client-to-server", "payload": payload}


def to_client(payload: Any, channel: str = CHANNEL) -> dict[str, Any]:
    """Return a message as a server posts it."""
    return {"channel": channel, "type": "mcp", "direction": "server-to-client", "payload": payload}


def server_result(method: str, params: Any, tools: list[Any], place: str) -> Any:
    """Return the result of a page server that has these tools: a call's text says which tool was called, and where."""
    if method == "initialize":
        about = {"name": "page", "version": "1"}
        capabilities = {"tools": {"listChanged": True}}
        return {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": about}
    if method == "tools/list":
        return {"tools": tools}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": f"{params['name']} at {place}"}]}
    return {}


REQUEST = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}
PONG = {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}}
MESSAGES: tuple[dict[str, Any], ...] = (
    to_server("mcp-check-ready"),
    to_server(REQUEST),
    to_server({"jsonrpc": "2.0", "id": 7, "result": {}}),
    to_server({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    to_client("mcp-server-ready"),
    to_client("mcp-server-stopped"),
    to_client(PONG),
    to_client(REQUEST),
    to_client({"jsonrpc": "2.0", "id": 7, "result": {}}),
    to_client({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
)
"""In both directions, as they cross the wire."""
