"""How a bundle's server is entered: factories, arguments and environment variables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.pipeline import build
from tests.bundle.conftest import write_project
from tests.bundle.served_pages import Serving, call
from tests.support.wheels import use_index, write_wheel

pytestmark = pytest.mark.usefixtures("one_browser")

FACTORY = """
import asyncio, os, sys

from mcpframe import FrameServer

at_import = [sys.argv[1:], os.environ["LOG_LEVEL"]]


async def make(name="made"):
    await asyncio.sleep(0)
    server = FrameServer(name, allowed_origins=["*"])

    @server.tool()
    def around() -> str:
        return repr([at_import, sys.argv[1:], os.environ["LOG_LEVEL"]])

    return server
"""


def factory_project(folder: Path) -> Path:
    project = write_project(folder, server=FACTORY)
    settings = 'args = ["--root", "a b"]\nenv = {LOG_LEVEL = "debug"}\n'
    text = (project / "pyproject.toml").read_text().replace("server:server", "server:make()")
    (project / "pyproject.toml").write_text(text + settings)
    return project


def test_a_factory_finds_arguments_and_variables_and_starts_from_a_snapshot(
    tmp_path: Path,
    page: Page,
    host: str,
    serving: Serving,
) -> None:
    result = build(factory_project(tmp_path / "project"), tmp_path / "out", snapshot=True)
    assert [tool["name"] for tool in result.tools or ()] == ["around"]
    assert result.manifest["start"] == "starts from a snapshot with the server imported"
    assert any("anybody can read it: LOG_LEVEL" in line for line in result.warnings)
    answer = json.loads(call(page, host, f"{serving(tmp_path / 'out')}/adder/", "around"))
    found = [["--root", "a b"], "debug"]
    assert answer["content"][0]["text"] == repr([found, *found])


def test_a_factory_that_fails_is_an_error_of_the_build(tmp_path: Path) -> None:
    project = factory_project(tmp_path / "project")
    server = project / "server.py"
    server.write_text(server.read_text().replace('make(name="made")', "make(name)"))
    with pytest.raises(BuildError, match="called without arguments, but needs name"):
        build(project, tmp_path / "out")
    server.write_text(
        server.read_text().replace("make(name)", "make()").replace("(name, all", "(os.environ['NO'], all")
    )
    with pytest.raises(BuildError, match=r"KeyError: 'NO'(.|\n)*server.py"):
        build(project, tmp_path / "out")


def test_an_entry_may_lead_into_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = FACTORY.replace("from mcpframe import FrameServer", "from mcp.server import MCPServer").replace(
        'FrameServer(name, allowed_origins=["*"])', "MCPServer(name)"
    )
    write_wheel(tmp_path / "index", "mcpframe-tests-weather", {"weather_server/app.py": code}, requires=["mcp>=1.9"])
    use_index(tmp_path / "index", monkeypatch)
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[project]\nname = "weather"\ndependencies = ["mcpframe-tests-weather"]\n'
        '[tool.mcpframe]\nentry = "weather_server.app:make()"\nallowed_origins = ["*"]\nenv = {LOG_LEVEL = "info"}\n'
    )
    result = build(project, tmp_path / "out", snapshot=False)
    assert [tool["name"] for tool in result.tools or ()] == ["around"]
    assert result.manifest["versions"]["packages"]["mcpframe-tests-weather"] == "1.0"
