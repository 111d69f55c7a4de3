"""Who may import what (the walls of the design), read from the source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "mcpframe"
FRAME = sorted((PACKAGE / "frame").rglob("*.py"))
BROWSER = {"js", "pyodide", "pyodide_js"}
SDK_USERS = {"session.py", "server.py", "other_server.py", "compat", "hub/server.py", "hub/clients.py"}
"""Files of the frame and folders in it."""
CORE = sorted((PACKAGE / "frame" / "core").glob("*.py"))
KIT_ONLY = {"playwright", "typer", "rich", "starlette", "uvicorn", "jinja2", "uv", "watchfiles", "wsproto"}


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def imports(path: Path, *, typing_only: bool) -> set[str]:
    """Return the modules a file imports, those for type checkers left out unless wanted."""
    tree = ast.parse(path.read_text("utf-8"))
    hidden = {
        node
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and ast.unparse(test.test) == "TYPE_CHECKING"
        for child in test.body
        for node in ast.walk(child)
    }
    found = set()
    for node in ast.walk(tree):
        if node in hidden and not typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("import_module", "importlib.import_module"):
            found |= {str(name.value) for name in node.args[:1] if isinstance(name, ast.Constant)}
    return found


def top(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize("path", FRAME, ids=_name)
def test_frame_never_imports_the_kit(path: Path) -> None:
    modules = imports(path, typing_only=True)
    assert not {module for module in modules if module.startswith("mcpframe.kit")}
    assert not top(modules) & KIT_ONLY


@pytest.mark.parametrize("path", sorted((PACKAGE / "views").glob("*.py")), ids=_name)
def test_views_are_for_servers_without_the_kit(path: Path) -> None:
    modules = imports(path, typing_only=True)
    assert not {module for module in modules if module.startswith(("mcpframe.kit", "mcpframe.frame.browser"))}
    assert not top(modules) & KIT_ONLY


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=_name)
def test_only_the_browsers_room_imports_the_browser(path: Path) -> None:
    program = path.parent.name == "in_pyodide"  # of the build: it runs in Pyodide, and nowhere else
    if not program and path.parent != PACKAGE / "frame" / "browser":
        assert not top(imports(path, typing_only=True)) & BROWSER


@pytest.mark.parametrize("path", FRAME, ids=_name)
def test_only_these_files_of_the_frame_import_the_sdk(path: Path) -> None:
    inside = path.relative_to(PACKAGE / "frame")
    if not {inside.parts[0], inside.as_posix()} & SDK_USERS:
        assert not top(imports(path, typing_only=False)) & {"mcp", "mcp_types"}


@pytest.mark.parametrize("path", sorted((PACKAGE / "frame" / "dialects").rglob("*.py")), ids=_name)
def test_a_dialect_imports_the_core_and_itself_only(path: Path) -> None:
    own = f"mcpframe.frame.dialects.{path.relative_to(PACKAGE / 'frame' / 'dialects').parts[0]}"
    for module in imports(path, typing_only=True):
        assert not module.startswith("mcpframe") or module.startswith(("mcpframe.frame.core.", own)), module


@pytest.mark.parametrize("path", CORE, ids=_name)
def test_the_core_imports_nothing_of_ours_but_itself(path: Path) -> None:
    for module in imports(path, typing_only=True):
        assert not module.startswith("mcpframe") or module.startswith("mcpframe.frame.core."), module


@pytest.mark.parametrize("path", CORE, ids=_name)
def test_the_core_does_no_io(path: Path) -> None:
    assert not top(imports(path, typing_only=True)) & {
        "asyncio",
        "anyio",
        "time",
        "threading",
        "socket",
        "mcp",
        "pydantic",
    }
    assert not any(
        isinstance(node, ast.Await | ast.AsyncFunctionDef) for node in ast.walk(ast.parse(path.read_text("utf-8")))
    )


@pytest.mark.parametrize("path", sorted((PACKAGE / "frame" / "hub").rglob("*.py")), ids=_name)
def test_the_hub_has_no_clock_and_no_way_out(path: Path) -> None:
    modules = imports(path, typing_only=True)
    assert not top(modules) & {"time", "threading", "socket", "subprocess", "pathlib", "os"}
    ours = ("mcpframe.frame.hub.", "mcpframe.frame.core.")
    if path.name == "app.py":  # joins the hub to a page
        ours += ("mcpframe.frame.browser.app_tab", "mcpframe.frame.compat.sdk.in_pyodide")
    elif path.name == "offering.py":  # joins it to a server object
        ours += ("mcpframe.frame.server_module.",)
    elif path.name in ("relay_page.py", "relay_frame.py"):  # join the relay to the windows of a page
        ours += ("mcpframe.frame.dialects.",)
    elif path.name == "relay_tools.py":  # joins it to the tools of a document
        ours += ("mcpframe.frame.lines.", "mcpframe.frame.web_mcp.client.")
    elif path.name == "document_tools.py":
        ours += ("mcpframe.frame.web_mcp.tools.",)
    assert all(module.startswith(ours) for module in modules if module.startswith("mcpframe"))


NAMES_OF_MESSAGES = re.compile(r"\bMCP_[A-Z]+")
INSPECTOR = sorted((PACKAGE.parent / "static" / "inspector").rglob("*.py"))


def _texts(path: Path) -> list[str]:
    """Return the texts in a file, docstrings left out."""
    tree = ast.parse(path.read_text("utf-8"))
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    alone = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [str(node.value) for node in texts if node not in alone]


@pytest.mark.parametrize("path", [*FRAME, *INSPECTOR], ids=lambda path: path.relative_to(PACKAGE.parent).as_posix())
def test_only_a_dialect_names_its_messages(path: Path) -> None:
    if PACKAGE / "frame" / "dialects" not in path.parents:
        assert not [text for text in _texts(path) if NAMES_OF_MESSAGES.search(text)]


def test_the_walls_would_notice(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text("import js\nfrom mcpframe.kit import cli\nif TYPE_CHECKING:\n    import mcp\n")
    assert imports(sample, typing_only=False) == {"js", "mcpframe.kit.cli"}
    assert imports(sample, typing_only=True) == {"js", "mcpframe.kit.cli", "mcp"}
    sample.write_text('"""MCP_DOC"""\nkind = "MCP_MESSAGE"\n')
    assert _texts(sample) == ["MCP_MESSAGE"]
