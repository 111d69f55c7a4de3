"""Creates a project for a public package: a folder with the pyproject.toml that builds it, to be edited afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.errors import ScaffoldError
from mcpframe.kit.project.project import find_project
from mcpframe.kit.project.pyproject import read_config

_ORIGINS = ("http://localhost:8000",)
_HEAD = """\
# Made by `mcpframe build --package {package}`. Edit it, and build it again with `mcpframe build`.

[project]
name = {name}
version = "0"
dependencies = [{package}]

[tool.mcpframe]
# The package's console script. An object of it is named as "module:object", a function as "module:factory()".
entry = {name}
args = {args}
{persist}# The pages that may embed the server: exact origins (scheme, host and port as the browser reports them).
allowed_origins = {origins}
"""
_CSP = "# The origins that the server may send requests to.\ncsp = {{ connect_src = {sources} }}\n"
_ENV = "\n# Public: these are part of the bundle.\n[tool.mcpframe.env]\n"


def package_project(
    package: str,
    folder: Path | None = None,
    *,
    args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    allowed_origins: Sequence[str] = (),
    persist: Sequence[str] = (),
    connect_src: Sequence[str] = (),
) -> Path:
    """Create the project of a package. An existing project of the same package is unchanged.

    Args:
        package: The package's name, optionally with a version: `NAME`, `NAME==VERSION`.
        folder: The new folder; by default one of the package's name in the current folder.
        args: The arguments of its program.
        env: Its environment variables.
        persist: Files and folders to keep in the browser for each session.
        allowed_origins: The origins of the pages that may embed it.
        connect_src: The origins that it may send requests to.

    Returns:
        The folder.

    Raises:
        ScaffoldError: The name is invalid, or the folder has other content.
        ConfigError: The existing or the new configuration is invalid.
        WriteError: The folder cannot be written.
    """
    requirement = _requirement(package)
    read_config({"persist": list(persist)}, "what is given to persist")
    name = canonicalize_name(requirement.name)
    folder = folder or Path(name)
    file = folder / "pyproject.toml"
    if file.is_file():
        there = find_project(folder)
        if canonicalize_name(there.entry) != name and not any(_is(item, name) for item in there.requirements):
            raise ScaffoldError(f"{folder} has a project of something else: name another folder.")
        given = args or env or persist or allowed_origins or connect_src
        if given or str(requirement) not in there.requirements:
            raise ScaffoldError(f"{folder} is there already: edit its pyproject.toml, and run mcpframe build {folder}.")
        return folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ScaffoldError(f"{folder} is there and is not empty: name another folder, or move it away.")
    text = _HEAD.format(
        package=json.dumps(str(requirement)),
        name=json.dumps(name),
        args=json.dumps(list(args)),
        persist=f"persist = {json.dumps(list(persist))}\n" if persist else "",
        origins=json.dumps(list(allowed_origins or _ORIGINS)),
    ).replace(f'--package "{requirement}"`', f"--package {requirement}`")
    if connect_src:
        text += _CSP.format(sources=json.dumps(list(connect_src)))
    if env:
        text += _ENV + "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in env.items())
    folder.mkdir(parents=True, exist_ok=True)
    write_file(file, text.encode(), public=True)
    return folder


def _requirement(text: str) -> Requirement:
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        requirement = None
    if requirement is None or requirement.url or requirement.marker:
        raise ScaffoldError(f"{text!r} is not the name of a package: write NAME, or NAME==VERSION.")
    return requirement


def _is(requirement: str, name: str) -> bool:
    return canonicalize_name(Requirement(requirement).name) == name
