"""Two users with tokens at one bridge, whose browser runs elsewhere: neither reaches what is the other's.

What is shared is in docs/how-to/bridge.md: without `--browsers` the profile, and from 2026-07-28 on the page.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from tests.bridge.programs import INITIALIZE, PATIENCE, over_http
from tests.plain_python.programs import connected
from tests.support.built import built
from tests.support.remote_chromium import RemoteChromium
from tests.support.takes_tasks import TakesTasks, TaskClient, cancelled
from tests.unit.kit.edges.test_http import Legacy

ADA, BOB = "a" * 32, "b" * 32


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[str]:
    chromium = RemoteChromium(tmp_path / "chromium")
    root, result = built("computing")
    (tmp_path / "tokens").write_text(f"ada {ADA}\nbob {BOB}\n")
    command = [sys.executable, "-m", "mcpframe", "bridge", str(root / result.folder.name), "--timeout", str(PATIENCE)]
    command += ["--tokens", str(tmp_path / "tokens"), "--sessions-per-user", "1"]
    try:
        with over_http([*command, "--browsers", await chromium.start()], tmp_path) as address:
            yield address
    finally:
        chromium.kill()


async def test_sessions_stored_values_and_limits_are_each_users_own(address: str) -> None:
    async with httpx2.AsyncClient(timeout=PATIENCE, trust_env=False) as http:

        def user(token: str, session: str = "") -> Legacy:
            client = Legacy(SimpleNamespace(url=address), http)  # type: ignore[arg-type]
            client.head |= {"authorization": f"Bearer {token}", **({"mcp-session-id": session} if session else {})}
            return client

        ada, bob = await user(ADA).begin(), await user(BOB).begin()
        for client in (ada, bob):
            for id_, tool in enumerate(("keep", "store"), 1):
                assert texts(await client.call(id_, tool, text="mine")) == ["mine"]

        thief = user(BOB, ada.head["mcp-session-id"])
        call = {"id": 3, "method": "tools/call", "params": {"name": "store", "arguments": {"text": "stolen"}}}
        assert [(await thief.post(each)).status_code for each in (call, {"id": 4, "method": "ping"})] == [404, 404]
        assert (await http.delete(address, headers=thief.head)).status_code == 404
        for id_, tool in enumerate(("keep", "store"), 5):
            assert texts(await ada.call(id_, tool, text="on")) == ["mine", "on"]

        begin = {"id": 7, "method": "initialize", "params": INITIALIZE}
        async with http.stream("GET", address, headers=ada.head) as listening:  # so her one session is busy
            assert listening.status_code == 200
            assert (await user(ADA).post(begin)).status_code == 429
            later = await user(BOB).begin()  # in place of his idle one, not of hers
            assert texts(await later.call(8, "store", text="new")) == ["new"]
        assert (await bob.post({"id": 9, "method": "ping"})).status_code == 404
        assert texts(await ada.call(10, "store", text="to the end")) == ["mine", "on", "to the end"]


async def test_a_task_is_its_users_own(address: str) -> None:
    options: dict[str, Any] = {"extensions": [TakesTasks()], "cache": None}
    with anyio.fail_after(PATIENCE):
        async with (
            connected(address, token=ADA, **options) as of_ada,
            connected(address, token=BOB, **options) as of_bob,
        ):
            ada, bob = TaskClient(of_ada), TaskClient(of_bob)
            id_ = (await ada.begin("hang"))["taskId"]
            for method in ("tasks/get", "tasks/update", "tasks/cancel"):
                with pytest.raises(MCPError, match="no such task"):
                    await bob.ask(method, id_, of="ada", inputResponses={})
            assert (await ada.ask("tasks/get", id_))["status"] == "working"
            await ada.ask("tasks/cancel", id_)
            await ada.until(id_, cancelled)


def texts(answer: dict[str, Any]) -> list[str]:
    return [block["text"] for block in answer["result"]["content"]]
