"""The lines in which a module handles that an import fails: there a package that is left out of a bundle is absent.

Everywhere else a placeholder answers for it: see `mcpframe.frame.compat.third_party_placeholders`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache

from mcpframe.kit.bundle.code.imports import IMPORT_ERRORS, goes_on_without, syntax_tree

_NAMED = re.compile(rb"ImportError|ModuleNotFoundError|except\s*:")
_BY_NAME = frozenset({"import_module", "__import__"})


def handled_imports(code: Mapping[str, bytes], absent: Collection[str], there: Collection[str]) -> dict[str, list[int]]:
    """Return the lines of modules in which they do without a package, by module: first, last, first, last, …

    Args:
        code: Python files, by path in site-packages.
        absent: The top-level modules that the bundle lacks.
        there: Those that it has, which may import the others.
    """
    needs = re.compile("|".join(map(re.escape, sorted(absent))).encode())
    handled = {}
    for path, data in sorted(code.items()):
        # Most files are not read, as that takes seconds for large packages.
        may_handle = _NAMED.search(data) or (b"Exception" in data and needs.search(data))
        if may_handle and (lines := _lines(data, frozenset(absent), frozenset(there))):
            handled[path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")] = list(lines)
    return handled


@cache  # for `mcpframe dev`, which builds again and again
def _lines(data: bytes, absent: frozenset[str], there: frozenset[str]) -> tuple[int, ...]:
    return tuple(line for block in _blocks(syntax_tree(data), absent, there) for line in block)


def _blocks(tree: ast.Module | None, absent: Collection[str], there: Collection[str]) -> Iterator[tuple[int, int]]:
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Try | ast.With) and (errors := goes_on_without(node)):
            named = errors & IMPORT_ERRORS
            inside = [each for statement in node.body for each in ast.walk(statement)]
            # A module that handles any exception may mean another one than that a module it imports lacks a package.
            if any(_imports(each, absent) or (named and _imports(each, there, computed=True)) for each in inside):
                yield node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno


def _imports(node: ast.AST, modules: Collection[str], *, computed: bool = False) -> bool:
    """Return whether a node imports one of these modules; if `computed`, one of any name, too."""
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] in modules for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return computed if node.level else (node.module or "").partition(".")[0] in modules
    return computed and isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _BY_NAME
