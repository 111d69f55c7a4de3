"""Entries that are not in a project's own files: an object of an installed package, or the package's program.

A package's name alone stands for its console script (PyPA, "Entry points specification"), which runs as on the command
line.
"""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bundle.code.imports import syntax_tree
from mcpframe.kit.bundle.pyodide.archive import unpack
from mcpframe.kit.project.project import Project, choose_script
from mcpframe.kit.project.source_file import makes_server

_VALUE = re.compile(r"([\w.]+:[\w.]+)\s*(\[.*\])?")
_MOST_NAMED = 5


def with_entry(project: Project, wheels: Mapping[str, Path], author: Mapping[str, bytes]) -> Project:
    """Find the entry of a project among its own files and its requirements.

    Args:
        wheels: The files of its wheels, by package.

    Returns:
        The project; if the entry is a package's name, with `module:function` and the name of the program.

    Raises:
        ConfigError: The module or package does not exist, or the package has no program, or several.
    """
    if ":" not in project.entry:
        return _with_program(project, wheels)
    top = project.entry.partition(":")[0].partition(".")[0]
    if not _has(author, top) and not any(_has(unpack(wheel), top) for wheel in wheels.values()):
        raise ConfigError(
            f"{project.file}: tool.mcpframe.entry is {project.entry!r}, but there is no {top}.py or {top}/ in "
            f"{project.source}, and no requirement has a module {top!r}; set tool.mcpframe.entry, or add the package "
            "that has it to the requirements."
        )
    return project


def entry_code(project: Project, wheels: Mapping[str, Path], author: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the code of the server: the author's files, or the files of the package with the entry.

    Args:
        project: The project, from `with_entry`.
        wheels: The files of its wheels, by package.
    """
    top = project.entry.partition(":")[0].partition(".")[0]
    if _has(author, top):
        return dict(author)
    return next((files for wheel in wheels.values() if _has(files := unpack(wheel), top)), {})


def _with_program(project: Project, wheels: Mapping[str, Path]) -> Project:
    name = project.named_package
    if name not in wheels:
        raise ConfigError(
            f"{project.file}: tool.mcpframe.entry is {project.entry!r}, a package that the bundle is without: it is in "
            "leave_out."
        )
    return with_program(project, unpack(wheels[name]))


def with_program(project: Project, files: Mapping[str, bytes]) -> Project:
    """Find the console script of the package that a project's entry names.

    Args:
        files: The files of the package, by path in site-packages.

    Returns:
        The project, with `module:function` and the name of the program.

    Raises:
        ConfigError: The package has no program, or several.
    """
    name = project.named_package
    scripts = console_scripts(files)
    if not scripts:
        objects = server_objects(files)
        hint = f"to {' or '.join(map(repr, objects[:_MOST_NAMED]))}" if objects else "to 'module:object' of its server"
        raise ConfigError(
            f"{project.file}: the package {name} has no console script to run: set tool.mcpframe.entry {hint}."
        )
    program = choose_script(scripts, project.entry, project.config.script, str(project.file))
    return replace(project, entry=scripts[program], program=program, at_home=True)


class _CaseSensitive(configparser.ConfigParser):
    def optionxform(self, optionstr: str) -> str:
        return optionstr


def console_scripts(wheel: Mapping[str, bytes]) -> dict[str, str]:
    """Return the console scripts of a wheel: `module:function` by name."""
    text = next((data for path, data in wheel.items() if path.endswith(".dist-info/entry_points.txt")), b"")
    parser = _CaseSensitive(delimiters=("=",), interpolation=None, strict=False)
    try:
        parser.read_string(text.decode("utf-8", "replace"))
    except configparser.Error:
        return {}
    section = parser.items("console_scripts") if parser.has_section("console_scripts") else []
    return {name: match[1] for name, value in section if (match := _VALUE.fullmatch(value.strip()))}


def server_objects(wheel: Mapping[str, bytes]) -> list[str]:
    """Return the servers that modules of a wheel create on import, as `module:object`."""
    entries = []
    for path, data in sorted(wheel.items()):
        tree = syntax_tree(data) if path.endswith(".py") and b"mcp" in data else None
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for statement in tree.body if tree else ():
            if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
                continue
            if makes_server(statement.value):
                entries.append(f"{module}:{statement.targets[0].id}")
    return entries


def _has(files: Mapping[str, bytes], top: str) -> bool:
    return any(path.startswith((f"{top}/", f"{top}.")) for path in files)
