"""The requirements of a bundle, for uv: the author's, and the SDK.

Under constraints, uv may go back to earlier versions of the author's own requirements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.packages.lock import SERVER, requirer
from mcpframe.kit.bundle.packages.pins import Conflict, Pin, compile_pins, reachable
from mcpframe.kit.bundle.packages.source_builds import SourceBuilds

ZONES = "tzdata"
"""The package with the database of time zones."""

_LONGEST_REASON = 400  # characters


@dataclass(frozen=True)
class Requirements:
    """The requirements for which wheels are chosen.

    Attributes:
        roots: The author's requirements.
        sdk: The requirement of the official SDK.
        left_out: The packages that the author leaves out.
        undeclared: Packages, by name, with another package that requires them without declaring it.
        overrides_sdk: Whether `sdk` replaces the packages' requirements of the SDK, whose version is too early.
        zones_for: The package that needs the database of time zones, which a page does not have.
        builds: Builds packages that have only sources; None if that is not allowed.
    """

    roots: tuple[str, ...]
    sdk: str
    left_out: tuple[str, ...] = ()
    undeclared: Mapping[str, str] = field(default_factory=dict)
    overrides_sdk: bool = False
    zones_for: str | None = None
    builds: SourceBuilds | None = None

    def compile(self, constraints: Mapping[str, str], preferred: Mapping[str, str]) -> dict[str, Pin]:
        """Return the versions that fit under constraints. Raises as `compile_pins` does."""
        roots = self.roots if self.zones_for is None else (*self.roots, ZONES)
        overrides = (self.sdk,) if self.overrides_sdk else ()
        pins = compile_pins(
            roots,
            constraints,
            preferred,
            sdk=self.sdk,
            excluded=self.left_out,
            overrides=overrides,
            required_by_sources=self.builds.required_by_sources if self.builds else None,
        )
        if self.zones_for is not None:
            who = {requirer(self.zones_for), *pins[ZONES].required_by} - {SERVER}
            pins[ZONES] = replace(pins[ZONES], required_by=tuple(sorted(who)))
        return pins

    def reachable(self, pins: Mapping[str, Pin]) -> dict[str, Pin]:
        """Return those packages that a bundle needs."""
        return reachable(pins, self.left_out, self.undeclared)


def gone_back(
    requirements: Requirements, pins: Mapping[str, Pin], newest: Mapping[str, Pin], preferred: Mapping[str, str]
) -> tuple[str, ...]:
    """Return notes about the author's requirements for which uv has chosen earlier versions by itself.

    It does so if a later version requires a package that only has wheels for other platforms.

    Args:
        pins: The chosen versions.
        newest: The versions for a usual machine.
        preferred: Versions to take if they fit.

    Raises:
        BuildError: A version is of an earlier major version.
    """
    notes = []
    for name in sorted(
        {canonicalize_name(Requirement(root).name) for root in requirements.roots} & pins.keys() & newest.keys()
    ):
        chosen, later = pins[name].version, newest[name].version
        if Version(chosen) >= Version(later):
            continue
        try:
            requirements.compile({name: f"{name}=={later}"}, preferred)
        except Conflict as conflict:
            reason = conflict.reason[:_LONGEST_REASON].rstrip(".")
        else:
            continue
        if Version(chosen).major != Version(later).major:
            raise BuildError(
                f"{name} {later} cannot be resolved for Pyodide: {reason}. {name} {chosen} can: require "
                f'"{name}=={chosen}" if that will do, or leave out what is missing (tool.mcpframe.leave_out).'
            )
        notes.append(f"{name} {chosen} instead of {later}, {reason}")
    return tuple(notes)
