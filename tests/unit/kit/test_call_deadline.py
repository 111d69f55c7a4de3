"""`mcpframe call` waits for a tool for so long, and no longer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer

from mcpframe.kit.commands.call import _called
from mcpframe.kit.commands.output import Meter
from mcpframe.kit.errors import CallError


async def test_a_tool_that_never_answers() -> None:
    server = MCPServer("waiting")

    @server.tool()
    async def wait() -> None:
        """Wait for ever."""
        await anyio.sleep_forever()

    @asynccontextmanager
    async def session() -> AsyncIterator[Client]:  # as `one_session`
        client = Client(server)
        await client.__aenter__()
        try:
            yield client
        finally:
            await client.__aexit__(None, None, None)

    with pytest.raises(CallError, match=r"wait has not answered within 0\.05 s: .*--call-timeout"):
        await _called(session(), "wait", [], None, Meter("wait"), 0.05)
