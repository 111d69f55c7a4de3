"""Explains a failed build, or a server's limits in a page: the cause, the packages that require it, and the code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.assembly.special_packages import SPECIAL
from mcpframe.kit.bundle.code.code_limits import look_at
from mcpframe.kit.bundle.code.imports import imports_named, places_of
from mcpframe.kit.bundle.packages.compile_layers import base_packages
from mcpframe.kit.bundle.packages.lock import Lock
from mcpframe.kit.bundle.packages.no_wheel import NoWheelFound
from mcpframe.kit.bundle.packages.pins import chain_of
from mcpframe.kit.bundle.packages.wheels import wheel_path
from mcpframe.kit.bundle.pyodide.archive import Files, unpack

_MISSING = re.compile(r"No module named '([\w.]+)'|the package '([\w.]+)' is not part of the bundle")
_FRAME = re.compile(r'File "[^"]*?/(?:site-packages|packages)/([^"]+\.py)", line (\d+)')
_REQUIRES = re.compile(r"(?m)^Requires-Dist: (.+?)\r?$")
_MOST_PLACES = 5


@dataclass(frozen=True)
class Explained:
    """One explanation.

    Attributes:
        what: The cause that stops or limits the server.
        chain: The packages from one of the server's requirements to the affected one.
        places: The lines of code, with their actions.
    """

    what: str
    chain: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


def explain(lock: Lock | None, error: BuildError | None = None) -> tuple[Explained, ...]:
    """Explain a failed build, or without an error the server's limits.

    Args:
        lock: The project's lock, if it has one.
        error: The error of the build.
    """
    if isinstance(error, NoWheelFound):
        return (Explained(f"{error.package} has no wheel that runs in Pyodide", error.chain, error.places),)
    if lock is None:
        return ()
    packages = _Packages(lock)
    if error is not None:
        return tuple(packages.of_error(str(error)))
    return (*packages.left_out(), *packages.limits())


class _Packages:
    def __init__(self, lock: Lock) -> None:
        self._wanted_by = {package.name: package.required_by for package in lock.packages}
        self._files = {package.name: _files(lock, package.name) for package in lock.packages}
        self._base = base_packages(lock)

    def of_error(self, text: str) -> Iterator[Explained]:
        for match in dict.fromkeys(_MISSING.findall(text)):
            module = match[0] or match[1]
            yield from self._missing(module)
        places: dict[str, list[str]] = {}
        for path, line in dict.fromkeys(_FRAME.findall(text)):
            owner = next((name for name, files in self._files.items() if path in files), None)
            if owner is not None:
                places.setdefault(owner, []).append(f"{path}, line {line}")
        for owner, passed in places.items():
            yield Explained(f"the error passes through {owner}", self._chain(owner), tuple(passed[-_MOST_PLACES:]))

    def _missing(self, module: str) -> Iterator[Explained]:
        found = False
        for name, files in self._files.items():
            imports = imports_named(module, files) if name not in self._base else []
            if imports:
                found = True
                yield Explained(f"{name} imports {module}", self._chain(name), places_of(imports))
        if not found:
            yield Explained(f"nothing that was looked through imports {module} by name")

    def left_out(self) -> Iterator[Explained]:
        """Explain the packages left out of the bundle although others require them."""
        for item in SPECIAL:
            if item.name in self._wanted_by:
                continue
            for who, use in [(user, each) for each in item.uses for user in each.of]:
                if item.name in _requirements(self._files.get(who, {})):
                    what = f"{item.name} is left out: {who} needs it for {use.reason}"
                    yield Explained(what, (*self._chain(who), item.name), use.evidence)

    def limits(self) -> Iterator[Explained]:
        """Explain the uses of features that a page lacks, except in the SDK's packages."""
        for name, files in self._files.items():
            for limit in look_at(files).limits if name not in self._base else ():
                yield Explained(f"{name} uses {limit.meaning}", self._chain(name), (f"{limit.place}: {limit.name}",))

    def _chain(self, name: str) -> tuple[str, ...]:
        return chain_of(name, self._wanted_by)


def _files(lock: Lock, name: str) -> Files:
    package = next(item for item in lock.packages if item.name == name)
    try:
        return unpack(wheel_path(package))
    except OSError:  # no longer in the cache
        return {}


def _requirements(files: Mapping[str, bytes]) -> set[str]:
    """Return the names of a wheel's requirements, without extras."""
    text = next((data for path, data in files.items() if path.endswith(".dist-info/METADATA")), b"")
    names: set[str] = set()
    for line in _REQUIRES.findall(text.decode("utf-8", "replace")):
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if requirement.marker is None or "extra" not in str(requirement.marker):
            names.add(canonicalize_name(requirement.name))
    return names
