"""The errors: their trees, and what each means, from the modules that define them."""

from __future__ import annotations

import inspect
from types import ModuleType

from docs.generate.docstrings import attributes, summary
from docs.generate.docstrings import table as as_table
from mcpframe.frame.core import errors as frame
from mcpframe.hub.core import errors as hub
from mcpframe.kit.base import errors as kit

_MODULES: dict[str, ModuleType] = {"frame": frame, "hub": hub, "kit": kit}


def tree(name: str) -> str:
    """Return the tree at the top of a module: `frame`, `hub` or `kit`."""
    lines = inspect.cleandoc(_MODULES[name].__doc__ or "").splitlines()
    drawn = [line for line in lines if line.strip() and (line.strip()[0] in "├└│" or "Error" in line.split()[0])]
    return "```text\n" + "\n".join(inspect.cleandoc("\n".join(drawn)).splitlines()) + "\n```"


def table(name: str) -> str:
    """Return every error of a module, `frame`, `hub` or `kit`, in the order in which they are defined."""
    module = _MODULES[name]
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Exception) and value.__module__ == module.__name__
    ]
    rows = []
    for error in classes:
        carried = "; ".join(f"`{key}`: {text.rstrip('.')}" for key, text in attributes(error).items())
        bases = ", ".join(f"`{base.__name__}`" for base in error.__bases__)
        rows.append([f"`{error.__name__}`", bases, summary(error) + (f" Carries {carried}." if carried else "")])
    return as_table(["error", "is a", "means"], rows)
