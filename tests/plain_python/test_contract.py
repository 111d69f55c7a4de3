"""One contract in a page, behind the bridge, and in plain Python."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from mcp import Client

from tests.bridge.conftest import command_for
from tests.bridge.programs import over_http
from tests.plain_python.contract import CLAUSES, OF_MCP1, TASKS, results, seen, tasks_of
from tests.plain_python.programs import FOLDER, connected, served
from tests.support.takes_tasks import TakesTasks

SERVER = str(FOLDER / "both_ways")


def client_of(address: str) -> Callable[[], AbstractAsyncContextManager[Client]]:
    return lambda: connected(address, "legacy", answers={"age": 7})


def taking_tasks(address: str) -> AbstractAsyncContextManager[Client]:
    return connected(address, "2026-07-28", extensions=[TakesTasks()], cache=None)


async def test_in_plain_python(tmp_path: Path) -> None:
    with served(SERVER, "--storage", str(tmp_path)) as address:
        found = await results(client_of(address))
        async with taking_tasks(address) as client:
            assert await tasks_of(client) == TASKS
    assert found == [[*(clause.plain or clause.results)] for clause in CLAUSES]


@pytest.mark.browser
async def test_in_a_page(tmp_path: Path) -> None:
    with over_http(command_for(SERVER), tmp_path) as address:
        found = await results(client_of(address))
        async with taking_tasks(address) as client:
            assert await tasks_of(client) == TASKS
    assert found == [[*clause.results] for clause in CLAUSES]


@pytest.mark.browser
@pytest.mark.extended
@pytest.mark.parametrize("in_a_page", [True, False])
async def test_a_server_of_mcp1_is_the_same_in_both(tmp_path: Path, *, in_a_page: bool) -> None:
    project = str(shutil.copytree(FOLDER / "of_mcp1", tmp_path / "of_mcp1"))
    with over_http(command_for(project), tmp_path) if in_a_page else served(project) as address:
        found = await results(client_of(address), OF_MCP1)
    assert found == [[*clause.results] for clause in OF_MCP1]


@pytest.mark.browser
@pytest.mark.extended
async def test_in_a_worker_rows_are_kept_as_well(tmp_path: Path) -> None:
    project = shutil.copytree(SERVER, tmp_path / "both_ways")
    with (project / "pyproject.toml").open("a") as file:
        file.write('runs_in = "worker"\n')
    source = (project / "server.py").read_text()
    begin, end = source.index("@server.tool()\ndef rows"), source.index("@server.tool()\ndef echo")
    needed = 'from mcpframe import FrameServer, Kept, kept\n\nserver = FrameServer("both-ways")\n\n\n'
    (project / "server.py").write_text(needed + source[begin:end])  # the others need the page
    [clause] = [clause for clause in CLAUSES if clause.then]
    with over_http(command_for(str(project)), tmp_path) as address:
        async with client_of(address)() as client:
            assert await seen(client, clause) == clause.results[0]
