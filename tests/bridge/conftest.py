"""Fixtures of the bridge's tests: bridges of servers with one of everything, as programs of their own, and clients."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.bridge.clients import BridgedClient
from tests.bridge.programs import PATIENCE, environment, over_http
from tests.support.settling import USUAL
from tests.support.suites import except_for, mark_folder

ROOT = Path(__file__).parents[2]
SERVERS = ROOT / "tests" / "browser" / "servers"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_folder(items, "tests/bridge/", "browser")


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """One event loop for the session's bridges."""
    return USUAL


@pytest.fixture(scope="session")
def server() -> str:
    """The bridged bundle. The first bridge builds it into the cache."""
    return str(SERVERS / "everything")


@pytest.fixture(scope="session")
def bridge_command(server: str) -> list[str]:
    """How a bridge is run."""
    return command_for(server)


def command_for(server: str) -> list[str]:
    """Return how a bridge of a server is run."""
    return [sys.executable, "-m", "mcpframe", "bridge", server, "--timeout", str(PATIENCE)]


@pytest.fixture(scope="session")
def http_bridge(bridge_command: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a bridge over HTTP."""
    with over_http(bridge_command, tmp_path_factory.mktemp("http-profile")) as address:
        yield address


@pytest.fixture(scope="session")
def http_bridge_of_mcp_1(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a bridge over HTTP to a server of mcp 1.x."""
    command = command_for(str(SERVERS / "mcp1-everything"))
    with over_http(command, tmp_path_factory.mktemp("http-profile")) as address:
        yield address


@pytest.fixture(
    scope="session",
    params=except_for(
        ["stdio, modern", "stdio, legacy", "http, modern", "http, legacy", "http of mcp 1.x, legacy"],
        *("stdio, modern", "http, legacy"),
    ),
    ids=str,
)
async def client(
    request: pytest.FixtureRequest, bridge_command: list[str], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[BridgedClient]:
    """The official client at a bridge: over each transport, in each era; in the usual suite each of these once."""
    transport, era = request.param.split(", ")
    async with AsyncExitStack() as stack:
        if transport.startswith("http"):
            where = request.getfixturevalue("http_bridge" if transport == "http" else "http_bridge_of_mcp_1")
        else:
            profile = tmp_path_factory.mktemp("stdio-profile")
            command, *arguments = [*bridge_command, "--profile", str(profile)]
            where = stdio_client(
                StdioServerParameters(command=command, args=arguments, env=environment(), cwd=ROOT),
                errlog=stack.enter_context((profile / "stderr.txt").open("w")),
            )
        bridged = BridgedClient(where, era)
        async with asyncio.timeout(PATIENCE):  # anyio's scopes would have to end before the client does
            await bridged.open(stack)
        yield bridged


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    """Left at the end of the test."""
    async with AsyncExitStack() as stack:
        yield stack
