"""Whether a server uses its page, and so cannot run in a worker."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bundle.code.imports import imports_of, syntax_tree
from mcpframe.kit.bundle.code.variables import last_name
from mcpframe.kit.project.project import Project

_SERVERS = frozenset({"FrameServer", "wrap"})
"""The public names whose results have a page."""
_OF_PAGES = frozenset({"session", "setup", "ui"})
"""Attributes of such a server that need its page."""
_OF_SESSIONS = frozenset({"id", "origin", "storage", "closed"})
"""Attributes of its session that a worker has, too."""
_PROCESSES = frozenset({"to_process", "ProcessPoolExecutor", "in_process"})
"""Names of anyio, `concurrent.futures` and mcpframe with which code starts processes."""
_PROCESSES_IN_TEXT = tuple(name.encode() for name in _PROCESSES)
_BROWSER = frozenset({"js", "pyodide", "pyodide_js"})


def check_worker(project: Project, author: Mapping[str, bytes]) -> None:
    """Check that a project with `runs_in = "worker"` can run in one.

    Args:
        author: The author's files, by path.

    Raises:
        ConfigError: It needs its page.
    """
    config = project.config
    if config.runs_in != "worker":
        for name in ("tool_timeout", "tool_grace"):
            if getattr(config, name):
                raise ConfigError(f'tool.mcpframe.{name} needs runs_in = "worker": a page cannot stop a tool.')
        return
    reasons = [*_configured(project), *(f"{place} uses {what}" for place, what in uses_of_page(author))]
    if reasons:
        raise ConfigError(
            f'tool.mcpframe.runs_in is "worker", but the server needs its page: {reasons[0]}. Set runs_in = "page", or '
            "leave that out."
        )


def can_run_in_worker(project: Project, author: Mapping[str, bytes]) -> bool:
    """Return whether a server that runs in its page needs nothing of it."""
    browser = (item for item in imports_of(author) if item.module.partition(".")[0] in _BROWSER)
    return not (_configured(project) or any(uses_of_page(author)) or any(browser))


def starts_processes(author: Mapping[str, bytes]) -> bool:
    """Return whether the author's code starts processes, which a page runs in workers."""
    for data in author.values():
        if not any(name in data for name in _PROCESSES_IN_TEXT) or not (tree := syntax_tree(data)):
            continue
        for node in ast.walk(tree):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.expr):
                named.append(last_name(node))
            if not _PROCESSES.isdisjoint(name.rpartition(".")[2] for name in named):
                return True
    return False


def _configured(project: Project) -> list[str]:
    config = project.config
    needs = {
        'kind is "page"': config.kind == "page",
        "visitor_env has a setup form": config.visitor_env,
        "lazy requirements are installed in the page": config.lazy,
    }
    return [reason for reason, applies in needs.items() if applies]


def uses_of_page(files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield the places where Python files use the page of a server, and what they use."""
    trees = {path: tree for path, data in sorted(files.items()) if path.endswith(".py") and (tree := syntax_tree(data))}
    names = {name for tree in trees.values() for name in _servers_in(tree)}
    for path, tree in trees.items():
        attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        allowed = {id(node.value) for node in attributes if node.attr in _OF_SESSIONS}
        for node in attributes:
            if node.attr in _OF_PAGES and id(node) not in allowed and last_name(node.value) in names:
                yield f"{path}, line {node.lineno}", ast.unparse(node)


def _servers_in(tree: ast.Module) -> Iterator[str]:
    """Yield the names that the results of `FrameServer` and `wrap` are assigned to."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Call):
            continue
        if last_name(node.value.func) in _SERVERS:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from filter(None, map(last_name, targets))
