"""The version of the official SDK that a server is written for: 2.x or 1.x. A bundle has one of them.

If the requirements allow both, the code decides: 1.x, if it imports a name that 2.x does not have, or uses the
decorators or the tables of handlers of the lowlevel `Server` of 1.x.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mcpframe.kit.bundle.code.imports import imports_named, syntax_tree

FIRST, FIRST_EARLIER = "2.3", "1.16"
"""The first versions of 2.x and of 1.x that work in a page."""
SDK = f"mcp>={FIRST},<3"
"""The requirement of the official SDK."""
EARLIER_SDK = "mcp>=1.2,<2"
"""The requirement for a server that is written for 1.x."""

_REMOVED = re.compile(r"(?m)^raise ")
"""Matches a module that only raises, as it was removed."""
_STAR = re.compile(r"(?m)^from ([\w.]+) import \*")
_DECORATORS = frozenset(
    [
        *("list_tools", "call_tool", "list_prompts", "get_prompt", "list_resources", "read_resource"),
        *("list_resource_templates", "subscribe_resource", "set_logging_level"),
    ]
)
_TABLES = frozenset({"request_handlers", "notification_handlers"})
"""Attributes of a server of 1.x by which handlers are added without a decorator, by their types."""
_ONLY_IN_EARLIER = re.compile(
    r"No module named 'mcp\.[\w.]+'"
    r"|cannot import name '\w+' from 'mcp(\.[\w.]+)?'"
    r"|module 'mcp(\.[\w.]+)?' has no attribute '\w+'"
    rf"|'Server' object has no attribute '({'|'.join(sorted(_DECORATORS | _TABLES))})'"
)


def written_for_earlier(files: Mapping[str, bytes]) -> str | None:
    """Return the evidence that Python files are written for mcp 1.x, or None.

    Args:
        files: The files, by path in site-packages.

    Returns:
        The file, the line, and the name from mcp 1.x.
    """
    for item in imports_named("mcp", files):
        if item.optional or item.module.partition(".")[0] != "mcp":
            continue
        full = f"{item.module}.{item.name}" if item.name and item.name != "*" else item.module
        if not _is_there(item.module, item.name):
            return f"{item.place}, imports {full}, which mcp 2 does not have"
    for path, data in sorted(files.items()):
        if path.endswith(".py") and b"mcp" in data and (use := _of_lowlevel_server(data)):
            return f"{path}, line {use[0]}, uses {use[1]} of a lowlevel Server, as only mcp 1 has"
    return None


def fails_as_earlier(error: str) -> str | None:
    """Return the part of an error that shows that a server failing with mcp 2.x is written for 1.x, or None.

    Args:
        error: The exception, and its traceback.
    """
    match = _ONLY_IN_EARLIER.search(error)
    return match[0] if match else None


def asks_for_later(requirements: Iterable[str]) -> bool:
    """Return whether requirements include the SDK, and exclude 1.x."""
    named = [Requirement(item) for item in requirements]
    return any(canonicalize_name(item.name) == "mcp" and "1.999" not in item.specifier for item in named)


def _is_there(module: str, name: str) -> bool:
    """Return whether the installed SDK, which is 2.x, has a module, and a name in it."""
    package, *inner = module.split(".")
    spec = find_spec(package)  # imports nothing
    if spec is None or not spec.submodule_search_locations:
        return False
    path = Path(spec.submodule_search_locations[0]).joinpath(*inner)
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not path.is_dir() and not file.is_file():
        return False
    text = file.read_text("utf-8") if file.is_file() else ""
    if _REMOVED.search(text):
        return False
    if not name or name == "*":
        return True
    if (path / name).is_dir() or (path / f"{name}.py").is_file():
        return _is_there(f"{module}.{name}", "")
    if re.search(rf"\b{re.escape(name)}\b|__getattr__", text):
        return True  # defined, assigned or imported
    return any(_is_there(other, name) for other in _STAR.findall(text))


def _of_lowlevel_server(source: bytes) -> tuple[int, str] | None:
    """Return the line and the description of what only a lowlevel server of 1.x has."""
    tree = syntax_tree(source)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else None
                if isinstance(called, ast.Attribute) and called.attr in _DECORATORS:
                    return decorator.lineno, f"the decorator {called.attr}()"
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr in _TABLES:
            key = node.slice
            if isinstance(key, ast.Name | ast.Attribute):  # a type; other servers have tables by name
                return node.lineno, f"{node.value.attr}[{ast.unparse(key)}]"
    return None
