"""`mcpframe call`, `list` and `check` wait for a server for so long, and no longer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer

from mcpframe.kit.base.errors import CallError
from mcpframe.kit.base.server_lists import list_all
from mcpframe.kit.cli.calling.call import _called
from mcpframe.kit.cli.calling.questions import Questions
from mcpframe.kit.cli.shared.output import Meter


@asynccontextmanager
async def session(server: Any) -> AsyncIterator[Client]:
    """Open a session as `one_session` does."""
    client = Client(server)
    await client.__aenter__()
    try:
        yield client
    finally:
        await client.__aexit__(None, None, None)


async def test_a_tool_that_never_answers() -> None:
    server = MCPServer("waiting")

    @server.tool()
    async def wait() -> None:
        """Wait for ever."""
        await anyio.sleep_forever()

    with pytest.raises(CallError, match=r"wait has not answered within 0\.05 s: .*--call-timeout"):
        await _called(session(server), "wait", [], None, Meter("wait"), 0.05, Questions("here", {}))


async def test_a_list_that_does_not_come() -> None:
    with pytest.raises(CallError, match=r"has not listed its resource templates within 0\.05 s"):
        await list_all(lambda cursor: anyio.sleep_forever(), "resource_templates", patience=0.05)
