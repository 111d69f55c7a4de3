"""Placeholders for packages that are left out of the bundle of a third-party server.

Many servers import packages at module level that they need only to serve HTTP, or for a command that a page never runs.
These imports are answered in every module. A library with an optional package imports it within `try` and
`except ImportError`, or looks for it with `importlib.util.find_spec`: for it the package is absent, which is correct.
The build finds the lines of the former: see `kit.bundle.code.guards`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from mcpframe.frame.compat.placeholders import FIND_SPEC, PlaceholderFinder, advice, importers

BUNDLED_WITH = ("fastmcp", "mcp1", "program")

_CHOSEN = "{0!r} is left out by tool.mcpframe.leave_out, or as it has no wheel for Pyodide: the build prints which."


def answer_imports(left_out: Mapping[str, str], handled: Mapping[str, Sequence[int]]) -> None:
    """Answer imports of packages left out of the bundle, from now on. Does nothing when repeated.

    Args:
        left_out: The packages that the author leaves out, by module.
        handled: See `ThirdPartyFinder`.
    """
    if not any(isinstance(finder, ThirdPartyFinder) for finder in sys.meta_path):
        chosen = {module: _CHOSEN.format(package) for module, package in left_out.items()}
        sys.meta_path.append(ThirdPartyFinder({**advice(), **chosen}, handled))


class ThirdPartyFinder(PlaceholderFinder):
    """A `PlaceholderFinder` for all modules that do not expect the package to be absent.

    A module that another imports where it handles an ImportError does, too.

    Args:
        hints: As for `PlaceholderFinder`.
        handled: The lines in which a module handles an ImportError, by its name: first, last, first, last, …
    """

    def __init__(self, hints: Mapping[str, str], handled: Mapping[str, Sequence[int]]) -> None:
        super().__init__(hints, ())
        self._handled = handled

    def _answers(self) -> bool:
        for module, function, line in importers():
            lines = self._handled.get(module, ())
            is_handled = any(first <= line <= last for first, last in zip(lines[::2], lines[1::2], strict=True))
            if is_handled or (module, function) == FIND_SPEC:
                return False
            if function != "<module>" or module.startswith("mcpframe."):
                break
        return True
