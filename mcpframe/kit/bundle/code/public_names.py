"""The public names, as the public modules list them: in the block of imports for type checkers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from mcpframe.kit.bundle.code.imports import imports_in, syntax_tree

_ROOT = Path(__file__).resolve().parents[4]
_FILES = {
    "mcpframe": "mcpframe/__init__.py",
    "mcpframe.hosts": "mcpframe/hosts.py",
    "mcpframe.wire": "mcpframe/wire.py",
    "mcpframe.hub": "mcpframe/hub/__init__.py",
    "mcpframe.views": "mcpframe/views/__init__.py",
    "mcpframe.testing": "mcpframe/testing.py",
}


@cache
def public_names() -> Mapping[str, Mapping[str, str]]:
    """Return the public modules, each with its names and the modules that define these."""
    return {module: _listed(path) for module, path in _FILES.items()}


def _listed(path: str) -> dict[str, str]:
    tree = syntax_tree((_ROOT / path).read_bytes())
    return {item.name: item.module for item in imports_in(tree, path) if item.typing} if tree else {}
