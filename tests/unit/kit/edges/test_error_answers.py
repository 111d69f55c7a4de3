"""What the official client shows of a request that an HTTP server of ours refuses before MCP sees it."""

from __future__ import annotations

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp

from mcpframe.frame.core.jsonrpc import CONNECTION_CLOSED, INVALID_REQUEST
from mcpframe.kit.edges.http.error_answers import error_answer
from mcpframe.kit.edges.http.rate_limit import RateLimited


async def shown(app: ASGIApp) -> tuple[int, str]:
    """The code and the message of the error that the client raises at its first request."""
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x")
    with pytest.raises(BaseExceptionGroup) as raised:
        async with http, Client(streamable_http_client("http://x/mcp", http_client=http), mode="legacy"):
            pass
    error: BaseException = raised.value
    while isinstance(error, BaseExceptionGroup):  # of the task groups of the client and its transport
        [error] = error.exceptions
    assert isinstance(error, MCPError)
    return error.error.code, error.error.message


async def test_the_message_is_the_answers() -> None:
    app = error_answer(500, CONNECTION_CLOSED, "The server has ended.")
    assert await shown(app) == (CONNECTION_CLOSED, "The server has ended.")


async def test_a_rate_is_named() -> None:
    app = RateLimited(PlainTextResponse("never"), "1/hour")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x") as http:
        assert (await http.post("/mcp")).status_code == 200
    code, message = await shown(app)
    assert code == INVALID_REQUEST
    assert "at most 1 in 3600 seconds" in message
