"""Wheels of packages that have only sources: built in Pyodide under the confined Node, where a server is imported, too.

Their code has no network, no file of this machine, and starts no program. So it has no compiler, and the wheel is of
Python alone. The same sources and tools give the same bytes, on every machine.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcpframe.kit.base.cache import cache_dir, write_file
from mcpframe.kit.base.errors import BuildError, HashMismatch, ToolFailed, ToolTimeout
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.base.terminal import visible
from mcpframe.kit.bundle.packages.built_wheel import BuiltWheel, normalized, plain_requirement
from mcpframe.kit.bundle.packages.lock import BuiltFrom, Locked, Tool
from mcpframe.kit.bundle.packages.pins import Conflict, compile_pins
from mcpframe.kit.bundle.packages.sources import SourceFile, fetch_sources, find_sources, unpack_sources
from mcpframe.kit.bundle.packages.wheels import NoWheel, download, is_good, wheel_path
from mcpframe.kit.bundle.pyodide.archive import EARLIEST, Files, check_sizes, pack
from mcpframe.kit.bundle.pyodide.compile import cache_key, cached
from mcpframe.kit.bundle.pyodide.job import Mounted, job_sources, run_in_pyodide
from mcpframe.kit.bundle.pyodide.runtime import Runtime
from mcpframe.kit.bundle.pyodide.version import VERSION

RULES = "1"
"""The version of the rules for wheels that are built: they are cached."""
JOB = "build_wheel"
PATIENCE = 300.0
"""The longest that a build may take, in seconds."""
_LEGACY = "setuptools.build_meta:__legacy__"  # PEP 517: without a build backend
_LEGACY_REQUIRES = ("setuptools>=40.8.0",)
# 1980-01-01, the first date that a zip can hold: the same sources give the same wheel.
_ENVIRONMENT = {"SOURCE_DATE_EPOCH": "315532800", "PYTHONHASHSEED": "0", "LANG": "C.UTF-8"}
_MOST_ROUNDS = 3
_MOST_ASKED = 50
_LONGEST = 300  # characters of a package's error
_BACKEND = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*)?")


_Made = tuple[Locked, tuple[str, ...]]
"""A wheel in the cache, and its requirements."""


class CannotBuild(BuildError):
    """The sources of a package cannot be built in Pyodide. The message is a sentence without a full stop."""


@dataclass(frozen=True)
class _BuildSystem:
    """`[build-system]` of a pyproject.toml."""

    backend: str = _LEGACY
    requires: tuple[str, ...] = _LEGACY_REQUIRES
    paths: tuple[str, ...] = ()


@dataclass
class SourceBuilds:
    """Builds of wheels during a resolution, each done once.

    Attributes:
        runtime: The Pyodide runtime.
        failures: The reasons of builds that failed, by the package's name.
    """

    runtime: Runtime
    failures: dict[str, str] = field(default_factory=dict)
    _built: dict[tuple[str, str], _Made | None] = field(default_factory=dict)

    def required_by_sources(self, name: str, version: str) -> tuple[str, ...]:
        """Return the requirements of a version; none if it cannot be built."""
        built = self._build(name, version)
        return built[1] if built else ()

    def wheel(self, name: str, version: str) -> Locked | None:
        """Return the wheel of a version that has only sources, in the cache; None if it has others, or fails."""
        built = self._build(name, version)
        return built[0] if built else None

    def _build(self, name: str, version: str) -> _Made | None:
        key = (name, version)
        if key not in self._built:
            self._built[key] = None
            try:
                if sources := find_sources(name, version):
                    self._built[key] = _built_with_newest(sources, self.runtime)
            except BuildError as error:
                self.failures[name] = str(error).rstrip(".")
        return self._built[key]


def rebuild(package: Locked, runtime: Runtime) -> None:
    """Build a locked wheel into the cache again, from the locked sources with the locked tools.

    Raises:
        BuildError: The index no longer has its tools, or they cannot build it.
        DownloadError: The index cannot be reached.
        HashMismatch: The sources or the wheel are not the locked ones.
    """
    locked = package.built_from
    assert locked is not None
    name, version = package.name, package.version
    sources = find_sources(name, version, alone=False)
    if sources is None or (sources.filename, sources.sha256) != (locked.filename, locked.sha256):
        raise HashMismatch(
            f"The package index has other sources of {name} {version} than the locked {locked.filename}; run the build "
            "with --upgrade."
        )
    files = unpack_sources(fetch_sources(sources))
    try:
        tools = download({tool.name: (tool.version, (tool.sha256,)) for tool in locked.tools}, locked=True)
        outcome = _run(files, _build_system(files), tools, runtime)
        wheel = _wheel_of(sources, outcome)
    except NoWheel as error:
        raise BuildError(
            f"The package index no longer has the wheel of {error.name} that builds {name}; run the build with "
            "--upgrade."
        ) from error
    except CannotBuild as error:
        raise BuildError(f"{name} {version} cannot be built from its sources: {error}.") from error
    if (wheel.filename, wheel.sha256) != (package.filename, package.sha256):
        raise HashMismatch(
            f"The wheel of {name} {version} that was built from its sources is not the locked one; run the build with "
            "--upgrade."
        )
    write_file(wheel_path(package), wheel.data)


def _built_with_newest(sources: SourceFile, runtime: Runtime) -> _Made:
    """Return the wheel of sources, built with the newest tools that they allow."""
    files = unpack_sources(fetch_sources(sources))
    system = _build_system(files)
    asked: tuple[str, ...] = ()
    for _ in range(_MOST_ROUNDS):
        chosen = _choose_tools((*system.requires, *asked))
        tools = tuple(Tool(name, version, digest) for name, (version, _, digest) in sorted(chosen.items()))
        built_from = BuiltFrom(sources.filename, sources.sha256, tools)
        kept = cached("built-wheels", cache_key(VERSION, RULES, *job_sources(JOB), repr((built_from, asked))))
        if known := _read(kept, sources, built_from):
            return known
        outcome = _run(files, system, chosen, runtime, asked)
        if needs := outcome.get("needs"):
            asked = tuple(map(str, needs[:_MOST_ASKED])) if isinstance(needs, list) else ()
            continue
        wheel = _wheel_of(sources, outcome)
        locked = _locked(sources, wheel.filename, wheel.sha256, built_from)
        write_file(wheel_path(locked), wheel.data)
        write_file(kept, json.dumps([wheel.filename, wheel.sha256, wheel.requires]).encode())
        return locked, wheel.requires
    raise CannotBuild("its build goes on asking for further packages")


def _read(kept: Path, sources: SourceFile, built_from: BuiltFrom) -> _Made | None:
    """Return the wheel of an earlier build, if the cache has it."""
    try:
        filename, digest, requires = json.loads(kept.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    locked = _locked(sources, filename, digest, built_from)
    return (locked, tuple(requires)) if is_good(wheel_path(locked), digest) else None


def _locked(sources: SourceFile, filename: str, digest: str, built_from: BuiltFrom) -> Locked:
    return Locked(sources.name, sources.version, filename, digest, "sources", (), built_from)


def _build_system(files: Files) -> _BuildSystem:
    """Return what a package's pyproject.toml says of its build; that of setup.py without one."""
    if "pyproject.toml" not in files:
        if "setup.py" not in files:
            raise CannotBuild("it has neither a pyproject.toml nor a setup.py")
        return _BuildSystem()
    try:
        table = tomllib.loads(files["pyproject.toml"].decode("utf-8")).get("build-system")
    except ValueError as error:
        raise CannotBuild(f"its pyproject.toml is not valid TOML ({error})") from None
    if table is None:
        return _BuildSystem()
    try:
        backend, requires = table.get("build-backend", _LEGACY), table["requires"]
        paths = table.get("backend-path", [])
        is_valid = isinstance(backend, str) and _BACKEND.fullmatch(backend) is not None
        is_valid = is_valid and all(isinstance(item, str) for item in (*requires, *paths))
    except (AttributeError, KeyError, TypeError):
        is_valid = False
    if not is_valid:
        raise CannotBuild("[build-system] of its pyproject.toml is not valid")
    return _BuildSystem(backend, tuple(requires), tuple(paths))


def _choose_tools(requires: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Fetch the packages that a build needs; return the version, the file name and the SHA-256 of each wheel."""
    try:
        pins = compile_pins([plain_requirement(item) for item in requires], {}, {}, sdk=None)
        return download({name: (pin.version, pin.hashes) for name, pin in pins.items()})
    except ValueError as error:
        raise CannotBuild(f"its build needs {error}, which is not a requirement of a package on an index") from error
    except NoWheel as error:
        raise CannotBuild(
            f"its build needs {error.name}, which has no wheel that runs in Pyodide (Python alone or WebAssembly)"
        ) from error
    except Conflict as error:
        raise CannotBuild(f"what its build needs cannot be resolved ({error.reason[:300]})") from error


def _run(
    files: Files,
    system: _BuildSystem,
    tools: Mapping[str, tuple[str, str, str]],
    runtime: Runtime,
    asked: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Run the build, and return its result, of which nothing is checked: the package's code may have forged it.

    Args:
        asked: The requirements that the build has asked for; None if the tools have them all.
    """
    wheels = [cache_dir() / "wheels" / digest / filename for _, (_, filename, digest) in sorted(tools.items())]
    check_sizes(wheels)
    given = {"backend": system.backend, "paths": system.paths, "asked": asked}
    with scratch("build") as folder:
        source, about = folder / "source.zip", folder / "given"
        source.write_bytes(pack(files, date=EARLIEST))
        about.mkdir()
        (about / "given.json").write_text(json.dumps(given), "utf-8", newline="\n")
        try:
            [outcome] = run_in_pyodide(
                [JOB],
                runtime,
                folders={"/in": about},
                archives=[Mounted(source, "/source"), *(Mounted(wheel, "/tools") for wheel in wheels)],
                env=_ENVIRONMENT,
                timeouts={JOB: PATIENCE},
            )
        except ToolTimeout:
            raise CannotBuild(f"its build takes more than {PATIENCE:g} seconds") from None
        except ToolFailed as error:
            raise CannotBuild(_sentence(str(error))) from error
    result = outcome.result if isinstance(outcome.result, dict) else {}
    return {**result, "data": outcome.files.get("wheel", b"")}


def _wheel_of(sources: SourceFile, outcome: Mapping[str, Any]) -> BuiltWheel:
    """Return the wheel of a build's result, checked."""
    if "error" in outcome:
        reason, printed = (_sentence(str(outcome.get(part, ""))) for part in ("error", "printed"))
        why = f"{reason}; it printed {printed!r}" if printed and printed not in reason else reason
        raise CannotBuild(f"its build fails ({why}); there is no compiler, no other program and no network")
    try:
        return normalized(sources.name, sources.version, str(outcome.get("wheel")), outcome["data"])
    except BuildError as error:
        raise CannotBuild(str(error).rstrip(".")) from error


def _sentence(text: str) -> str:
    return visible(" ".join(text.split())[:_LONGEST]).rstrip(".")
