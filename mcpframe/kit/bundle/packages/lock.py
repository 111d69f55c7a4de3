"""`mcpframe.lock`: every wheel of a bundle with its hash, written by the first build and used by later ones."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from mcpframe.kit.base.cache import clear_leftovers, write_file
from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.base.locking import locked

SERVER = "server"
"""The author's own requirements, in the place of a package that requires another."""
OWN = "mcpframe"
"""The requirements of every bundle, in the place of a package that requires another."""

_FORMAT = 1
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # normalized: PyPA, "Names and normalization"
_PACKAGE = " (package)"
_NAMED_AS_ROOTS = {f"{name}{_PACKAGE}": name for name in (SERVER, OWN)}
_MOST_NOTES, _LONGEST_NOTE = 100, 1000
_VERSION = re.compile(r"[A-Za-z0-9]+([.!+_-][A-Za-z0-9]+)*")
_FILENAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+!-]*\.whl")
SOURCES_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+!-]*\.(tar\.gz|zip)")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NOTE = "Written by `mcpframe build`; commit it. Renew it with `mcpframe build --upgrade`."


@dataclass(frozen=True)
class Tool:
    """A package that builds others: a build backend, or a package that it requires.

    Attributes:
        name: Its normalized name.
        version: Its version.
        sha256: The SHA-256 of its wheel.
    """

    name: str
    version: str
    sha256: str


@dataclass(frozen=True)
class BuiltFrom:
    """The sources from which a wheel is built, so that another machine builds the same one.

    Attributes:
        filename: The name of the file with the sources.
        sha256: Its SHA-256.
        tools: The packages that build it, sorted by name.
    """

    filename: str
    sha256: str
    tools: tuple[Tool, ...]


@dataclass(frozen=True)
class Locked:
    """One wheel.

    Attributes:
        name: The normalized name of the package.
        version: Its version.
        filename: The wheel's file name.
        sha256: The wheel's SHA-256, in hex.
        source: `index`, pip's configured package index; `pyodide`, the distribution; or `sources`, built from them.
        required_by: The packages that require it, as `requirer` names them, `SERVER` and `OWN`.
        built_from: The sources of a wheel that the build makes.
    """

    name: str
    version: str
    filename: str
    sha256: str
    source: Literal["index", "pyodide", "sources"]
    required_by: tuple[str, ...]
    built_from: BuiltFrom | None = None


@dataclass(frozen=True)
class Lock:
    """The result of a resolution.

    Attributes:
        inputs: The hash of its inputs (`inputs_hash`).
        packages: Every wheel, sorted by name.
        notes: A sentence on each package that is not of the newest version, and why.
        left_out: The packages left out: they have no wheel, and no import needs them.
        distribution: The SHA-256 of the pyodide-lock.json that packages of the source `pyodide` are in; empty for that
            of the runtime.
    """

    inputs: str
    packages: tuple[Locked, ...]
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    distribution: str = ""

    @property
    def sdk(self) -> int:
        """The major version of the official SDK."""
        return next((int(package.version.partition(".")[0]) for package in self.packages if package.name == "mcp"), 2)

    @property
    def has_fastmcp(self) -> bool:
        """Whether the package fastmcp is among the wheels."""
        return any(package.name in ("fastmcp", "fastmcp-slim") for package in self.packages)

    def closure(self, roots: Iterable[str]) -> tuple[Locked, ...]:
        """Return the packages `roots` (normalized names), with their direct and indirect requirements."""
        reached = {package.name for package in self.packages if package.name in set(roots)}
        while True:
            requirers = set(map(requirer, reached))
            more = {package.name for package in self.packages if requirers & set(package.required_by)}
            if more <= reached:
                return tuple(package for package in self.packages if package.name in reached)
            reached |= more


def requirer(name: str) -> str:
    """Return a package's name in `required_by`, where two names have another meaning."""
    return f"{name}{_PACKAGE}" if name in (SERVER, OWN) else name


def inputs_hash(*inputs: Iterable[str]) -> str:
    """Return the hash of all inputs of a resolution; the order inside a group does not matter."""
    return hashlib.sha256(json.dumps([sorted(group) for group in inputs]).encode()).hexdigest()


def read_lock(path: Path) -> Lock | None:
    """Return the content of a lock file; None if there is no such file.

    Raises:
        BuildError: The file is not a lock, or has the format of a newer mcpframe.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BuildError(f"{path} cannot be read ({error}); restore it, or delete it to resolve anew.") from error
    try:
        if data["format"] != _FORMAT:
            raise BuildError(
                f"{path} has format {data['format']}, this mcpframe reads {_FORMAT}: "
                "update mcpframe, or delete the file to resolve anew."
            )
        notes = tuple(str(note)[:_LONGEST_NOTE] for note in data.get("notes", [])[:_MOST_NOTES])
        left_out = tuple(data.get("left_out", []))
        if not all(isinstance(name, str) and _NAME.fullmatch(name) for name in left_out):
            raise ValueError(f"left_out {left_out!r}")
        distribution = data.get("distribution", "")
        if distribution and not _SHA256.fullmatch(distribution):
            raise ValueError(f"distribution {distribution!r}")
        packages = tuple(_locked(entry) for entry in data["packages"])
        return Lock(str(data["inputs"]), packages, notes, left_out, distribution)
    except (KeyError, TypeError, ValueError) as error:
        raise BuildError(f"{path} is not a lock of mcpframe ({error!r}); delete it to resolve anew.") from error


def _locked(entry: dict[str, Any]) -> Locked:
    values = {field.name: entry[field.name] for field in fields(Locked) if field.name != "built_from"}
    filename, digest = str(values["filename"]), str(values["sha256"])
    # Names and versions become parts of files that pip reads line by line, of commands and of URLs.
    if not _FILENAME.fullmatch(filename):
        raise ValueError(f"file name {filename!r}")
    if not isinstance(values["version"], str) or not _VERSION.fullmatch(values["version"]):
        raise ValueError(f"version {values['version']!r}")
    if not _SHA256.fullmatch(digest):
        raise ValueError(f"sha256 {digest!r}")
    names = [values["name"], *(_NAMED_AS_ROOTS.get(who, who) for who in values["required_by"])]
    if not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
        raise ValueError(f"package {values['name']!r}")
    if values["source"] not in ("index", "pyodide", "sources"):
        raise ValueError(f"source {values['source']!r}")
    built_from = _built_from(entry["built_from"]) if values["source"] == "sources" else None
    return Locked(**{**values, "required_by": tuple(values["required_by"]), "built_from": built_from})


def _built_from(entry: dict[str, Any]) -> BuiltFrom:
    tools = tuple(Tool(str(tool["name"]), str(tool["version"]), str(tool["sha256"])) for tool in entry["tools"])
    built_from = BuiltFrom(str(entry["filename"]), str(entry["sha256"]), tools)
    are_tools = all(_NAME.fullmatch(tool.name) and _VERSION.fullmatch(tool.version) for tool in tools)
    if not SOURCES_NAME.fullmatch(built_from.filename) or not are_tools:
        raise ValueError(f"built_from {entry!r}")
    if not all(_SHA256.fullmatch(digest) for digest in (built_from.sha256, *(tool.sha256 for tool in tools))):
        raise ValueError(f"built_from {entry!r}")
    return built_from


def _entry(package: Locked) -> dict[str, Any]:
    entry = asdict(package)
    if package.built_from is None:
        del entry["built_from"]
    return entry


def write_lock(path: Path, lock: Lock) -> None:
    """Write a lock file; the same lock gives the same bytes.

    Raises:
        WriteError: The file cannot be written.
    """
    packages = [_entry(package) for package in sorted(lock.packages, key=lambda package: package.name)]
    data: dict[str, Any] = {"about": _NOTE, "format": _FORMAT, "inputs": lock.inputs}
    if lock.notes:
        data["notes"] = lock.notes
    if lock.left_out:
        data["left_out"] = lock.left_out
    if lock.distribution:
        data["distribution"] = lock.distribution
    data["packages"] = packages
    with locked(path):
        clear_leftovers(path)
        write_file(path, (json.dumps(data, indent=2) + "\n").encode(), public=True)
