"""Real builds: with Node, and with wheels from the package index or the cache."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.bundle.pipeline import build
from tests.bundle.served_pages import browser, host, page, serving  # noqa: F401  the fixtures of the pages
from tests.support.built import one_browser  # noqa: F401
from tests.support.suites import mark_folder

SERVER = '''
from mcpframe import FrameServer

server = FrameServer("adder", allowed_origins=["https://chat.example"])


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b
'''


class Adder(NamedTuple):
    """A built server."""

    project: Path
    out: Path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_folder(items, "tests/bundle/", "slow")


def write_project(
    folder: Path, table: str = "", server: str = SERVER, dependencies: str = "[]", name: str = "adder"
) -> Path:
    """Write a project with a server.py; `table` goes into [tool.mcpframe].

    Without dependencies it has the lock of the templates, so that it shares what was compiled for them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "server.py").write_text(server)
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\ndependencies = {dependencies}\n\n'
        f'[tool.mcpframe]\nentry = "server:server"\n{table}\n'
    )
    if dependencies == "[]":
        shutil.copy(templates_dir() / "minimal" / "mcpframe.lock", folder)
    return folder


@pytest.fixture(scope="session")
def adder(tmp_path_factory: pytest.TempPathFactory) -> Adder:
    """The built server of `SERVER`. Not to be changed."""
    folder = tmp_path_factory.mktemp("adder")
    project = write_project(folder / "project")
    build(project, folder / "out", snapshot=True)
    return Adder(project, folder / "out")
