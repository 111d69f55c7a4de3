"""The package whose program a bundle runs: it never goes back to an earlier version unless its user asks for that.

An old version may lack half of the tools, so one that can be built is an advice in the error, not a choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.packages.lock import Lock
from mcpframe.kit.bundle.packages.no_wheel import NoWheelFound
from mcpframe.kit.bundle.packages.pins import LINUX, compile_pins


def with_newest(roots: Iterable[str], name: str, preferred: Mapping[str, str]) -> tuple[str, ...]:
    """Return requirements with the version of one package that pip would take if it required nothing.

    Args:
        name: The package, normalized.
        preferred: Versions to take if they fit, as in a lock.

    Raises:
        Conflict: The package index has no such version.
        DownloadError: The package index cannot be reached.
    """
    pinned = []
    for root in roots:
        requirement = Requirement(root)
        if canonicalize_name(requirement.name) == name:
            pins = compile_pins((root,), {}, preferred, sdk=None, platform=LINUX, alone=True)
            if name in pins:  # not if its marker excludes a page
                extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
                root = f"{requirement.name}{extras}=={pins[name].version}"
        pinned.append(root)
    return tuple(pinned)


def with_advice(error: BuildError, pinned: Iterable[str], name: str, resolve_earlier: Callable[[], Lock]) -> BuildError:
    """Return the error of a package whose newest version cannot be had, with the earlier one that can be.

    Args:
        pinned: The requirements with its newest version.
        name: The package, normalized.
        resolve_earlier: Resolves the requirements as they were given.
    """
    newest = next(root for root in pinned if canonicalize_name(Requirement(root).name) == name)
    try:
        lock = resolve_earlier()
    except BuildError:
        return error
    earlier = next((package.version for package in lock.packages if package.name == name), "")
    if not earlier or Requirement(newest).specifier.contains(earlier, prereleases=True):
        return error
    advice = f"{error} {newest} is the newest version; {earlier} can be built: ask for it as {name}=={earlier}."
    if isinstance(error, NoWheelFound):
        return NoWheelFound(advice, error.package, error.chain, error.places)
    return BuildError(advice)
