"""The parts of a package's code that do not work in a page, and its external needs, read from its syntax.

A hint for the author, not a proof: unused code counts, and computed names do not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from mcpframe.kit.bundle.code.imports import imports_in, syntax_tree
from mcpframe.kit.bundle.code.variables import dotted, variables_in

Kind = Literal["sockets", "processes", "threads", "files"]

_MODULES: Mapping[str, Kind] = {
    **dict.fromkeys(("socket", "socketserver", "smtplib", "imaplib", "ftplib", "telnetlib", "paramiko"), "sockets"),
    **dict.fromkeys(("asyncpg", "psycopg", "psycopg2", "pymysql", "aiomysql", "pymongo", "redis", "ldap3"), "sockets"),
    **dict.fromkeys(("websockets", "http.server", "wsgiref.simple_server"), "sockets"),
    **dict.fromkeys(("subprocess", "pty", "pexpect", "multiprocessing", "git", "docker", "selenium"), "processes"),
    **dict.fromkeys(("playwright",), "processes"),
}
_CALLS: Mapping[str, Kind] = {
    **dict.fromkeys(("os.system", "os.popen", "os.fork", "os.execv", "os.execvp", "os.spawnv"), "processes"),
    **dict.fromkeys(("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"), "processes"),
    **dict.fromkeys(("anyio.run_process", "anyio.open_process"), "processes"),
    **dict.fromkeys(("asyncio.open_connection", "asyncio.start_server", "uvicorn.run"), "sockets"),
    **dict.fromkeys(("threading.Thread", "Thread", "_thread.start_new_thread"), "threads"),
    **dict.fromkeys(("open", "io.open", "aiofiles.open", "sqlite3.connect"), "files"),
}
_METHODS: Mapping[str, Kind] = dict.fromkeys(("write_text", "write_bytes", "mkdir", "iterdir", "rglob"), "files")
_MEANING: Mapping[Kind, str] = {
    "sockets": "connections other than HTTP requests",
    "processes": "other programs",
    "threads": "threads of its own",
    "files": "files of the computer (it has a file system of its own, in memory)",
}
_URL = re.compile(
    r"\s*(https?|wss?)://(?:(?:\{[^{}]*\}|%s)(?=\.))?"
    r"(\.?[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(:\d+)?(?=[/?#'\"\s{%]|$)"
)
"""A text that is an address. Its first label may be a placeholder. Addresses in prose do not count."""
_NO_HOSTS = re.compile(
    r"(^|\.)(example\.(com|org|net)|w3\.org|json-schema\.org|example|test|invalid|localhost)$|^[\d.]+$"
)


@dataclass(frozen=True)
class Limit:
    """A feature that a page lacks, and its first use in the code.

    Attributes:
        kind: The kind of feature.
        name: The used module or function.
        place: The file and line.
    """

    kind: Kind
    name: str
    place: str

    @property
    def meaning(self) -> str:
        """The missing part of the page."""
        return _MEANING[self.kind]


@dataclass(frozen=True)
class Outlook:
    """The limits of a package's code.

    Attributes:
        limits: The features that a page lacks, with the first use of each kind.
        hosts: The origins of the addresses among its texts, for `connect_src`.
        variables: The environment variables that it reads.
        other_hosts: The origins in the code of its requirements.
    """

    limits: tuple[Limit, ...]
    hosts: tuple[str, ...]
    variables: tuple[str, ...]
    other_hosts: tuple[str, ...] = ()


def look_at(files: Mapping[str, bytes]) -> Outlook:
    """Inspect the Python files of a package, by path in site-packages."""
    limits: dict[Kind, Limit] = {}
    hosts: set[str] = set()
    variables: set[str] = set()
    for path, data in sorted(files.items()):
        if path.endswith(".py") and (tree := syntax_tree(data)):
            variables |= variables_in(tree)
            for limit in (*_imported(tree, path), *_used(tree, path, hosts)):
                limits.setdefault(limit.kind, limit)
    return Outlook(
        tuple(limits[kind] for kind in _MEANING if kind in limits), tuple(sorted(hosts)), tuple(sorted(variables))
    )


def _imported(tree: ast.Module, path: str) -> Iterator[Limit]:
    for item in imports_in(tree, path):
        for name in (item.module, item.module.partition(".")[0]):
            if kind := _MODULES.get(name):
                yield Limit(kind, name, item.place)
                break


def _used(tree: ast.Module, path: str, hosts: set[str]) -> Iterator[Limit]:
    documentation = _documentation(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            hosts |= _hosts_in("".join(_part(value) for value in node.values))
            documentation |= {id(value) for value in node.values}  # these parts are not separate texts
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            hosts |= _hosts_in(node.value)
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if kind := _CALLS.get(name) or _METHODS.get(method):
                yield Limit(kind, name or f"….{method}", f"{path}, line {node.lineno}")


def _part(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "{}"


def _hosts_in(text: str) -> set[str]:
    """Return the origin of an address, as a source of a policy; `*.` stands for a placeholder label."""
    match = _URL.match(text)
    if match is None or not _is_host(match[2].lstrip(".")):
        return set()
    host = match[2].lower()
    return {f"{match[1]}://{'*' if host.startswith('.') else ''}{host}{match[3] or ''}"}


def _is_host(host: str) -> bool:
    return not _NO_HOSTS.search(host.lower())


def _documentation(tree: ast.Module) -> set[int]:
    """Return the texts that are statements: docstrings."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
