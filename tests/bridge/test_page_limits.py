"""`--page-memory` with real pages: Python's memory counts, in a page and in its workers."""

from __future__ import annotations

import re
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client

from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from tests.bridge.programs import PATIENCE, environment, over_http
from tests.support.built import build_plain

pytestmark = pytest.mark.extended

SERVER = """
import anyio
from mcpframe import FrameServer

server = FrameServer("hoarder")
kept = []


def fill(megabytes: int) -> int:
    kept.append(bytearray(megabytes * 1_000_000))
    return len(kept)


@server.tool()
def hoard(megabytes: int) -> int:
    return fill(megabytes)


@server.tool()
async def hoard_elsewhere(megabytes: int) -> int:
    return await anyio.to_process.run_sync(fill, megabytes)
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("hoarder")
    (folder / "server.py").write_text(SERVER)
    return str(build_plain(folder / "server.py", folder / "dist", allowed_origins=[HOST_ORIGIN]).folder)


def bridge(bundle: str, limit: int) -> list[str]:
    command = [sys.executable, "-m", "mcpframe", "bridge", bundle, "--timeout", str(PATIENCE), "--metrics", "0"]
    return [*command, "--page-memory", str(limit)]


async def call(client: Client, tool: str, megabytes: int) -> int:
    result = await client.call_tool(tool, {"megabytes": megabytes})
    assert not result.is_error, result.content
    assert result.structured_content
    return int(result.structured_content["result"])


@pytest.mark.parametrize("tool", ["hoard", "hoard_elsewhere"])
async def test_a_page_above_its_limit_is_ended_and_opened_again(tool: str, bundle: str, tmp_path: Path) -> None:
    with over_http(bridge(bundle, 400), tmp_path) as address, anyio.fail_after(2 * PATIENCE):
        async with AsyncExitStack() as stack:
            large, other = [await stack.enter_async_context(Client(address, mode="legacy")) for _ in range(2)]
            assert await call(other, "hoard", 1) == 1
            assert await call(large, tool, 50) == 1
            await anyio.sleep(6)  # longer than between two measurements
            assert await call(large, tool, 400) == 2
            log = tmp_path / "stderr.txt"
            while "more than 400 MB" not in log.read_text():  # noqa: ASYNC110
                await anyio.sleep(0.1)
            assert await call(large, tool, 1) == 1
            assert await call(other, "hoard", 1) == 2
            printed = re.search(r"metrics at (\S+)", log.read_text())
            assert printed
            async with httpx2.AsyncClient(timeout=PATIENCE) as http:
                lines = (await http.get(printed[1])).text.splitlines()
            assert 'mcpframe_pages_total{outcome="too_large"} 1.0' in lines
            assert not [line for line in lines if line.startswith('mcpframe_pages_total{outcome="lost"}')]


async def test_a_limit_below_what_the_server_needs_is_an_error_at_the_start(bundle: str, tmp_path: Path) -> None:
    command = [*bridge(bundle, 10), "--http", "--port", "0", "--profile", str(tmp_path)]
    with anyio.fail_after(PATIENCE):
        process = await anyio.run_process(command, check=False, env=environment())
    assert process.returncode == 1
    assert b"at its start: give more with --page-memory" in process.stderr
