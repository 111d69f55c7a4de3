"""Resolves requirements to exact wheels that run in Pyodide.

The official SDK is 2.x, or 1.x if the requirements or their code need it (`sdk_choice`). Packages that only a process
with sockets can use are left out (`left_out`): `mcpframe.frame.compat` answers their imports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.assembly.special_packages import USERS
from mcpframe.kit.bundle.code.imports import imports_named
from mcpframe.kit.bundle.code.sdk_choice import EARLIER_SDK, FIRST, FIRST_EARLIER, SDK, written_for_earlier
from mcpframe.kit.bundle.packages.choose_versions import choose_versions
from mcpframe.kit.bundle.packages.lock import OWN, SERVER, Lock, Locked, requirer
from mcpframe.kit.bundle.packages.named_package import with_advice, with_newest
from mcpframe.kit.bundle.packages.pins import INSTALLER, LINUX, Conflict, Pin, compile_pins
from mcpframe.kit.bundle.packages.repairs import NO_REPAIRS, Repairs, Without
from mcpframe.kit.bundle.packages.requirements import ZONES, Requirements, gone_back
from mcpframe.kit.bundle.packages.source_builds import SourceBuilds
from mcpframe.kit.bundle.packages.wheels import wheel_path
from mcpframe.kit.bundle.pyodide.archive import unpack
from mcpframe.kit.bundle.pyodide.packages import PyodidePackages

BASE = (SDK,)
"""The requirements of every bundle, besides `INSTALLER`: the official SDK."""

_OF_THE_SDK = {"httpx": "httpx", "httpx2": "httpx2", "httpx_sse": "httpx-sse", "starlette": "starlette", "jwt": "pyjwt"}
"""Modules of the SDK's own requirements that servers import without declaring them, and their packages."""

_SDKS = ("mcp", "fastmcp", "fastmcp-slim")

__all__ = ["BASE", "INSTALLER", "resolve"]


def resolve(
    requirements: Iterable[str],
    pyodide: PyodidePackages,
    *,
    inputs: str,
    previous: Lock | None = None,
    leave_out: Iterable[str] = (),
    named: str = "",
    repairs: Repairs = NO_REPAIRS,
    build_sdists: bool = False,
) -> Lock:
    """Choose the wheels for `requirements`, and fetch them into the cache.

    Args:
        requirements: The author's requirements.
        pyodide: Pyodide's own packages.
        inputs: The hash of the inputs, for the lock.
        previous: A lock whose versions are kept if they still fit.
        leave_out: Packages to leave out of all requirements.
        named: The package whose program is the server, normalized: see `named_package`.
        repairs: The experience of earlier starts of that program.
        build_sdists: Whether packages that have only sources may be built in Pyodide.

    Raises:
        BuildError: A package has no wheel that runs in Pyodide, or the requirements contradict each other.
        DownloadError: The package index cannot be reached.
    """
    roots = tuple(sorted(requirements, key=str.lower))
    preferred = {package.name: package.version for package in previous.packages} if previous else {}
    pinned = with_newest(roots, named, preferred) if named else roots
    needed = dict.fromkeys(repairs.needed, requirer(named))
    builds = SourceBuilds(pyodide.runtime) if build_sdists else None
    requested = Requirements(pinned, SDK, tuple(leave_out), needed, builds=builds)
    resolution = _Resolution(requested, pyodide, inputs, preferred, repairs, is_named=bool(named))
    try:
        return resolution.run_with_repairs()
    except BuildError as error:
        if pinned == roots:
            raise
        given = replace(resolution, requirements=replace(resolution.requirements, roots=roots))
        raise with_advice(error, pinned, named, given.run_with_repairs) from error


@dataclass(frozen=True)
class _Resolution:
    """The arguments of `resolve`."""

    requirements: Requirements
    pyodide: PyodidePackages
    inputs: str
    preferred: Mapping[str, str]
    repairs: Repairs
    is_named: bool

    def run_with_repairs(self) -> Lock:
        """Return the lock; packages without sources, with wheels for other platforms only, are left out on trial."""
        try:
            lock = self.run_for_its_code()
        except Conflict as conflict:
            name, requirements = conflict.without_wheels, self.requirements
            roots = {canonicalize_name(Requirement(root).name) for root in requirements.roots}
            if not name or name in roots or not self.repairs.may_try(name, Without.PACKAGE):
                raise
            without = replace(requirements, left_out=(*requirements.left_out, name))
            lock = replace(self, requirements=without).run_with_repairs()
            note = f"{name} is left out, as it has no wheel that runs in Pyodide; what uses it fails"
            return replace(lock, notes=(note, *lock.notes), left_out=tuple(sorted({*lock.left_out, name})))
        there = {package.name for package in lock.packages}
        more = (
            f"{name} is in it, as the server does not start without" for name in self.repairs.needed if name in there
        )
        return replace(lock, notes=(*more, *lock.notes))

    def run_for_its_code(self) -> Lock:
        """Return the lock with the SDK that the requirements and the code of their packages lead to."""
        lock = self.run()
        evidence = _code_for_earlier(lock) if lock.sdk > 1 else None
        if evidence is None:
            return lock
        lock = replace(self, preferred={}).run_earlier()
        return replace(lock, notes=(f"mcp 1.x instead of 2.x: {evidence}", *lock.notes))

    def run(self) -> Lock:
        """Return the lock with mcp 2.x; with 1.x if the requirements alone lead to it.

        A package that excludes 2.x now may have older versions that allow it; they fit, but are not intended.
        """
        try:
            pins = self.requirements.compile({}, self.preferred)
        except Conflict:
            newest = self._newest() if self.requirements.roots else {}
            if _sdk_is_earlier(newest):
                return self.run_earlier(newest)
            if _is_before(newest, FIRST):
                return self._lock_overriding(newest)
            raise
        if "mcp" not in pins or not set(pins["mcp"].required_by) - {OWN, SERVER}:
            return self._lock(pins, None)
        newest = self._newest()
        if _is_before(newest, FIRST) and not _sdk_is_earlier(newest):
            return self._lock_overriding(newest)
        return self.run_earlier(newest) if _sdk_is_earlier(newest) else self._lock(pins, newest)

    def run_earlier(self, newest: Mapping[str, Pin] | None = None) -> Lock:
        """Return the lock with mcp 1.x."""
        earlier = replace(self, requirements=replace(self.requirements, sdk=EARLIER_SDK))
        if newest and _is_before(newest, FIRST_EARLIER):
            return earlier._lock_overriding(newest)
        return earlier._lock(earlier.requirements.compile({}, self.preferred), newest)

    def _lock_overriding(self, newest: Mapping[str, Pin]) -> Lock:
        """Return the lock with a later version of the SDK than the requirements allow."""
        requirements = replace(self.requirements, overrides_sdk=True)
        pins = requirements.compile({}, self.preferred)
        lock = replace(self, requirements=requirements)._lock(pins, None)
        who = " and ".join(newest["mcp"].required_by)
        note = (
            f"mcp {pins['mcp'].version} instead of {newest['mcp'].version}, which {who} requires: earlier ones do not "
            "work in a page"
        )
        return replace(lock, notes=(note, *lock.notes))

    def _newest(self) -> dict[str, Pin]:
        """Return the versions of the author's requirements on a usual machine."""
        requirements = self.requirements
        preferred = {name: version for name, version in self.preferred.items() if name != "mcp"}
        return compile_pins(requirements.roots, {}, preferred, sdk=None, excluded=requirements.left_out, platform=LINUX)

    def _lock(self, pins: dict[str, Pin], newest: Mapping[str, Pin] | None) -> Lock:
        before = gone_back(self.requirements, pins, newest or {}, self.preferred)
        chosen = choose_versions(self.requirements, pins, self.pyodide, self.preferred, self.repairs)
        undeclared = _undeclared(chosen.packages)
        of_others = self.is_named or bool(_users(chosen.packages, *_SDKS))
        zones_for = _uses_zones(chosen.packages) if of_others else None
        if undeclared or zones_for:
            undeclared |= self.requirements.undeclared
            more = replace(self.requirements, undeclared=undeclared, zones_for=zones_for)
            pins = more.compile({}, self.preferred) if zones_for else pins
            chosen = choose_versions(more, pins, self.pyodide, self.preferred, self.repairs)
        notes = (*before, *chosen.notes)
        return Lock(self.inputs, chosen.packages, notes, chosen.left_out, self.pyodide.lock_sha256)


def _sdk_is_earlier(pins: Mapping[str, Pin]) -> bool:
    return "mcp" in pins and Version(pins["mcp"].version) < Version("2")


def _is_before(pins: Mapping[str, Pin], first: str) -> bool:
    """Return whether packages, and not the author, require a version of the SDK before the first that works."""
    return "mcp" in pins and SERVER not in pins["mcp"].required_by and Version(pins["mcp"].version) < Version(first)


def _users(packages: tuple[Locked, ...], *sdks: str) -> dict[str, Locked]:
    """Return the packages that require one of these, by name."""
    users = {who for package in packages if package.name in sdks for who in package.required_by}
    return {item.name: item for item in packages if requirer(item.name) in users and item.source != "pyodide"}


def _code_for_earlier(lock: Lock) -> str | None:
    """Return the evidence that a package which requires the SDK is written for mcp 1.x, although it allows 2.x."""
    wheels = (unpack(wheel_path(package)) for _, package in sorted(_users(lock.packages, "mcp").items()))
    return next((evidence for wheel in wheels if (evidence := written_for_earlier(wheel))), None)


def _undeclared(packages: tuple[Locked, ...]) -> dict[str, str]:
    """Return the SDK's requirements that servers import without declaring them, and that a page's SDK lacks."""
    there = {package.name for package in packages}
    users = _users(packages, *_SDKS)
    undeclared: dict[str, str] = {}
    for name in sorted(users.keys() - USERS):
        wheel = unpack(wheel_path(users[name]))
        for module, package in _OF_THE_SDK.items():
            if package not in there and imports_named(module, wheel):
                undeclared.setdefault(package, name)
    return undeclared


def _uses_zones(packages: tuple[Locked, ...]) -> str | None:
    """Return a package that imports zoneinfo, if there is no database among the packages yet."""
    if any(package.name == ZONES for package in packages):
        return None
    base = {package.name for package in Lock("", packages).closure(["mcp", *INSTALLER])}
    # Those of Pyodide's distribution are not in the cache yet, and require the database themselves.
    others = (package for package in packages if package.name not in base and package.source != "pyodide")
    return next((item.name for item in others if imports_named("zoneinfo", unpack(wheel_path(item)))), None)
