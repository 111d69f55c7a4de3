"""`mcpframe serve --python` as a program of its own, and clients of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
KEY = "a-key-of-the-tests-not-of-anyone-else"
ERAS = ("2026-07-28", "legacy")
PATIENCE = 120.0


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "mcpframe", "serve", "--python", "--port", "0", *arguments]


@contextmanager
def served(*arguments: str, **variables: str) -> Iterator[str]:
    """Run the command for the duration of the block; yields the server's address."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    process = subprocess.Popen(command(*arguments), env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://"), "see the output of the program"
        yield address
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def refused(*arguments: str) -> str:
    """Run the command, which fails; returns its error."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.run(command(*arguments), env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert process.returncode != 0, process.stdout
    return process.stderr


@asynccontextmanager
async def connected(
    address: str, era: str = ERAS[0], token: str = "", answers: Mapping[str, Any] | None = None, **options: Any
) -> AsyncIterator[Client]:
    """Connect a client. Each of its requests has a connection of its own, as behind a balancer.

    Args:
        token: Its bearer token.
        answers: What its user answers to any question; None to decline.
    """

    async def answer(_: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        if answers is None:
            return types.ElicitResult(action="decline")
        assert isinstance(params, types.ElicitRequestFormParams)
        return types.ElicitResult(action="accept", content=dict(answers))

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    limits = httpx2.Limits(max_keepalive_connections=0)
    options.setdefault("elicitation_callback", answer)
    async with (
        httpx2.AsyncClient(headers=headers, limits=limits, timeout=PATIENCE, trust_env=False) as http,
        Client(streamable_http_client(address, http_client=http), mode=era, **options) as client,
    ):
        yield client


async def by_hand(
    address: str, method: str, capabilities: Mapping[str, Any], headers: Mapping[str, str], **params: object
) -> dict[str, Any]:
    """Send a request of 2026-07-28 without the SDK, and return the answer."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": ERAS[0],
        "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }
    head = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": ERAS[0], "Mcp-Method": method}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
        answer: dict[str, Any] = (await http.post(address, json=message, headers={**head, **headers})).json()
    return answer


async def value(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool, and return the value of its result."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content["result"]
