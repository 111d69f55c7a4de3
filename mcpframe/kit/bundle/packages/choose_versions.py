"""Choose versions whose wheels run in Pyodide, going back to earlier ones if the newest have none.

uv does not know Pyodide's newest tags, and pip evaluates the markers of this machine: uv chooses versions, pip fetches
their wheels, by the tags in `wheels`. For a package without a wheel these are tried, in this order, each as a
constraint of the next round:

0. if that is allowed, the version itself, built from its sources (`source_builds`) if it has nothing else;
1. for some packages (`optional_native`), the version without its native part, if Pyodide's own cannot be reached;
2. the newest earlier version with a wheel on the index, or in Pyodide's own distribution if that has a later one;
3. no package, if those that require it import it only in functions or within `try`;
4. on trial (`repairs`), the version without its native part;
5. no version of the package at all, so that uv goes back to earlier versions of the packages that require it. They stay
   within their major version;
6. on trial, no package.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from mcpframe.kit.base.errors import BuildError, KitError
from mcpframe.kit.base.progress import remark
from mcpframe.kit.bundle.assembly.special_packages import OPTIONAL_NATIVE, is_left_out, modules_of
from mcpframe.kit.bundle.code.imports import Import, imports_named, places_of
from mcpframe.kit.bundle.packages.lock import SERVER, Locked, requirer
from mcpframe.kit.bundle.packages.no_wheel import lacks, no_wheel_found
from mcpframe.kit.bundle.packages.pins import Conflict, Pin, ancestors, requirers
from mcpframe.kit.bundle.packages.repairs import Repairs, Without
from mcpframe.kit.bundle.packages.requirements import Requirements
from mcpframe.kit.bundle.packages.wheels import NoWheel, download, wheel_path
from mcpframe.kit.bundle.pyodide.archive import unpack
from mcpframe.kit.bundle.pyodide.packages import PyodidePackage, PyodidePackages, Wanted

_MAX_ROUNDS = 30
_MOST_VERSIONS = 5
"""The number of versions tried of one package."""


@dataclass(frozen=True)
class _Candidate:
    """A way to do without the version of a package that has no wheel.

    Attributes:
        constraint: The constraint on the package.
        built: The wheel that was built from its sources, if it is the candidate.
        own: Pyodide's own package, if it is the candidate.
        foreign: Whether it is a wheel for another platform, without its native part.
        left_out: Whether the bundle lacks the package.
        on_trial: Whether the start of the server has to show that it does without.
    """

    constraint: str
    built: Locked | None = None
    own: PyodidePackage | None = None
    foreign: bool = False
    left_out: bool = False
    on_trial: bool = False


@dataclass(frozen=True)
class Chosen:
    """The result of a choice.

    Attributes:
        packages: The wheels.
        notes: A sentence on each package that is not of the newest version.
        left_out: The packages left out: they have no wheel, and no import needs them.
    """

    packages: tuple[Locked, ...]
    notes: tuple[str, ...]
    left_out: tuple[str, ...]


def choose_versions(
    requirements: Requirements,
    pins: dict[str, Pin],
    pyodide: PyodidePackages,
    preferred: Mapping[str, str],
    repairs: Repairs,
) -> Chosen:
    """Choose versions, and fetch their wheels.

    Args:
        pins: The versions that uv chooses without further constraints.
        pyodide: Pyodide's own packages.
        preferred: Versions to take if they fit.
        repairs: The packages that may be done without on trial.

    Raises:
        BuildError: A package has no wheel that runs in Pyodide.
        DownloadError: The package index cannot be reached.
    """
    return _Search(requirements, pins, pyodide, preferred, repairs).run()


class _Search:
    def __init__(
        self,
        requirements: Requirements,
        pins: dict[str, Pin],
        pyodide: PyodidePackages,
        preferred: Mapping[str, str],
        repairs: Repairs,
    ) -> None:
        self._requirements = requirements
        self._first = pins
        self._pyodide = pyodide
        self._preferred = dict(preferred)
        self._repairs = repairs
        self._constraints: dict[str, str] = {}
        self._from_pyodide: dict[str, PyodidePackage] = {}
        self._foreign: set[str] = set()
        self._from_sources: dict[str, Locked] = {}
        self._left_out: dict[str, str] = {}  # with their notes
        self._candidates: dict[str, Iterator[_Candidate]] = {}
        self._missing: dict[str, Pin] = {}
        self._other_python: dict[str, str] = {}  # the Pythons that missing packages require

    def run(self) -> Chosen:
        pins = self._first
        for _ in range(_MAX_ROUNDS):
            needed = self._requirements.reachable(pins)
            self._add_requirements_of_pyodides(needed)
            elsewhere = self._from_pyodide.keys() | self._from_sources.keys()
            on_index = {name: (pin.version, pin.hashes) for name, pin in needed.items() if name not in elsewhere}
            try:
                foreign = self._foreign & on_index.keys()
                wheels = download(on_index, foreign=foreign) if foreign else download(on_index)
            except NoWheel as missing:
                pins = self._without(missing, needed)
                continue
            packages = tuple(self._locked(name, pin, wheels) for name, pin in sorted(needed.items()))
            return Chosen(packages, self._notes(needed), tuple(sorted(self._left_out)))
        raise BuildError(
            f"No set of wheels for Pyodide was found in {_MAX_ROUNDS} attempts "
            f"(tried several versions of {', '.join(sorted(self._constraints))}): pin versions in the requirements."
        )

    def _locked(self, name: str, pin: Pin, found: Mapping[str, tuple[str, str, str]]) -> Locked:
        if own := self._from_pyodide.get(name):
            return Locked(name, own.version, own.filename, own.sha256, "pyodide", pin.required_by)
        if built := self._from_sources.get(name):
            return replace(built, required_by=pin.required_by)
        if name not in found:
            raise BuildError(f"pip fetched no wheel of {name} {pin.version}; run the build again.")
        return Locked(name, *found[name], "index", pin.required_by)

    def _without(self, missing: NoWheel, needed: Mapping[str, Pin]) -> dict[str, Pin]:
        """Return the versions with the next candidate for a package without a wheel."""
        name = missing.name
        if name not in self._missing:
            self._missing[name] = needed[name]
            self._other_python[name] = missing.requires_python
            remark(f"{name} {needed[name].version} {lacks(missing.requires_python)}")
        self._preferred.pop(name, None)
        candidates = self._candidates.setdefault(name, self._candidates_for(missing, needed[name]))
        conflict: Conflict | None = None
        for candidate in candidates:
            if candidate.left_out:
                if not self._can_be_left_out(name, needed, on_trial=candidate.on_trial):
                    continue
                self._requirements = replace(self._requirements, left_out=(*self._requirements.left_out, name))
                return self._requirements.compile(self._constraints, self._preferred)
            constraints = {**self._constraints, name: candidate.constraint}
            try:
                pins = self._requirements.compile(constraints, self._preferred)
            except Conflict as error:
                conflict = conflict if candidate.own is None and conflict else error
                continue
            if self._goes_back_too_far(pins):
                continue
            self._constraints = constraints
            self._from_pyodide.pop(name, None)
            self._from_sources.pop(name, None)
            self._foreign -= {name}
            if candidate.built is not None:
                self._from_sources[name] = candidate.built
            if candidate.foreign:
                self._foreign.add(name)
            if candidate.own is not None:
                self._from_pyodide[name] = candidate.own
            return pins
        raise no_wheel_found(
            missing,
            self._missing[name],
            needed,
            _imports_of(name, self._missing[name], needed),
            required_python=self._other_python[name],
            own=self._pyodide.find(name),
            conflict=conflict,
            builds=self._requirements.builds,
        )

    def _candidates_for(self, missing: NoWheel, pin: Pin) -> Iterator[_Candidate]:
        name, own = missing.name, self._pyodide.find(missing.name)
        builds = self._requirements.builds
        if builds and (built := builds.wheel(name, pin.version)):
            yield _Candidate(f"{name}=={pin.version}", built)
        if name in OPTIONAL_NATIVE and not (own and self._can_be_fetched(own)):
            yield _Candidate(f"{name}=={pin.version}", foreign=True)
        stable = [Version(item) for item in missing.versions if _is_as_stable(item, pin.version)]
        versions = sorted((item for item in stable if self._fits(str(item), name)), reverse=True)
        earlier = [item for item in versions if item < Version(pin.version)]
        earlier += [item for item in versions if item > Version(pin.version)]
        offered = False
        for version in earlier[:_MOST_VERSIONS]:
            if own and not offered and Version(own.version) > version:
                yield _Candidate(f"{name}=={own.version}", own=own)
                offered = True
            yield _Candidate(f"{name}=={version}")
        if own and not offered:
            yield _Candidate(f"{name}=={own.version}", own=own)
        yield _Candidate("", left_out=True)
        if self._repairs.may_try(name, Without.NATIVE_PART):
            yield _Candidate(f"{name}=={pin.version}", foreign=True)
        yield _Candidate(f"{name}<0")
        if self._repairs.may_try(name, Without.PACKAGE):
            yield _Candidate("", left_out=True, on_trial=True)

    def _can_be_left_out(self, name: str, needed: Mapping[str, Pin], *, on_trial: bool) -> bool:
        """Return whether the packages that require one import it only in functions or within `try`, or may lack it."""
        pin = needed.get(name, self._missing[name])
        if SERVER in pin.required_by or (name, Without.PACKAGE) in self._repairs.failed:
            return False
        imports = _imports_of(name, pin, needed)
        if not on_trial and not (imports and all(item.optional for item in imports)):
            return False
        self._left_out[name] = (
            f"{name} {pin.version} is left out, as it has no wheel that runs in Pyodide: {requirers(pin)} requires it"
        )
        if on_trial:
            self._left_out[name] += " and starts without; what uses it fails"
        if imports:
            self._left_out[name] += f" ({places_of(imports)[0]})"
        return True

    def _can_be_fetched(self, own: PyodidePackage) -> bool:
        target = wheel_path(Locked(own.name, own.version, own.filename, own.sha256, "pyodide", ()))
        try:
            if not target.is_file():
                self._pyodide.fetch([Wanted(own.filename, own.sha256, target)])
        except KitError:
            return False
        return True

    def _fits(self, version: str, name: str) -> bool:
        roots = map(Requirement, self._requirements.roots)
        return all(item.specifier.contains(version) for item in roots if canonicalize_name(item.name) == name)

    def _goes_back_too_far(self, pins: Mapping[str, Pin]) -> bool:
        """Return whether a package that requires a missing one now has another major version."""
        parents = {parent for name in self._missing for parent in ancestors(name, self._first)} - self._missing.keys()
        return any(
            Version(pins[name].version).major != Version(self._first[name].version).major
            for name in parents & pins.keys()
        )

    def _add_requirements_of_pyodides(self, pins: dict[str, Pin]) -> None:
        """Add the requirements of packages from Pyodide's distribution that are in it, too, and not on the index."""
        for name in list(self._from_pyodide):
            if name not in pins:
                del self._from_pyodide[name]  # no longer required, because of another constraint
                continue
            for needed in self._from_pyodide[name].depends:
                if needed in pins or is_left_out(needed, name, self._requirements.left_out):
                    continue
                own = self._pyodide.find(needed)
                if own is None:
                    raise BuildError(
                        f"{name} {self._from_pyodide[name].version} needs {needed} of Pyodide's distribution, a shared "
                        f"library that a bundle cannot contain yet; {requirers(pins[name])} requires {name}: leave it "
                        "out."
                    )
                self._from_pyodide[needed] = own
                pins[needed] = Pin(own.version, (own.sha256,), (name,))

    def _notes(self, needed: Mapping[str, Pin]) -> tuple[str, ...]:
        notes = [note for _, note in sorted(self._left_out.items())]
        built = sorted(self._from_sources.keys() & needed.keys())
        notes += [f"{name} {needed[name].version} was built from its sources" for name in built]
        for name, pin in sorted(self._missing.items()):
            own = self._from_pyodide.get(name)
            if name in self._foreign & needed.keys():
                is_known = name in OPTIONAL_NATIVE
                reason = (
                    "that of Pyodide's distribution cannot be reached" if is_known else "it has no wheel for Pyodide"
                )
                notes.append(f"{name} {pin.version} without its native part, as {reason}")
            if name in needed and needed[name].version != pin.version:
                whose = f"{needed[name].version} of Pyodide's distribution" if own else needed[name].version
                notes.append(f"{name} {whose} instead of {pin.version}, which has no wheel that runs in Pyodide")
            for parent in ancestors(name, self._first):
                before, after = self._first[parent].version, needed[parent].version if parent in needed else ""
                if after and Version(after) < Version(before) and parent not in self._missing:
                    notes.append(
                        f"{parent} {after} instead of {before}, which leads to {name} {pin.version}, which has no "
                        "wheel that runs in Pyodide"
                    )
        return tuple(dict.fromkeys(notes))


def _is_as_stable(version: str, pinned: str) -> bool:
    """Return whether a version is as stable as the pinned one: not a pre-release unless that is one."""
    return Version(pinned).is_prerelease or not Version(version).is_prerelease


def _imports_of(name: str, pin: Pin, pins: Mapping[str, Pin]) -> list[Import]:
    """Return the imports of a package in the packages that require it, as far as their wheels are available."""
    imports = []
    for who in pins:
        if requirer(who) not in pin.required_by:
            continue
        try:
            [(version, filename, digest)] = download({who: (pins[who].version, pins[who].hashes)}).values()
            files = unpack(wheel_path(Locked(who, version, filename, digest, "index", ())))
        except (NoWheel, KitError, OSError):
            continue
        imports += [item for module in modules_of([name]) for item in imports_named(module, files)]
    return imports
