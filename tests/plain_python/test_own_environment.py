"""Servers with an environment and processes of their own: other SDKs, and packages by their names."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION

from mcpframe.kit.base.errors import ServeError
from mcpframe.kit.plain_python.options import PlainOptions
from mcpframe.kit.plain_python.run import serve_python
from tests.plain_python.programs import FOLDER, KEY, by_hand, connected, refused, served, value

ADA, BOB = "a" * 32, "b" * 32
TIME = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}


def copied(name: str, folder: Path) -> str:
    """Return a copy of a project, with its lock."""
    return str(shutil.copytree(FOLDER / name, folder / name))


def with_users(folder: Path) -> list[str]:
    """Return the options of a server with two users."""
    file = folder / "tokens"
    file.write_text(f"ada {ADA}\nbob {BOB}\n")
    return ["--tokens", str(file)]


async def test_each_user_has_a_process_that_is_started_again(tmp_path: Path) -> None:
    heard: list[Any] = []

    async def log(params: Any) -> None:
        heard.append(params.data)

    async def progress(*reported: Any) -> None:
        heard.append(reported)

    project = copied("of_mcp1", tmp_path)
    lock = (Path(project) / "mcpframe.python.lock").read_text()
    with served(project, *with_users(tmp_path), MCPFRAME_STATE_KEYS=KEY) as address:
        async with (
            connected(address, "auto", ADA, {"age": 7}, logging_callback=log) as ada,
            connected(address, "legacy", BOB) as bob,
        ):
            assert ada.protocol_version == "2025-11-25"  # the newest that mcp 1.x knows
            error = (await by_hand(address, "tools/list", {}, {"Authorization": f"Bearer {ADA}"}))["error"]
            assert (error["code"], "2025-11-25" in error["data"]["supported"]) == (UNSUPPORTED_PROTOCOL_VERSION, True)
            assert [await value(each, "count") for each in (ada, ada, bob)] == [1, 2, 1]
            assert await value(ada, "variables") == ["hello"]
            asked = await ada.call_tool("ask", {}, progress_callback=progress)
            assert asked.structured_content == {"result": "7"}
            assert heard == ["logged", (1, 2, "half")]
            assert await value(bob, "ask") == "decline"
            before = await value(ada, "process")
            with pytest.raises(MCPError, match="It ends itself"):
                await ada.call_tool("end", {})
            assert await value(ada, "process") != before
            assert await value(ada, "count") == 1
            assert await value(bob, "count") == 2
    assert (Path(project) / "mcpframe.python.lock").read_text() == lock


@pytest.mark.extended
async def test_a_package_is_served_in_every_revision(tmp_path: Path) -> None:
    async def check(client: Client, revision: str) -> None:
        assert client.protocol_version == revision
        result = await client.call_tool("convert_time", TIME)
        assert "21:00" in getattr(result.content[0], "text", "")

    with served(copied("clock", tmp_path), *with_users(tmp_path)) as address:
        for era, revision in (("2026-07-28", "2026-07-28"), ("auto", "2026-07-28"), ("legacy", "2025-11-25")):
            async with (
                connected(address, era, ADA) as ada,
                connected(address, era, BOB) as bob,
                anyio.create_task_group() as tasks,
            ):
                for client in (ada, bob, ada):
                    tasks.start_soon(check, client, revision)


@pytest.mark.extended
async def test_a_factory_of_fastmcp_is_served(tmp_path: Path) -> None:
    with served(copied("of_fastmcp", tmp_path)) as address:
        for era in ("auto", "legacy"):
            async with connected(address, era) as client:
                assert await value(client, "add", a=1, b=2) == 3


@pytest.mark.extended
async def test_a_package_by_its_name_gets_the_sdk_that_its_code_needs(tmp_path: Path) -> None:
    cache = {"MCPFRAME_CACHE": str(tmp_path)}
    with served("package:mcp-dice-roller==0.1.0", **cache) as address:
        async with connected(address, "auto") as client:
            assert "flip_coin" in {tool.name for tool in (await client.list_tools()).tools}
    [lock] = tmp_path.glob("packages/*/mcpframe.python.lock")  # noqa: ASYNC240
    assert "\nmcp==1." in lock.read_text()


@pytest.mark.extended
def test_a_program_that_does_not_serve_is_one_error(tmp_path: Path) -> None:
    project = copied("of_mcp1", tmp_path)
    (Path(project) / "server.py").write_text("import absent\nserver = 1\n")
    error = refused(project)
    assert "server:server is not served: The server's program has ended: ModuleNotFoundError: No module" in error
    (Path(project) / "server.py").write_text("server = 1\n")
    assert "an object of type int is not an MCP server" in refused(project)


def test_several_processes_are_refused_where_each_session_has_one(tmp_path: Path) -> None:
    options = PlainOptions(Path(FOLDER / "clock"), str(tmp_path), workers=2, keys=["k" * 32])
    with pytest.raises(ServeError, match="serve it without --workers"):
        serve_python(options, 0, print)
