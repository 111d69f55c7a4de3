"""Creates a project for a public package: a folder with the pyproject.toml that builds it, to be edited afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.errors import ScaffoldError
from mcpframe.kit.project.project import Project, find_project
from mcpframe.kit.project.pyproject import read_config

_ORIGINS = ("http://localhost:8000",)
_HEAD = """\
# Made for `package:{package}`. Edit it, and build it with `mcpframe build` and this folder.

[project]
name = {name}
version = "0"
dependencies = [{requirement}]

[tool.mcpframe]
# The package's console script. An object of it is named as "module:object", a function as "module:factory()".
entry = {name}
args = {args}
{lists}# The pages that may embed the server: exact origins (scheme, host and port as the browser reports them).
allowed_origins = {origins}
"""
_LISTS = ("persist", "leave_out", "visitor_env")
_CSP = "# The origins that the server may send requests to.\ncsp = {{ connect_src = {sources} }}\n"
_ENV = "\n# Public: these are part of the bundle.\n[tool.mcpframe.env]\n"


@dataclass(frozen=True)
class PackageOptions:
    """The options of a package's project.

    Attributes:
        args: The arguments of its program.
        env: Its environment variables.
        allowed_origins: The origins of the pages that may embed it.
        persist: Files and folders to keep in the browser for each session.
        connect_src: The origins that it may send requests to.
        leave_out: The packages to leave out of all requirements.
        visitor_env: The environment variables that each visitor enters in a setup form.
        build_sdists: Whether packages that have only sources may be built.
    """

    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    allowed_origins: Sequence[str] = ()
    persist: Sequence[str] = ()
    connect_src: Sequence[str] = ()
    leave_out: Sequence[str] = ()
    visitor_env: Sequence[str] = ()
    build_sdists: bool = False

    def added_to(self, earlier: PackageOptions) -> PackageOptions:
        """Return earlier options with these: arguments and origins replace, all others are added."""
        added = {
            name: tuple(dict.fromkeys((*getattr(earlier, name), *getattr(self, name))))
            for name in ("persist", "connect_src", "leave_out", "visitor_env")
        }
        return replace(
            self,
            args=self.args or earlier.args,
            env={**earlier.env, **self.env},
            allowed_origins=self.allowed_origins or earlier.allowed_origins,
            build_sdists=self.build_sdists or earlier.build_sdists,
            **added,
        )


def default_folder(package: str) -> Path:
    """Return the folder of a package's project in the current one. Raises `ScaffoldError` for an invalid name."""
    return Path(canonicalize_name(_requirement(package).name))


def package_project(package: str, folder: Path | None = None, options: PackageOptions | None = None) -> Path:
    """Create the project of a package, or add options to one that nobody has edited.

    Args:
        package: The package's name, optionally with a version: `NAME`, `NAME==VERSION`.
        folder: The new folder; by default one of the package's name in the current folder.

    Returns:
        The folder.

    Raises:
        ScaffoldError: The name is invalid, or the folder has other content, or a project that was edited and has other
            options.
        ConfigError: The existing or the new configuration is invalid.
        WriteError: The folder cannot be written.
    """
    requirement = _requirement(package)
    options = options or PackageOptions()
    for key in _LISTS:
        read_config({key: list(getattr(options, key))}, f"what is given to {key}")
    name = canonicalize_name(requirement.name)
    folder = folder or default_folder(package)
    file = folder / "pyproject.toml"
    if file.is_file():
        there = find_project(folder)
        if canonicalize_name(there.entry) != name and not any(_is(item, name) for item in there.requirements):
            raise ScaffoldError(f"{folder} has another project: name another folder.")
        if options == PackageOptions() and str(requirement) in there.requirements:
            return folder
        earlier = _options_of(there)
        if str(requirement) not in there.requirements or file.read_text("utf-8") != _text(requirement, earlier):
            raise ScaffoldError(
                f"{folder} is there already, edited or of another version: edit its pyproject.toml, and run mcpframe "
                f"build {folder}."
            )
        options = options.added_to(earlier)
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ScaffoldError(f"{folder} exists and is not empty: name another folder, or move it away.")
    folder.mkdir(parents=True, exist_ok=True)
    write_file(file, _text(requirement, options).encode(), public=True)
    return folder


def _options_of(project: Project) -> PackageOptions:
    config = project.config
    origins = config.allowed_origins if isinstance(config.allowed_origins, list) else []
    return PackageOptions(
        config.args,
        config.env,
        origins,
        config.persist,
        config.csp.connect_src,
        config.leave_out,
        config.visitor_env,
        config.build_sdists,
    )


def _text(requirement: Requirement, options: PackageOptions) -> str:
    """Return the text of a package's pyproject.toml."""
    lists = {name: getattr(options, name) for name in _LISTS}
    text = _HEAD.format(
        package=requirement,
        requirement=json.dumps(str(requirement)),
        name=json.dumps(canonicalize_name(requirement.name)),
        args=json.dumps(list(options.args)),
        lists="".join(f"{key} = {json.dumps(list(values))}\n" for key, values in lists.items() if values),
        origins=json.dumps(list(options.allowed_origins or _ORIGINS)),
    )
    if options.build_sdists:
        text += "build_sdists = true\n"
    if options.connect_src:
        text += _CSP.format(sources=json.dumps(list(options.connect_src)))
    if options.env:
        text += _ENV + "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in options.env.items())
    return text


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
