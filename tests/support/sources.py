"""Python files as syntax trees, each parsed once, and what they import: for the tests of the structure."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "mcpframe"
INSPECTOR = REPOSITORY / "static" / "inspector" / "inspector"


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file. The tree is shared: do not change it."""
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of a file's syntax tree."""
    return tuple(ast.walk(parsed(path)))


@cache
def files(folder: Path, pattern: str = "*.py") -> tuple[Path, ...]:
    """Return the files below a folder whose names fit the pattern, in the order of their paths."""
    return tuple(sorted(folder.rglob(pattern)))


@cache
def for_type_checkers(path: Path) -> frozenset[ast.AST]:
    """Return the nodes that only type checkers see: those below `if TYPE_CHECKING`."""
    return frozenset(
        node
        for test in nodes(path)
        if isinstance(test, ast.If) and isinstance(test.test, ast.Name) and test.test.id == "TYPE_CHECKING"
        for child in test.body
        for node in ast.walk(child)
    )


@cache
def named_by_import_module(path: Path) -> frozenset[str]:
    """Return the dotted names in the texts of a file that calls `import_module`: its arguments, and tables of them."""
    calls = [node.func for node in nodes(path) if isinstance(node, ast.Call)]
    if "import_module" not in {getattr(called, "attr", getattr(called, "id", "")) for called in calls}:
        return frozenset()
    return frozenset(text.partition(":")[0] for text in texts(path) if re.fullmatch(r"\w+(\.\w+)+(:\w+)?", text))


@cache
def imports(path: Path, *, typing_only: bool = True) -> frozenset[str]:
    """Return what a file imports at whatever place, as `module` or `module.name`.

    Args:
        path: the file.
        typing_only: whether imports for type checkers count.
    """
    found: set[str] = set()
    for node in nodes(path):
        if not typing_only and node in for_type_checkers(path):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found | named_by_import_module(path))


@cache
def texts(path: Path) -> tuple[str, ...]:
    """Return the string constants of a file, docstrings left out."""
    alone = {node.value for node in nodes(path) if isinstance(node, ast.Expr)}
    return tuple(
        node.value
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in alone
    )
