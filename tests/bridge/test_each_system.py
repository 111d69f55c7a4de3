"""A bridge and a hub on this system, whichever it is; `.github/workflows/test.yml` runs this file on each."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.bridge.hub_pages import hub_site
from tests.bridge.hub_programs import SHOP, has, text
from tests.bridge.programs import PATIENCE, ROOT, environment, start

AS_ON_WINDOWS = """
import asyncio, signal, sys
from mcpframe.kit.browser.devtools import launch

def refuse(*_):
    raise NotImplementedError

launch._HAS_PIPES = False
del signal.SIGHUP
asyncio.SelectorEventLoop.add_signal_handler = refuse
sys.argv[0] = "mcpframe"
from mcpframe.__main__ import main
main()
"""
"""mcpframe without what Windows lacks. It stands in for a run there, which the workflow `test.yml` makes."""


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(("-m", "mcpframe"), id="as it is", marks=pytest.mark.extended),
        pytest.param(
            ("-c", AS_ON_WINDOWS),
            id="without pipes and signals",
            marks=pytest.mark.skipif(sys.platform == "win32", reason="it is so there"),
        ),
    ],
)
async def test_a_call_and_the_end(server: str, tmp_path: Path, program: Sequence[str]) -> None:
    async with start(server, "--timeout", str(PATIENCE), profile=tmp_path, program=program) as bridge:
        await bridge.initialize()
        await bridge.request(1, "tools/call", name="echo", arguments={"text": "through a bridge"})
        assert "through a bridge" in str((await bridge.answer(1))["result"])
        has_port = any(tmp_path.rglob("DevToolsActivePort"))  # noqa: ASYNC240  a small folder
        assert has_port is (sys.platform == "win32" or program[0] == "-c")
        assert bridge.process.stdin
        bridge.process.stdin.close()
        status, told = await bridge.ended()
        assert (status, "Traceback" in told) == (0, False)


@pytest.mark.extended
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(("-m", "mcpframe"), id="as it is"),
        pytest.param(
            ("-c", AS_ON_WINDOWS),
            id="without pipes and signals",
            marks=pytest.mark.skipif(sys.platform == "win32", reason="it is so there"),
        ),
    ],
)
async def test_a_hub_of_its_own(tmp_path: Path, program: Sequence[str]) -> None:
    with hub_site(tmp_path / "site") as site:
        options = [site.shop(), f"--site={site.origin('shop')}", "--headless", "--profile", str(tmp_path / "profile")]
        server = StdioServerParameters(
            command=sys.executable, args=[*program, "hub", *options], env=environment(), cwd=ROOT
        )
        async with Client(stdio_client(server), cache=None) as client:
            await has(client, *SHOP)
            assert text(await client.call_tool(SHOP[0], {"a": 2, "b": 3})) == "5"
            has_port = any((tmp_path / "profile").rglob("DevToolsActivePort"))
            assert has_port is (sys.platform == "win32" or program[0] == "-c")
