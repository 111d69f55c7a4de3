"""The core knows no dialect: without a dialect's folder everything else imports, and its tests pass."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.mcpb import to_server

REPOSITORY = Path(__file__).parents[2]
DIALECTS = "mcpframe.frame.dialects"
PARTS: dict[str, set[str]] = {
    "plain_mcp": set(),
    "sep": set(),
    "mcp_apps": {
        f"mcpframe.frame.{name}" for name in ("host_api.mcp_apps", "hosting.mcp_apps.host", "hosting.mcp_apps.view")
    },
    "mcp_ui": {
        f"mcpframe.frame.{name}" for name in ("host_api.mcp_ui", "hosting.mcp_ui.host", "hosting.mcp_ui.actions")
    },
    "mcp_b": {
        *(f"mcpframe.frame.page_server.{name}" for name in ("clients", "server")),
        *(f"mcpframe.hub.relay.{name}" for name in ("page_relay", "frame")),
        *(f"mcpframe.hub.homes.page.{name}" for name in ("page_hub", "leading")),
        *(f"mcpframe.hub.homes.extension.{name}" for name in ("home", "tab_document", "tab_ports")),
    },
}
"""For each dialect the files above the dialects that are a part of it: a phase of its own, its host API."""

OF_ALL_DIALECTS = {REPOSITORY / "tests" / "unit" / "hub" / "relay" / "test_frame.py"}
"""Tests of all dialects in other rooms than theirs: a frame is relayed unless it speaks any of them with a host."""


def loaded(path: Path) -> set[str]:
    """Return the modules that a file imports as soon as it is imported itself."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def concerns(dialect: str, path: Path, seen: set[Path]) -> bool:
    """Return whether a test needs the dialect: it names it, or imports it, be it by way of what it imports of tests."""
    if path in seen:
        return False
    if not seen and f'"{dialect}"' in path.read_text("utf-8"):
        return True
    seen.add(path)
    if path.parent.name in (dialect, "dialects") or path in OF_ALL_DIALECTS:  # those of one dialect, and of all
        return True
    modules = loaded(path)
    if any(module.startswith(f"{DIALECTS}.{dialect}") or module in PARTS[dialect] for module in modules):
        return True
    files = (REPOSITORY / f"{module.replace('.', '/')}.py" for module in modules if module.startswith("tests."))
    return any(concerns(dialect, file, seen) for file in files if file.exists())


@pytest.fixture(scope="module", params=PARTS)
def removed(request: pytest.FixtureRequest) -> str:
    """The dialect that is removed."""
    return str(request.param)


@pytest.fixture(scope="module")
def without(removed: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and its tests, in which the dialect's folder is not there."""
    root = tmp_path_factory.mktemp("without")
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in (
        "mcpframe",
        "tests/support",
        "tests/vectors",
        "tests/contract",
        "tests/hostile",
        "tests/unit/frame",
        "tests/unit/hostile",
        "tests/unit/hub",
    ):
        shutil.copytree(REPOSITORY / folder, root / folder, ignore=ignored)
    others = [REPOSITORY / "pyproject.toml", REPOSITORY / "tests" / "in_pyodide" / "import_budget.txt"]
    for path in (*others, *REPOSITORY.glob("tests/**/conftest.py")):
        copied = root / path.relative_to(REPOSITORY)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copied)
    for folder in ("static", "templates", "docs"):
        (root / folder).symlink_to(REPOSITORY / folder)
    shutil.rmtree(root / DIALECTS.replace(".", "/") / removed)
    return root


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, *arguments], cwd=root, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done


IMPORT = """
import json
import sys
from importlib import import_module
from mcpframe.frame.dialects import available
from mcpframe.frame.session.wire import read_wire

root, removed, _, *modules = sys.argv[1:]
for name in modules:
    assert import_module(name).__file__.startswith(root), name
left = [each.name for each in available.dialects()]
assert removed not in left and len(left) == 4, left
assert available.phase_of("#setup") == ("transport" if removed == "sep" else "setup")
found = {
    "sep": read_wire({"type": "MCP_MESSAGE"}),
    "mcp_apps": read_wire({"jsonrpc": "2.0"}),
    "mcp_ui": read_wire({"type": "tool"}),
    "mcp_b": read_wire(json.loads(sys.argv[3])),
    "plain_mcp": read_wire({"jsonrpc": "2.0"}, "plain_mcp"),
}[removed]
assert found is None or found.dialect != removed
"""


def test_everything_else_imports(without: Path, removed: str) -> None:
    paths = [path for room in ("frame", "hub") for path in sorted((without / "mcpframe" / room).rglob("*.py"))]
    files = [path for path in paths if path.parent.name != "browser"]  # that needs a browser
    names = [".".join(path.relative_to(without).with_suffix("").parts) for path in files]
    modules = [name.removesuffix(".__init__") for name in names if name not in PARTS[removed]]
    assert len(modules) > 30
    run(without, "-c", IMPORT, str(without), removed, json.dumps(to_server("mcp-check-ready")), *modules)


@pytest.mark.extended
def test_the_tests_that_do_not_concern_it_pass(without: Path, removed: str) -> None:
    tests = [
        path
        for room in ("frame", "hostile", "hub")
        for path in sorted((REPOSITORY / "tests" / "unit" / room).rglob("test_*.py"))
    ]
    chosen = [str(path.relative_to(REPOSITORY)) for path in tests if not concerns(removed, path, set())]
    assert {"tests/unit/frame/core/test_candidates.py", "tests/unit/frame/core/test_candidates_fuzz.py"} <= {*chosen}
    done = run(without, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-x", *chosen)
    assert " passed" in done.stdout
