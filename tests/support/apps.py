"""One valid message of each kind of MCP Apps."""

from __future__ import annotations

from typing import Any

HOST_CONTEXT = {"theme": "dark", "locale": "de-AT", "styles": {"variables": {"--color-text-primary": "#eee"}}}
MESSAGES: dict[str, dict[str, Any]] = {
    "ui/initialize": {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "ui/initialize",
        "params": {
            "appInfo": {"name": "a view", "version": "1"},
            "appCapabilities": {"tools": {}},
            "protocolVersion": "2026-01-26",
        },
    },
    "answer to ui/initialize": {
        "jsonrpc": "2.0",
        "id": "mcpframe/initialize",
        "result": {
            "protocolVersion": "2026-01-26",
            "hostInfo": {"name": "a host", "version": "2"},
            "hostCapabilities": {"openLinks": {}},
            "hostContext": HOST_CONTEXT,
        },
    },
    "ui/notifications/sandbox-proxy-ready": {
        "jsonrpc": "2.0",
        "method": "ui/notifications/sandbox-proxy-ready",
        "params": {},
    },
    "ui/notifications/initialized": {"jsonrpc": "2.0", "method": "ui/notifications/initialized", "params": {}},
    "ui/notifications/tool-": {
        "jsonrpc": "2.0",
        "method": "ui/notifications/tool-input",
        "params": {"arguments": {"place": "Wien"}},
    },
    "message": {"jsonrpc": "2.0", "id": 7, "method": "tools/list"},
}
"""By kind, as its peer posts it."""

OF_ANOTHER_REVISION = {
    "jsonrpc": "2.0",
    "id": "mcpframe/initialize",
    "result": {"protocolVersion": "1999-01-01", "hostCapabilities": {}, "hostContext": {}},
}
REFUSAL = {"jsonrpc": "2.0", "id": "mcpframe/initialize", "error": {"code": -32601, "message": "unknown method"}}
