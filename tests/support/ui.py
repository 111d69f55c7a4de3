"""One valid message of each kind of mcp-ui's embeddable UI."""

from __future__ import annotations

from typing import Any

RENDER_DATA: dict[str, Any] = {"theme": "dark", "user": {"name": "Ada"}}
MESSAGES: dict[str, dict[str, Any]] = {
    "ui-lifecycle-iframe-ready": {"type": "ui-lifecycle-iframe-ready"},
    "ui-request-render-data": {"type": "ui-request-render-data", "messageId": "mcpframe/render-data"},
    "ui-size-change": {"type": "ui-size-change", "payload": {"height": 300}},
    "tool": {"type": "tool", "messageId": "1", "payload": {"toolName": "get-weather", "params": {"city": "Tokyo"}}},
    "intent": {"type": "intent", "messageId": "2", "payload": {"intent": "create-task", "params": {}}},
    "prompt": {"type": "prompt", "messageId": "3", "payload": {"prompt": "What is the weather in Tokyo?"}},
    "notify": {"type": "notify", "payload": {"message": "cart-updated"}},
    "link": {"type": "link", "messageId": "4", "payload": {"url": "https://www.example.com"}},
    "ui-request-data": {"type": "ui-request-data", "messageId": "5", "payload": {"requestType": "methods"}},
    "ui-lifecycle-iframe-render-data": {
        "type": "ui-lifecycle-iframe-render-data",
        "payload": {"renderData": RENDER_DATA},
    },
    "ui-message-received": {"type": "ui-message-received", "messageId": "mcpframe/a/1"},
    "ui-message-response": {
        "type": "ui-message-response",
        "messageId": "mcpframe/a/1",
        "payload": {"response": {"status": "ok"}},
    },
}
"""By kind, as its peer posts it."""
