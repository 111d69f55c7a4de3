"""Servers that end, and that compute for ever: the bridge goes on with a new page, other sessions with theirs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.bundle.pipeline import build
from tests.bridge.conftest import ROOT
from tests.bridge.programs import INITIALIZE, PATIENCE, Program, over_http, start
from tests.support.built import SNAPSHOTS
from tests.support.takes_tasks import TakesTasks, TaskClient, cancelled


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of the server, built for bridges."""
    project, out = ROOT / "tests" / "browser" / "servers" / "ending", tmp_path_factory.mktemp("ending")
    return str(out / build(project, out, allowed_origins=[HOST_ORIGIN], snapshot=SNAPSHOTS).name)


async def call(bridge: Program, id_: int, tool: str, **arguments: str) -> None:
    await bridge.request(id_, "tools/call", name=tool, arguments=arguments)


async def echoes(bridge: Program, id_: int) -> None:
    await call(bridge, id_, "echo", text="again")
    answer = await bridge.next()
    assert answer.get("error") is None
    assert (answer["id"], answer["result"]["content"][0]["text"]) == (id_, "again")


async def test_the_end_of_python(server: str, tmp_path: Path) -> None:
    async with start(server, "--timeout", str(PATIENCE), profile=tmp_path) as bridge:
        await bridge.request(0, "initialize", **INITIALIZE)
        assert (await bridge.next())["id"] == 0
        await bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

        await call(bridge, 1, "end", how="exit")
        failed = await bridge.next()
        assert (failed["id"], failed["error"]["code"]) == (1, -32000)
        await echoes(bridge, 2)

        assert bridge.process.stdin
        bridge.process.stdin.close()
        status, told = await bridge.ended()
        assert status == 0
        assert told.count("It is opened again") == 1
        assert "Traceback" not in told


async def test_a_cancelled_call_that_never_returns(server: str, tmp_path: Path) -> None:
    async with start(server, "--timeout", str(PATIENCE), "--busy-timeout", "3600", profile=tmp_path) as bridge:
        await bridge.request(0, "initialize", **INITIALIZE)
        assert (await bridge.next())["id"] == 0
        await bridge.request(1, "tools/call", name="spin", arguments={}, _meta={"progressToken": "began"})
        assert (await bridge.next())["method"] == "notifications/progress"  # a call that waits would not run at all
        await bridge.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        # For the user: the page was ended; the cancelled call is not mentioned.
        assert bridge.process.stderr
        with anyio.fail_after(PATIENCE):
            while "It is opened again" not in (line := (await bridge.process.stderr.readline()).decode()):
                assert line
        await echoes(bridge, 2)


@pytest.fixture
def address(server: str, tmp_path: Path) -> Iterator[str]:
    """A bridge over HTTP."""
    command = [sys.executable, "-m", "mcpframe", "bridge", server, "--busy-timeout", "5", "--timeout", str(PATIENCE)]
    with over_http(command, tmp_path) as address:
        yield address


async def test_a_task_outlives_its_request_and_ends_with_its_page(address: str) -> None:
    with anyio.fail_after(PATIENCE):
        async with Client(address, mode="2026-07-28", extensions=[TakesTasks()], cache=None) as client:
            tasks = TaskClient(client)
            first, second = (await tasks.begin("wait"))["taskId"], (await tasks.begin("wait"))["taskId"]
            assert (await tasks.until(first, lambda state: "seconds" in state.get("statusMessage", "")))[
                "status"
            ] == "working"
            await tasks.ask("tasks/cancel", first)
            await tasks.until(first, cancelled)
            assert (await tasks.ask("tasks/get", second))["status"] == "working"
            with pytest.raises(MCPError):
                await client.call_tool("end", {"how": "exit"})
            with pytest.raises(MCPError, match="its page") as unknown:
                await tasks.ask("tasks/get", second)
            assert unknown.value.error.code == -32602


@pytest.mark.extended
async def test_a_session_that_computes_for_ever_blocks_no_other_one(address: str) -> None:
    with anyio.fail_after(PATIENCE):
        async with Client(address, mode="legacy") as spinning, Client(address, mode="legacy") as other:
            await spinning.call_tool("echo", {"text": "there"})
            await other.call_tool("echo", {"text": "there"})
            call = asyncio.create_task(spinning.call_tool("spin", {}))
            answered = 0
            while not call.done():
                assert not (await other.call_tool("echo", {"text": "on"})).is_error
                answered += 1
            assert answered > 1
            with pytest.raises(MCPError, match="without a pause"):
                await call
            assert not (await spinning.call_tool("echo", {"text": "again"})).is_error
