"""Which servers need their page, and so cannot run in a worker."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bundle.code.page_use import can_run_in_worker, check_worker, starts_processes, uses_of_page
from mcpframe.kit.project.project import Project, find_project

PLAIN = """
from mcpframe import FrameServer
server = FrameServer("plain")

@server.tool()
async def greet(ctx) -> str:
    await ctx.session.send_ping()
    return "hello"
"""


def project(folder: Path, settings: str = "", code: str = PLAIN) -> tuple[Project, dict[str, bytes]]:
    (folder / "server.py").write_text(code)
    table = f'[project]\nname = "plain"\nversion = "1"\n[tool.mcpframe]\nentry = "server:server"\n{settings}\n'
    (folder / "pyproject.toml").write_text(table)
    return find_project(folder), {"server.py": code.encode()}


def test_a_server_that_needs_no_page(tmp_path: Path) -> None:
    check_worker(*project(tmp_path, 'runs_in = "worker"'))
    assert can_run_in_worker(*project(tmp_path))


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ("@server.ui\nasync def draw(session): ...", "server.ui"),
        ("@server.setup(visible=True)\nasync def set_up(session): ...", "server.setup"),
        ("def keep(): return server.session", "server.session"),
        ("def show(): server.session.page.show('a.html')", "server.session"),
        ("import mcpframe\nother: object = mcpframe.wrap(3)\nother.session", "other.session"),
        ("typed = FrameServer[int]('typed')\ntyped.session", "typed.session"),
    ],
)
def test_code_that_uses_the_page(tmp_path: Path, more: str, what: str) -> None:
    code = f"{PLAIN}\n{more}\n"
    assert [found for _, found in uses_of_page({"server.py": code.encode()})] == [what]
    with pytest.raises(ConfigError, match=rf"server\.py, line \d+ uses {what}"):
        check_worker(*project(tmp_path, 'runs_in = "worker"', code))
    assert not can_run_in_worker(*project(tmp_path, code=code))


def test_the_server_of_another_module_counts() -> None:
    files = {"a.py": PLAIN.encode(), "b.py": b"from a import server\nserver.session"}
    assert list(uses_of_page(files)) == [("b.py, line 2", "server.session")]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [('lazy = ["numpy"]', "lazy"), ('kind = "page"', "kind")],
)
def test_settings_that_need_the_page(tmp_path: Path, settings: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        check_worker(*project(tmp_path, f'runs_in = "worker"\n{settings}'))
    assert not can_run_in_worker(*project(tmp_path, settings))


def test_a_time_limit_needs_a_worker(tmp_path: Path) -> None:
    for name in ("tool_timeout", "tool_grace"):
        with pytest.raises(ConfigError, match=f"{name} needs runs_in"):
            check_worker(*project(tmp_path, f"{name} = 3.0"))
    check_worker(*project(tmp_path, 'runs_in = "worker"\ntool_timeout = { add = 3.0, "*" = 60.0 }'))


def test_the_browser_of_python_is_the_pages(tmp_path: Path) -> None:
    code = f"import js\n{PLAIN}"
    assert not can_run_in_worker(*project(tmp_path, code=code))
    check_worker(*project(tmp_path, 'runs_in = "worker"', code))  # a worker has one of its own


@pytest.mark.parametrize(
    ("code", "starts"),
    [
        ("import anyio.to_process", True),
        ("from anyio import to_process as away", True),
        ("import anyio\nanyio.to_process.run_sync", True),
        ("from concurrent.futures import ProcessPoolExecutor", True),
        ("import concurrent.futures as futures\nfutures.ProcessPoolExecutor()", True),
        ("from mcpframe import FrameServer, in_process", True),
        ("import mcpframe\n@mcpframe.in_process\ndef work(): ...", True),
        ("text = 'to_process, ProcessPoolExecutor and in_process'", False),
        ("from anyio import to_thread", False),
        ("not python in_process", False),
    ],
)
def test_code_that_starts_processes(code: str, starts: bool) -> None:
    assert starts_processes({"server.py": code.encode()}) is starts


@pytest.mark.parametrize("name", ["storage", "id", "origin", "closed"])
def test_a_worker_has_this_of_a_session(name: str) -> None:
    code = f"from mcpframe import FrameServer\nserver = FrameServer('a')\n\ndef use(): return server.session.{name}"
    assert list(uses_of_page({"a.py": code.encode()})) == []
