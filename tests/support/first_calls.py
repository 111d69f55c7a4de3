"""The first call of each server in `templates`, and its project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.project.packaged import PackageOptions, package_project

FIRST_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "everything": ("test_simple_text", {}),
    "forecast": ("get_forecast", {"place": "Wien"}),
    "fractal": ("draw", {"detail": 10}),
    "json-analyzer": ("evaluate_jsonpath", {"path": "$"}),
    "mermaid-editor": ("get_source", {}),
    "minimal": ("add", {"a": 1, "b": 2}),
    "pi-calculator": ("calculate_pi", {"iterations": 1000}),
    "unmodified-flashcards": ("list_cards", {"deck": "german"}),
    "unmodified-shopping": ("add_item", {"item": "milk"}),
    "unmodified-units": ("convert", {"value": 2, "from": "mile"}),
}
"""By template: the tool that is called first. One answers that the user has to choose a file first."""
FAILS = "json-analyzer"
"""The template whose first answer is that error."""


def project_of(name: str, folder: Path, *, persist: Sequence[str] = ()) -> Path:
    """Return the project of a template; that of an unmodified package is written into a folder.

    The package is found in an index that has it: see `tests.support.wheels.use_index`.

    Args:
        name: The template.
        folder: The folder of new projects.
        persist: The files that an unmodified package keeps.
    """
    project = templates_dir() / name
    if project.is_dir():
        return project
    args = ["--unit", "m"] if name == "unmodified-units" else []
    return package_project(name, folder / name, options=PackageOptions(args=args, persist=persist))
