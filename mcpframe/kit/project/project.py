"""Find an author's project at a path: a folder with pyproject.toml, or one Python file."""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.project.pyproject import McpframeConfig, read_config
from mcpframe.kit.project.source_file import (
    PYPROJECT,
    SCRIPT_BLOCK,
    USUAL,
    project_file,
    read_text,
    script_in,
    server_object,
)

_OWN = {"mcpframe", "mcp"}


@dataclass(frozen=True)
class Project:
    """A project to build.

    Attributes:
        root: The project's folder, with its lock file.
        file: The file of the configuration, for errors.
        name: The bundle's folder name.
        entry: `module:object`, or `module:factory()`; before a build also the name of a package.
        source: The folder on the import path.
        single: The Python file, if the project is a single file; else None.
        requirements: The requirements at the page's start, besides mcpframe and the SDK.
        lazy: The requirements that it may fetch later.
        config: The whole configuration.
        program: The name of the console script whose function the entry names; empty for a server object.
        world: Whether the server was written for a process: the bundle has `mcpframe.frame.world` then.
        processes: Whether its code starts processes: the bundle has `mcpframe.frame.worker` then.
        package_env: Environment variables that its packages need; those of the configuration take precedence.
        at_home: Whether its working directory is the home folder, as the bundle has no files of the project.
        absent: The packages that it lacks, if not written for mcpframe: see `compat.third_party_placeholders`.
        beside_inspector: Whether the inspector is beside the bundle: pages of the bundle's own site may embed it,
            besides those of its allowed origins, and its own page leads to the inspector.
        installable: Whether its page can be installed and works offline, in a tab of its own.
    """

    root: Path
    file: Path
    name: str
    entry: str
    source: Path
    single: Path | None
    requirements: tuple[str, ...]
    lazy: tuple[str, ...]
    config: McpframeConfig = field(repr=False)
    program: str = ""
    world: bool = False
    processes: bool = False
    package_env: Mapping[str, str] = field(default_factory=dict)
    at_home: bool = False
    absent: Mapping[str, Any] = field(default_factory=dict)
    beside_inspector: bool = False
    installable: bool = False

    @property
    def lock_path(self) -> Path:
        """The path of the project's lock file."""
        return self.root / (f"{self.single.stem}.mcpframe.lock" if self.single else "mcpframe.lock")

    @property
    def distribution(self) -> str | None:
        """The distribution of packages, a folder or an address; None for the usual one."""
        chosen = self.config.distribution
        return chosen if chosen is None or "://" in chosen else str(self.root / chosen)

    @property
    def is_program(self) -> bool:
        """Whether the entry is a console script."""
        return bool(self.program) or ":" not in self.entry

    @property
    def named_package(self) -> str:
        """The normalized name of the package whose program the entry stands for; empty for any other entry."""
        return "" if ":" in self.entry else canonicalize_name(self.entry)

    @property
    def settings(self) -> dict[str, Any]:
        """The environment of the author's code: the arguments of `frame.boot.environment.set_environment`."""
        program = {"program": self.program} if self.program else {}
        more = {name: value for name in ("world", "processes", "at_home", "absent") if (value := getattr(self, name))}
        return {"args": list(self.config.args), "env": {**self.package_env, **self.config.env}, **program, **more}

    @property
    def settings_for_import(self) -> dict[str, Any]:
        """The environment of the author's code in a build: stand-ins for the variables that a visitor enters."""
        settings = self.settings
        stand_ins = {name: _stand_in(name) for name in self.config.visitor_env}
        return {**settings, "env": {**stand_ins, **settings["env"]}}

    def check_server(self) -> None:
        """Raise `ConfigError` if the project is a page, not a server."""
        if self.config.kind == "page":
            raise ConfigError(f"{self.root} is a page, not a server: build it, and open it with mcpframe serve.")


def _stand_in(variable: str) -> str:
    """Return a value of an environment variable that many programs accept when they start."""
    if "URL" in variable.upper() or variable.upper().endswith(("URI", "ENDPOINT", "HOST")):
        return "https://setup.invalid"
    return "visitor@setup.invalid" if "EMAIL" in variable.upper() else "setup"


def find_project(path: Path) -> Project:
    """Read the project at `path`: a folder, a pyproject.toml, or a Python file.

    Raises:
        ConfigError: The path has no server, or its configuration is invalid.
    """
    file = project_file(path)
    return _from_pyproject(file) if file.name == PYPROJECT else _from_script(file)


def find_server(path: Path) -> Project:
    """Find a project like `find_project`; raises `ConfigError` also for a page that is not a server."""
    project = find_project(path)
    project.check_server()
    return project


def with_origins(project: Project, origins: Sequence[str] | Mapping[str, Sequence[str]]) -> Project:
    """Return the project with other allowed origins.

    Raises:
        ConfigError: One of them is not an origin.
    """
    given = {name: list(own) for name, own in origins.items()} if isinstance(origins, Mapping) else list(origins)
    checked = read_config({"allowed_origins": given}, "allowed_origins given to the build").allowed_origins
    return replace(project, config=project.config.model_copy(update={"allowed_origins": checked}))


def with_dialects(project: Project, names: Sequence[str]) -> Project:
    """Return the project with these dialects as well as its own."""
    own = project.config.dialects
    both = list(dict.fromkeys([*own, *names])) if own else []
    return replace(project, config=project.config.model_copy(update={"dialects": both}))


def with_url(project: Project, url: str) -> Project:
    """Return the project with another public address.

    Raises:
        ConfigError: It cannot be the address of a bundle.
    """
    checked = read_config({"url": url}, "url given to the build").url
    return replace(project, config=project.config.model_copy(update={"url": checked}))


def with_distribution(project: Project, distribution: str) -> Project:
    """Return the project with another distribution of packages; a relative folder is that of the working directory.

    Raises:
        ConfigError: It cannot be a distribution.
    """
    given = distribution if "://" in distribution else str(Path(distribution).absolute())
    checked = read_config({"distribution": given}, "distribution given to the build").distribution
    return replace(project, config=project.config.model_copy(update={"distribution": checked}))


def with_build_sdists(project: Project) -> Project:
    """Return the project with the permission to build packages that have only sources."""
    return replace(project, config=project.config.model_copy(update={"build_sdists": True}))


def _from_pyproject(file: Path) -> Project:
    data = _toml(read_text(file), file)
    tool = data.get("tool", {})
    metadata = data.get("project", {})
    config = read_config(tool.get("mcpframe", {}) if isinstance(tool, dict) else {}, str(file))
    root = file.parent
    declared = config.requirements
    if declared is None:
        dependencies = metadata.get("dependencies", [])
        if not isinstance(dependencies, list) or not all(isinstance(item, str) for item in dependencies):
            raise ConfigError(f"{file}: project.dependencies must be a list of requirements.")
        declared = dependencies
    entry = config.entry or ("main:main" if config.kind == "page" else _guess_entry(root, file))
    name = config.name or str(metadata.get("name") or root.name)
    program = ""
    own = canonicalize_name(str(metadata.get("name", "")))
    if ":" not in entry and canonicalize_name(entry) == own and own not in _names(declared):
        scripts = metadata.get("scripts")
        if not isinstance(scripts, dict) or not scripts:
            raise ConfigError(
                f"{file}: tool.mcpframe.entry is {entry!r}, the project itself, which has no project.scripts: write "
                "'module:object' of its server."
            )
        program = choose_script(scripts, entry, config.script, str(file))
        entry = read_config({"entry": scripts[program]}, f"{file}, project.scripts").entry or ""
    _check_package(entry, declared, file)
    if config.visitor_env and ":" in entry and not program:
        raise ConfigError(
            f"{file}: tool.mcpframe.visitor_env is for console scripts: a server object asks in a setup function."
        )
    source = _source(root, config, entry, file, has_requirements=bool(declared))
    return _project(root, file, name, entry, source, None, declared, config, program)


def _from_script(file: Path) -> Project:
    text = read_text(file)
    blocks = [match["content"] for match in SCRIPT_BLOCK.finditer(text.replace("\r\n", "\n"))]
    if len(blocks) > 1:
        raise ConfigError(f"{file} has {len(blocks)} script blocks (PEP 723); only one is allowed.")
    inline = "".join(line[2:] if line.startswith("# ") else line[1:] for line in "".join(blocks).splitlines(True))
    data = _toml(inline, file)
    config = read_config(data.get("tool", {}).get("mcpframe", {}), str(file))
    declared = config.requirements if config.requirements is not None else data.get("dependencies", [])
    if not file.stem.isidentifier():
        raise ConfigError(f"{file.name} cannot be imported, as its name is not a Python identifier: rename it.")
    entry = config.entry or f"{file.stem}:{'main' if config.kind == 'page' else server_object(text, file) or 'server'}"
    _check_package(entry, declared, file)
    return _project(file.parent, file, config.name or file.stem, entry, file.parent, file, declared, config)


def _project(
    root: Path,
    file: Path,
    name: str,
    entry: str,
    source: Path,
    single: Path | None,
    declared: list[str],
    config: McpframeConfig,
    program: str = "",
) -> Project:
    folder = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")
    if not folder or folder.startswith("_"):
        raise ConfigError(f"{file}: {name!r} cannot be a folder's name; set tool.mcpframe.name.")
    requirements = _requirements(declared, file, "requirements")
    lazy = _requirements(config.lazy, file, "lazy")
    lazy_names = {canonicalize_name(Requirement(item).name) for item in lazy}
    eager = tuple(item for item in requirements if canonicalize_name(Requirement(item).name) not in lazy_names)
    return Project(root, file, folder, entry, source, single, eager, lazy, config, program)


def _check_package(entry: str, declared: Collection[str], file: Path) -> None:
    if ":" not in entry and canonicalize_name(entry) not in _names(declared):
        raise ConfigError(
            f"{file}: tool.mcpframe.entry: must be 'module:object', such as 'server:server', or the name of one of the "
            f"requirements for its console script, not {entry!r}."
        )


def _names(requirements: Collection[str]) -> set[str]:
    """Return the normalized names of requirements; invalid ones are dropped."""
    names: set[str] = set()
    for item in requirements:
        with contextlib.suppress(InvalidRequirement):
            names.add(canonicalize_name(Requirement(item).name))
    return names


def choose_script(scripts: Collection[str], package: str, chosen: str | None, file: str) -> str:
    """Return the console script for an entry: the chosen one, the only one, or the one with the package's name.

    Args:
        scripts: The names of the package's console scripts.
        chosen: `script` of the configuration.
        file: The configuration's file, for errors.

    Raises:
        ConfigError: The chosen script does not exist; or there are several, and none is chosen or has the package's
            name.
    """
    if chosen is not None:
        if chosen in scripts:
            return chosen
        raise ConfigError(f"{file}: tool.mcpframe.script: {package} has no {chosen!r}; it has {_named(scripts)}.")
    if len(scripts) == 1:
        return next(iter(scripts))
    for name in scripts:
        if canonicalize_name(name) == canonicalize_name(package):
            return name
    raise ConfigError(f"{file}: {package} has several programs: set tool.mcpframe.script to one of {_named(scripts)}.")


def _named(scripts: Collection[str]) -> str:
    return ", ".join(map(repr, sorted(scripts)))


def _requirements(declared: list[str], file: Path, key: str) -> tuple[str, ...]:
    """Check requirements, and drop mcpframe and the SDK: the build chooses their versions, unless the SDK is pinned."""
    kept = []
    for text in declared:
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise ConfigError(
                f"{file}: tool.mcpframe.{key}: {text!r} is not a requirement (PEP 508): {reason}."
            ) from None
        if requirement.url:
            raise ConfigError(
                f"{file}: tool.mcpframe.{key}: {text!r} has a URL; use a version, so that it can be locked."
            )
        name = canonicalize_name(requirement.name)
        if name == "mcp" and requirement.specifier:
            kept.append(
                f"mcp{requirement.specifier}"
            )  # without its extras, which are the HTTP stack and the command line
        elif name not in _OWN:
            kept.append(text)
    return tuple(sorted(kept, key=str.lower))


def _source(root: Path, config: McpframeConfig, entry: str, file: Path, *, has_requirements: bool) -> Path:
    folders = [root / "src", root] if config.source is None else [root / config.source]
    top = entry.partition(":")[0].split(".")[0]
    for folder in folders:
        if (folder / f"{top}.py").is_file() or (folder / top).is_dir():
            return folder
    if has_requirements:  # the build looks into them
        return root / (config.source or "")
    raise ConfigError(
        f"{file}: tool.mcpframe.entry is {entry!r}, but there is no {top}.py or {top}/ in "
        f"{' or '.join(str(folder) for folder in folders)}; set tool.mcpframe.entry, or tool.mcpframe.source."
    )


def _guess_entry(root: Path, file: Path) -> str:
    places = (root / "src", root)
    usual = (folder / name for name in USUAL for folder in places if (folder / name).is_file())
    if script := next(usual, None) or script_in(places[0]) or script_in(places[1]):
        return f"{script.stem}:{server_object(read_text(script), script) or 'server'}"
    raise ConfigError(f"{file}: set tool.mcpframe.entry to 'module:object' of the server; there is no server.py.")


def _toml(text: str, file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.") from None
