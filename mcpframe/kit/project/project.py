"""Find an author's project at a path: a folder with pyproject.toml, or one Python file."""

from __future__ import annotations

import ast
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
from mcpframe.kit.project.config import McpframeConfig, read_config

SERVER_CLASSES = ("FrameServer", "MCPServer", "FastMCP", "Server")
"""The classes whose objects are servers."""
_SCRIPT_BLOCK = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")  # PEP 723
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
        requirements: The requirements that the page starts with, besides mcpframe and the SDK.
        lazy: The requirements that it may fetch later.
        config: The whole configuration.
        program: The name of the console script whose function the entry names; empty for a server object.
        world: Whether the server was written for a process: the bundle has `mcpframe.frame.world` then.
        at_home: Whether its current folder is the home folder, as it has no files of the project's.
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
    at_home: bool = False

    @property
    def lock_path(self) -> Path:
        """The path of the project's lock file."""
        return self.root / (f"{self.single.stem}.mcpframe.lock" if self.single else "mcpframe.lock")

    @property
    def is_program(self) -> bool:
        """Whether the entry is a console script."""
        return bool(self.program) or ":" not in self.entry

    @property
    def settings(self) -> dict[str, Any]:
        """The environment of the author's code: the arguments of `frame.entries.set_environment`."""
        program = {"program": self.program} if self.program else {}
        flags = {name: True for name in ("world", "at_home") if getattr(self, name)}
        return {"args": list(self.config.args), "env": dict(self.config.env), **program, **flags}


def is_there(path: Path) -> bool:
    """Return whether there is a file or folder at a path; False also for a path that the system rejects."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def find_project(path: Path) -> Project:
    """Read the project at `path`: a folder, a pyproject.toml, or a Python file.

    Raises:
        ConfigError: There is no server there, or its configuration is invalid.
    """
    path = path.absolute()
    if not is_there(path):
        raise ConfigError(f"{path} does not exist: pass the folder of a server, or its Python file.")
    if path.is_dir():
        if (path / "pyproject.toml").is_file():
            return _from_pyproject(path / "pyproject.toml")
        if (path / "server.py").is_file():
            return _from_script(path / "server.py")
        raise ConfigError(f"{path} has neither a pyproject.toml nor a server.py: pass the folder or file of a server.")
    if path.name == "pyproject.toml":
        return _from_pyproject(path)
    if path.suffix == ".py":
        return _from_script(path)
    raise ConfigError(f"{path} is neither a folder, a pyproject.toml nor a Python file.")


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
        ConfigError: It is no address of a bundle.
    """
    checked = read_config({"url": url}, "url given to the build").url
    return replace(project, config=project.config.model_copy(update={"url": checked}))


def _from_pyproject(file: Path) -> Project:
    data = _toml(_text(file), file)
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
    source = _source(root, config, entry, file, has_requirements=bool(declared))
    return _project(root, file, name, entry, source, None, declared, config, program)


def _from_script(file: Path) -> Project:
    text = _text(file)
    found = [match["content"] for match in _SCRIPT_BLOCK.finditer(text.replace("\r\n", "\n"))]
    if len(found) > 1:
        raise ConfigError(f"{file} has {len(found)} script blocks (PEP 723); only one is allowed.")
    inline = "".join(line[2:] if line.startswith("# ") else line[1:] for line in "".join(found).splitlines(True))
    data = _toml(inline, file)
    config = read_config(data.get("tool", {}).get("mcpframe", {}), str(file))
    declared = config.requirements if config.requirements is not None else data.get("dependencies", [])
    if not file.stem.isidentifier():
        raise ConfigError(f"{file.name} cannot be imported, as its name is not a Python identifier: rename it.")
    entry = config.entry or f"{file.stem}:{'main' if config.kind == 'page' else _server_object(text, file) or 'server'}"
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
    """The normalized names of requirements; what is no requirement has none."""
    found: set[str] = set()
    for item in requirements:
        with contextlib.suppress(InvalidRequirement):
            found.add(canonicalize_name(Requirement(item).name))
    return found


def choose_script(scripts: Collection[str], package: str, chosen: str | None, file: str) -> str:
    """Return the console script for an entry: the chosen one, the only one, or the one with the package's name.

    Args:
        scripts: The names of the package's console scripts.
        package: The package.
        chosen: `script` of the configuration.
        file: The configuration's file, for errors.

    Raises:
        ConfigError: There is no such script; or there are several, and none is chosen or has the package's name.
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
    for module in ("server", "main"):
        for folder in (root / "src", root):
            script = folder / f"{module}.py"
            if script.is_file():
                return f"{module}:{_server_object(_text(script), script) or 'server'}"
    raise ConfigError(f"{file}: set tool.mcpframe.entry to 'module:object' of the server; there is no server.py.")


def _server_object(text: str, file: Path) -> str | None:
    """Return the first name at the top level of a module that a call of a server class is assigned to."""
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
    """Return whether an expression calls a class of servers, or `wrap` with such a call."""
    if not isinstance(value, ast.Call):
        return False
    name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", None)
    return name in SERVER_CLASSES or (name == "wrap" and bool(value.args) and makes_server(value.args[0]))


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8 text; save it as UTF-8.") from None


def _toml(text: str, file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.") from None
