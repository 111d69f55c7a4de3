"""MCP-B's additions to MCP, in a client in Python."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.unit.hostile.test_page_clients import Hostile

INTERRUPTED = {
    "content": [{"type": "text", "text": "Tool execution interrupted by page navigation"}],
    "metadata": {"navigationInterrupted": True, "originalMethod": "tools/call", "timestamp": 1},
}


class Server(Hostile):
    """A page server with a capability of its own."""

    def say(self, payload: Any) -> None:
        if isinstance(payload, dict) and "capabilities" in payload.get("result", {}):
            payload["result"]["capabilities"] |= {"browser": {"cacheSupported": True}, "experimental": {"a": {}}}
        super().say(payload)


async def test_the_browser_capability_is_kept() -> None:
    async with Server().client() as client:
        assert client.server_capabilities.experimental == {"a": {}, "browser": {"cacheSupported": True}}
        assert client.server_capabilities.tools is not None


async def test_an_interrupted_call_is_an_error() -> None:
    """Transports before 5 answer so as their page is left; a client would take the text for the tool's."""
    server = Server()
    server.lies = lambda asked: server.say({"jsonrpc": "2.0", "id": asked["id"], "result": INTERRUPTED})
    async with server.client() as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("any", {})
        assert caught.value.error.data == {"navigationInterrupted": True}
        other = {**INTERRUPTED, "metadata": {"navigationInterrupted": "no"}}
        server.lies = lambda asked: server.say({"jsonrpc": "2.0", "id": asked["id"], "result": other})
        assert not (await client.call_tool("any", {})).is_error
