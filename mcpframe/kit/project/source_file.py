"""Finds the file that makes a path a project: pyproject.toml, or a Python file whose code has a server."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from mcpframe.kit.base.errors import ConfigError

PYPROJECT = "pyproject.toml"
SERVER_CLASSES = ("FrameServer", "MCPServer", "FastMCP", "Server")
"""The classes whose objects are servers."""
SCRIPT_BLOCK = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")  # PEP 723
USUAL = ("server.py", "main.py")
"""The usual names of a server's file."""
_NEVER = re.compile(r"test_.*|.*_test|conftest|setup")


def is_there(path: Path) -> bool:
    """Return whether there is a file or folder at a path; False also for a path that the system rejects."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def project_file(path: Path) -> Path:
    """Return the file of the project at a path: a folder, a pyproject.toml, or a Python file.

    In a folder this is its pyproject.toml, its server.py, or the one Python file that makes a server.

    Raises:
        ConfigError: There is none, or more than one.
    """
    path = path.absolute()
    if not is_there(path):
        raise ConfigError(f"{path} does not exist: pass the folder of a server, or its Python file.")
    if path.is_dir():
        if (path / PYPROJECT).is_file():
            return path / PYPROJECT
        if script := script_in(path):
            return script
        raise ConfigError(
            f"{path} has neither a pyproject.toml nor a Python file with a server: pass the folder or file of a server."
        )
    if path.name == PYPROJECT or path.suffix == ".py":
        return path
    raise ConfigError(f"{path} is neither a folder, a pyproject.toml nor a Python file.")


def has_project(path: Path) -> bool:
    """Return whether a path has a project, which may have errors."""
    try:
        project_file(path)
    except ConfigError:
        return False
    return True


def script_in(folder: Path) -> Path | None:
    """Return the Python file of a folder that has the server: server.py, main.py with one, or the only one with one.

    A file that cannot be parsed counts only if no other has a server.

    Raises:
        ConfigError: Several have a server.
    """
    if (folder / USUAL[0]).is_file():
        return folder / USUAL[0]
    broken, servers = [], []
    for file in sorted(folder.glob("*.py")):
        if _NEVER.fullmatch(file.stem) or not file.is_file():
            continue
        try:
            text = read_text(file)
            block = SCRIPT_BLOCK.search(text)
            if server_object(text, file) or (block and "tool.mcpframe" in block["content"]):
                servers.append(file)
        except ConfigError:
            broken.append(file)
    candidates = servers or broken
    usual = [file for file in candidates if file.name in USUAL]
    if len(usual or candidates) > 1:
        names = ", ".join(file.name for file in candidates)
        raise ConfigError(f"{folder} has several Python files with a server: pass one of {names}.")
    return next(iter(usual or candidates), None)


def server_object(text: str, file: Path) -> str | None:
    """Return the first name at the top level of a module to which a call of a server class is assigned."""
    try:
        tree = ast.parse(text, file.name)
    except SyntaxError as error:
        raise ConfigError(f"{file}, line {error.lineno}: {error.msg}.") from None
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            targets, value = statement.targets, statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets, value = [statement.target], statement.value
        else:
            continue
        if makes_server(value) and isinstance(targets[0], ast.Name):
            return targets[0].id
    return None


def makes_server(value: ast.expr) -> bool:
    """Return whether an expression calls a server class, or `wrap` with such a call."""
    if not isinstance(value, ast.Call):
        return False
    name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", None)
    return name in SERVER_CLASSES or (name == "wrap" and bool(value.args) and makes_server(value.args[0]))


def read_text(file: Path) -> str:
    """Return the text of a file. Raises `ConfigError` if it cannot be read, or is not UTF-8."""
    try:
        return file.read_text("utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8 text; save it as UTF-8.") from None
