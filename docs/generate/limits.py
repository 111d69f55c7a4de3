"""The deadlines and limits, from the modules that name them."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from types import ModuleType

from docs.generate.docstrings import table as as_table
from mcpframe.frame.core import limits as frame
from mcpframe.hub.core import limits as hub
from mcpframe.kit.base import limits as kit

_MODULES: dict[str, ModuleType] = {"frame": frame, "hub": hub, "kit": kit}


def table(name: str) -> str:
    """Return every limit of a module, `frame`, `hub` or `kit`, with its value and its docstring."""
    module = _MODULES[name]
    body = ast.parse(inspect.getsource(module)).body
    rows = []
    for named, text in pairwise(body):
        if isinstance(named, ast.AnnAssign) and isinstance(text, ast.Expr):
            key = ast.unparse(named.target)
            rows.append([f"`{key}`", _shown(key, getattr(module, key)), " ".join(ast.literal_eval(text.value).split())])
    return as_table(["limit", "value", "what it bounds, and why"], rows)


def _shown(name: str, value: float) -> str:
    if name.endswith("SECONDS"):
        return f"{value:g} s" if value < 600 else f"{value / 60:g} min"
    if name.endswith("BYTES") and value % 1024 == 0:
        return f"{value // 1024**2:g} MiB" if value >= 1024**2 else f"{value // 1024:g} KiB"
    return f"{value:,} bytes" if name.endswith("BYTES") else f"{value:,}"
