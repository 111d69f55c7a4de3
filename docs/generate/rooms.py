"""The rooms of the package: its folders, with what their docstrings say, and their modules."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "mcpframe"


def rooms(_: str) -> str:
    """Return the folders of the package as a nested list, each with the modules in it."""
    return "\n".join(_lines(PACKAGE, 0))


def _lines(folder: Path, depth: int) -> list[str]:
    lines = []
    for inner in sorted(path.parent for path in folder.glob("*/__init__.py")):
        text = ast.get_docstring(ast.parse((inner / "__init__.py").read_text("utf-8"))) or ""
        modules = ", ".join(f"`{path.stem}`" for path in sorted(inner.glob("*.py")) if path.stem != "__init__")
        first = text.partition("\n\n")[0].replace("\n", " ")
        lines.append(f"{'    ' * depth}- **`{inner.name}/`**: {first}{' (' + modules + ')' if modules else ''}")
        lines += _lines(inner, depth + 1)
    return lines
