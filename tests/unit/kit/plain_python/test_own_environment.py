"""Which servers need an environment of their own, by their requirements and their code."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.plain_python.own_environment import needs_own_environment
from mcpframe.kit.project.project import find_project

OURS = "from mcpframe import FrameServer\nserver = FrameServer('x')\n"
OF_2 = "from mcp.server.mcpserver import MCPServer\nserver = MCPServer('x')\n"
OF_1 = "from mcp.server.fastmcp import FastMCP\nserver = FastMCP('x')\n"


@pytest.mark.parametrize(
    ("source", "requirements", "apart"),
    [
        (OURS, "", False),
        (OURS, '"fastmcp"', False),  # a wrapped server: it needs mcpframe, and is refused with its own error
        (OF_2, "", False),
        (OF_2, '"mcp>=2"', False),
        (OF_2, '"mcp>=1.2,<3"', False),
        (OF_1, "", True),
        ("server = 1\n", '"mcp<2"', True),
        ("server = 1\n", '"mcp==1.*"', True),
        ("server = 1\n", '"mcp~=1.30"', True),
        ("server = 1\n", '"mcp<=1.30"', True),
        ("server = 1\n", '"FastMCP[tasks]>=3"', True),
    ],
)
def test_by_requirements_and_code(tmp_path: Path, source: str, requirements: str, *, apart: bool) -> None:
    (tmp_path / "server.py").write_text(source)
    text = f'[project]\nname = "x"\ndependencies = [{requirements}]\n[tool.mcpframe]\nassets = ["made/*.js"]\n'
    (tmp_path / "pyproject.toml").write_text(text)  # only pages have the assets, which another program may make
    assert needs_own_environment(find_project(tmp_path)) is apart


@pytest.mark.parametrize(
    ("entry", "apart"), [("absent-package", True), ("absent_package:server", True), ("anyio:x", False)]
)
def test_by_the_entry(tmp_path: Path, entry: str, *, apart: bool) -> None:
    text = '[project]\nname = "x"\ndependencies = ["absent-package", "anyio"]\n[tool.mcpframe]\nentry = '
    (tmp_path / "pyproject.toml").write_text(f'{text}"{entry}"\n')
    assert needs_own_environment(find_project(tmp_path)) is apart


def test_a_projects_own_program_does(tmp_path: Path) -> None:
    (tmp_path / "clock.py").write_text("def main(): ...\n")
    text = '[project]\nname = "clock"\n[project.scripts]\nclock = "clock:main"\n[tool.mcpframe]\nentry = "clock"\n'
    (tmp_path / "pyproject.toml").write_text(text)
    assert needs_own_environment(find_project(tmp_path))
