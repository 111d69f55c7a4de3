"""Uses of parts of the standard library that Pyodide lacks, found in the author's code, for warnings of the build.

An import at the top of a module fails in the build itself. One in a function would fail when a tool is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from mcpframe.frame.page.hints import NO_OPENSSL, missing_module
from mcpframe.kit.bundle.code.imports import Import, imports_of, syntax_tree
from mcpframe.kit.bundle.code.variables import dotted

ABSENT = frozenset(
    {
        *("curses", "dbm", "ensurepip", "grp", "idlelib", "msvcrt", "nt", "pwd", "pydoc_data", "readline", "resource"),
        *("syslog", "tkinter", "turtle", "turtledemo", "venv", "winreg", "winsound"),
    }
)
"""The public modules of the standard library that Pyodide lacks, or that need one of these."""
_HAD = frozenset({"resource"})
"""Those that a bundle has of `mcpframe.frame.world`, if its author's code imports them."""


def missing_stdlib_warnings(author: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return a warning for each missing module, and for `hashlib.scrypt`, with the first place of its use.

    Args:
        author: The author's files, by path.
    """
    by_module: dict[str, str] = {}
    own = {path.partition("/")[0].removesuffix(".py") for path in author}
    for item in imports_of(author):
        package = item.module.partition(".")[0]
        needed = "dbm" if package == "shelve" else package
        if needed in ABSENT - _HAD - own and not (item.handled or item.typing):
            by_module.setdefault(needed, f"{item.place} imports {package!r}. {missing_module(needed)}")
        elif _is_scrypt(item) and not item.handled:
            by_module.setdefault("scrypt", f"{item.place} imports 'scrypt' from 'hashlib'. {NO_OPENSSL}")
    for place in _scrypt_used(author):
        by_module.setdefault("scrypt", f"{place} uses hashlib.scrypt. {NO_OPENSSL}")
    return tuple(by_module.values())


def _is_scrypt(item: Import) -> bool:
    return (item.module, item.name) == ("hashlib", "scrypt")


def _scrypt_used(author: Mapping[str, bytes]) -> Iterator[str]:
    for path, data in sorted(author.items()):
        if path.endswith(".py") and b"scrypt" in data and (tree := syntax_tree(data)):
            for node in ast.walk(tree):
                if isinstance(node, ast.Attribute) and dotted(node) == "hashlib.scrypt":
                    yield f"{path}, line {node.lineno}"
