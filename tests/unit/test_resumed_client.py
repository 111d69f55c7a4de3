"""npm's `@modelcontextprotocol/sdk` 1.16.0, whose client never initializes where its transport has a `sessionId`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
import pytest
from mcp.server.stdio import stdio_server

from mcpframe.frame.serving.server import serve
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import find_node, install_locked
from tests.unit.frame.serving.test_uninitialized import MAKERS

PROGRAM = Path(__file__).parent.parent / "support" / "resumed_client.mjs"
HELLO = [{"type": "text", "text": "Hello, you"}]


@pytest.mark.parametrize("kind", MAKERS)
def test_a_client_of_the_typescript_sdk_that_takes_its_session_for_a_resumed_one_is_served(kind):
    install_locked(checkout_dir())
    server = [sys.executable, "-m", __name__, kind]
    told = json.loads(find_node().run(str(PROGRAM), *server, cwd=checkout_dir(), timeout=60))
    assert told["sent"] == ["tools/list", "tools/call", "initialize", "tools/call"]
    assert "greet" in told["tools"]
    assert told["content"] == told["again"] == HELLO
    assert told["protocolVersion"] == "2025-06-18"


async def _serve(kind: str) -> None:
    async with stdio_server() as streams:
        await serve(MAKERS[kind](), *streams)


if __name__ == "__main__":
    anyio.run(_serve, sys.argv[1])
