"""Static facts about a server, from the syntax of its entry's file: nothing is fetched or run for it.

A build starts the server only after half a minute. Each function answers only where there can be no doubt: a name may
come from anywhere else.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.code.console_scripts import server_objects
from mcpframe.kit.bundle.code.imports import syntax_tree
from mcpframe.kit.project.project import Project
from mcpframe.kit.project.source_file import makes_server

_HIDDEN = frozenset({"globals", "vars", "exec", "eval", "setattr", "__getattr__", "__dict__", "*"})
"""Names with which a module can get others that cannot be seen."""
_SDKS = frozenset({"mcpframe", "mcp", "fastmcp"})


def entry_file(entry: str, files: Mapping[str, bytes]) -> str | None:
    """Return the path of an entry's module among the author's files; None if it is none of them.

    Args:
        entry: `module:object`.
        files: The author's files, by path in the import folder.
    """
    path = entry.partition(":")[0].replace(".", "/")
    return next((file for file in (f"{path}.py", f"{path}/__init__.py") if file in files), None)


def missing_object(entry: str, files: Mapping[str, bytes]) -> str:
    """Return why an entry's module cannot have its object, as half a sentence; empty if it may have it."""
    file = entry_file(entry, files) if ":" in entry else None
    tree = syntax_tree(files[file]) if file else None
    if tree is None or file is None:
        return ""
    name = entry.removesuffix("()").partition(":")[2].partition(".")[0]
    names = {each for node in ast.walk(tree) for each in _names_in(node)}
    if name in names or names & _HIDDEN:
        return ""
    servers = [each.partition(":")[2] for each in server_objects({file: files[file]})]
    there = f"its servers are: {', '.join(servers)}" if servers else "and no server under another name"
    return f"{file} has no {name!r}; {there}"


def check_entry_early(project: Project, files: Mapping[str, bytes]) -> None:
    """Raise `BuildError` if the author's files cannot have the entry's object."""
    if missing := missing_object(project.entry, files):
        raise BuildError(
            f"{project.file}: the entry is {project.entry!r}, but {missing}. Set tool.mcpframe.entry to "
            f"'module:object' of the {project.config.kind}."
        )


def allows_nobody(entry: str, files: Mapping[str, bytes]) -> bool:
    """Return whether the entry is a server of an SDK that is made without origins of pages that may embed it."""
    file = entry_file(entry, files)
    if file is None or entry.endswith("()") or any(b"allowed_origins" in data for data in files.values()):
        return False
    tree, name = syntax_tree(files[file]), entry.partition(":")[2]
    values = [value for statement in tree.body if (value := _assigned(statement, name))] if tree else []
    if tree is None or len(values) != 1 or not makes_server(values[0]):
        return False
    calls = [node for node in ast.walk(values[0]) if isinstance(node, ast.Call)]
    if any(keyword.arg is None for call in calls for keyword in call.keywords):  # **settings
        return False
    return _of_sdk(calls[0].func, tree)


def _assigned(statement: ast.stmt, name: str) -> ast.expr | None:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    is_named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
    return statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) and is_named else None


def _of_sdk(called: ast.expr, tree: ast.Module) -> bool:
    """Return whether a name comes from an SDK's module, and not from the author's own or a requirement's."""
    top = called
    while isinstance(top, ast.Attribute):
        top = top.value
    if not isinstance(top, ast.Name):
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and any(_bound(each) == top.id for each in node.names):
            return (node.module or "").partition(".")[0] in _SDKS
        if isinstance(node, ast.Import):
            for each in node.names:
                if _bound(each) == top.id:
                    return each.name.partition(".")[0] in _SDKS
    return False


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _names_in(node: ast.AST) -> list[str]:
    """Return the names that a node binds in whatever scope, and those that it uses to get hidden ones."""
    if isinstance(node, ast.alias):
        return [_bound(node)]
    if isinstance(node, ast.Name):
        return [node.id] if isinstance(node.ctx, ast.Store) or node.id in _HIDDEN else []
    if isinstance(node, ast.Attribute):
        return [node.attr] if node.attr in _HIDDEN else []
    name = getattr(node, "name", None)  # of functions, classes, exceptions and patterns
    rest = getattr(node, "rest", None)
    return [each for each in (name, rest) if isinstance(each, str)]
