"""The environment variables that Python code reads, found in its syntax: a hint, as computed names are not found."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

_READERS = frozenset({"os.environ.get", "os.getenv", "environ.get", "getenv", "os.environ.setdefault"})
_ENVIRONMENTS = ("os.environ", "environ")
_OPTION_MAKERS = frozenset({"option", "argument", "Option", "Argument"})
_ALIASES = frozenset({"alias", "validation_alias"})
_SECRET = re.compile(r"(?i)(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PAT|CREDENTIALS?|COOKIE)S?(_|$)")
_ACCOUNT = re.compile(r"(?i)(^|_)(URL|ENDPOINT|USER|USERNAME|EMAIL|ACCOUNT|DOMAIN|SITE|TENANT|WORKSPACE)(_ID)?$")
_OF_MACHINES = re.compile(r"(?i)((HTTPS?|ALL|NO|FTP)_PROXY|USER|USERNAME)$|FASTMCP_|MCP_(SERVER_)?(HOST|PORT|URL)")


def variables_in(tree: ast.Module) -> set[str]:
    """Return the environment variables that a file reads: with `os`, by options of click and typer, by pydantic."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and dotted(node.value) in _ENVIRONMENTS:
            names |= _texts(node.slice)
        elif isinstance(node, ast.Call):
            names |= _called(node)
        elif isinstance(node, ast.ClassDef) and any(dotted(base).endswith("BaseSettings") for base in node.bases):
            names |= set(_settings(node))
    return names


def asked_of_visitors(names: Iterable[str]) -> tuple[str, ...]:
    """Return those variables that a person has to enter, by their names: keys, and with them whose account it is."""
    own = [name for name in names if not _OF_MACHINES.match(name)]
    secrets = [name for name in own if _SECRET.search(name)]
    accounts = [name for name in own if _ACCOUNT.search(name)] if secrets else []
    return tuple(dict.fromkeys((*accounts, *secrets)))


def dotted(node: ast.AST) -> str:
    """Return a name with dots, such as `os.environ`; empty for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def last_name(node: ast.expr) -> str:
    """Return the last name of `a.b` or `a.b[c]`, whatever `a` is; empty for any other expression."""
    if isinstance(node, ast.Subscript):  # FrameServer[State](...)
        node = node.value
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _called(node: ast.Call) -> set[str]:
    name = dotted(node.func)
    if name in _READERS and node.args:
        return _texts(node.args[0])
    if name.rpartition(".")[2] in _OPTION_MAKERS:
        return {text for item in node.keywords if item.arg == "envvar" for text in _texts(item.value)}
    return set()


def _settings(node: ast.ClassDef) -> Iterator[str]:
    """Yield the variables of a class of pydantic-settings: its fields, after its prefix, or their aliases."""
    prefix = next(iter(_prefixes(node)), "")
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            field = statement.target.id
            keywords = statement.value.keywords if isinstance(statement.value, ast.Call) else []
            aliases = {text for item in keywords if item.arg in _ALIASES for text in _texts(item.value)}
            if field != "model_config":
                yield from aliases or {f"{prefix}{field}".upper()}


def _prefixes(node: ast.ClassDef) -> Iterator[str]:
    for inner in ast.walk(node):
        is_keyword = isinstance(inner, ast.keyword) and inner.arg == "env_prefix"
        is_assigned = isinstance(inner, ast.Assign) and any(dotted(item) == "env_prefix" for item in inner.targets)
        if (is_keyword or is_assigned) and isinstance(inner, ast.keyword | ast.Assign):
            yield from _texts(inner.value)


def _texts(node: ast.AST) -> set[str]:
    """Return a text, or the texts in a list or a call."""
    if isinstance(node, ast.List | ast.Tuple):
        return {text for item in node.elts for text in _texts(item)}
    if isinstance(node, ast.Call):
        return {text for item in node.args for text in _texts(item)}
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()
