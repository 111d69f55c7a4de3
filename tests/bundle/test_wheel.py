"""The wheel as a user gets it: what is in it, and a bundle that it builds in an empty environment."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 300  # seconds

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    """Run a program without anything of this checkout on its path."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def uv() -> str:
    found = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    assert found, "uv is one of the project's requirements"
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel as the README says: the root's build.py would shadow `python -m build`."""
    out = tmp_path_factory.mktemp("wheel")
    run(uv(), "build", "--wheel", "--out-dir", out, ROOT, cwd=out)
    [built] = out.glob("*.whl")
    return built


def test_the_wheel_holds_the_package_its_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    metadata = re.compile(r"mcpframe-[^/]+\.dist-info/")
    inside = [name for name in names if not metadata.match(name)]
    assert all(name.startswith("mcpframe/") for name in inside), inside
    static = {"page/bundled/loader.js", "page/prefetch.js", "page/loader.js", "build/node-python.mjs", "host/host.js"}
    assert {f"mcpframe/_data/static/{name}" for name in static} <= set(inside)
    for template in (path.parent.name for path in (ROOT / "templates").glob("*/pyproject.toml")):
        needed = {"pyproject.toml", "mcpframe.lock", "README.md"}
        assert {f"mcpframe/_data/templates/{template}/{name}" for name in needed} <= set(inside)
    assert "mcpframe/_data/templates/dashboard/copilot.json" in inside
    assert {"mcpframe/_data/static/inspector/main.py", "mcpframe/_data/static/inspector/mcpframe.lock"} <= set(inside)
    unwanted = re.compile(r"(^|/)(conftest\.py|__pycache__|node_modules|dist|\.[^/]+)(/|$)|\.pyc$")
    assert not [name for name in inside if unwanted.search(name)]
    assert not [name for name in inside if name.startswith("mcpframe/tests/")]


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with nothing but the wheel and its extras `node` and `test`."""
    folder = tmp_path_factory.mktemp("environment")
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(uv(), "venv", "--python", sys.executable, folder / "venv", cwd=folder)
    run(uv(), "pip", "install", "--python", python, f"{wheel}[node,test]", cwd=folder)
    return python


def test_a_new_project_passes_its_tests_there(python: Path, tmp_path: Path) -> None:
    mcpframe = python.with_name("mcpframe.exe" if os.name == "nt" else "mcpframe")
    run(mcpframe, "new", "hello", cwd=tmp_path)
    told = run(python, "-m", "pytest", "-q", "-W", "error", cwd=tmp_path / "hello")  # which finds the plugin by itself
    assert "2 passed" in told
    run(mcpframe, "new", "--view", "dice", cwd=tmp_path)
    assert "4 passed" in run(mcpframe, "test", "-q", "-W", "error", cwd=tmp_path / "dice")


def test_an_empty_environment_builds_a_bundle(python: Path, tmp_path: Path) -> None:
    author = tmp_path / "author"
    author.mkdir()
    (author / "server.py").write_text(
        "from mcpframe import FrameServer\n\n"
        'server = FrameServer("adder", allowed_origins=["https://chat.example"])\n\n\n'
        "@server.tool()\n"
        "def add(a: int, b: int) -> int:\n"
        '    """Add two numbers."""\n'
        "    return a + b\n"
    )
    (author / "pyproject.toml").write_text(
        '[project]\nname = "adder"\nversion = "1.0"\n\n[tool.mcpframe]\nentry = "server:server"\n'
    )
    mcpframe = python.with_name("mcpframe.exe" if os.name == "nt" else "mcpframe")
    run(mcpframe, "build", author, "--out", tmp_path / "dist", cwd=tmp_path)
    manifest = json.loads((tmp_path / "dist" / "adder" / "manifest.json").read_text())
    assert [tool["name"] for tool in manifest["tools"]] == ["add"]
    assert (tmp_path / "dist" / "adder" / "index.html").is_file()
    assert str(tmp_path) not in (tmp_path / "dist" / "adder" / "index.html").read_text()
