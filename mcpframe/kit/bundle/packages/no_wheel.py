"""The error about a package without a wheel that runs in Pyodide: why, who requires it, and what an author can do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from packaging.version import Version

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.code.imports import Import, places_of
from mcpframe.kit.bundle.packages.pins import Conflict, Pin, chain_of, requirers
from mcpframe.kit.bundle.packages.source_builds import SourceBuilds
from mcpframe.kit.bundle.packages.wheels import NoWheel
from mcpframe.kit.bundle.pyodide.packages import PyodidePackage
from mcpframe.kit.bundle.pyodide.version import PYTHON_VERSION


class NoWheelFound(BuildError):
    """A package has no wheel that runs in Pyodide.

    Args:
        message: The sentences for the author.
        package: The package and its version.
        chain: The packages that lead to it, from one of the author's requirements.
        places: The lines that import it, as far as known.
    """

    def __init__(self, message: str, package: str, chain: tuple[str, ...], places: tuple[str, ...]) -> None:
        super().__init__(message)
        self.package = package
        self.chain = chain
        self.places = places


def no_wheel_found(
    missing: NoWheel,
    pin: Pin,
    pins: Mapping[str, Pin],
    imports: Sequence[Import],
    *,
    required_python: str,
    own: PyodidePackage | None,
    conflict: Conflict | None,
    builds: SourceBuilds | None,
) -> NoWheelFound:
    """Return the error.

    Args:
        missing: The package, and its versions with a wheel.
        pin: Its version that was to be had.
        pins: All versions.
        imports: Its imports in the packages that require it.
        required_python: The Pythons that the version requires, if not Pyodide's.
        own: Pyodide's own package of the name.
        conflict: Why its other versions do not fit.
        builds: The builds from sources, if they are allowed.
    """
    name, versions, places = missing.name, missing.versions, places_of(imports)
    chain = chain_of(name, {item: its_pin.required_by for item, its_pin in pins.items()})
    through = f" (through {' → '.join(chain)})" if len(chain) > 2 else ""
    there = f"only of {', '.join(sorted(versions, key=Version))}" if versions else "of no version"
    if own is None:
        distribution = "Pyodide's distribution none"
    else:
        wants = _specifier(name, pin, conflict)
        distribution = f"Pyodide's own distribution {own.version}, which does not fit{wants}"
    another = f"another version of {chain[-2]}" if len(chain) > 1 else "another version"
    if required_python:
        why = f"{lacks(required_python)} (a wheel for it there is {there}, {distribution})"
        instead = "ask its authors to allow that Python"
    else:
        why = f"{lacks('')}: neither pure Python nor WebAssembly (the package index has one {there}, {distribution})"
        instead = "use a library without native code"
    message = (
        f"{name} {pin.version} {why}. {requirers(pin)} requires it{through}: leave it out, if the server works "
        f'without it (--set leave_out={name} for a package by its name, tool.mcpframe.leave_out = ["{name}"] in a '
        f"project), require {another}, or {instead}."
    )
    message += _what_goes_on_without(imports)
    if own is None and not versions and not required_python:
        message += _about_sources(name, pin, builds)
    return NoWheelFound(message, f"{name} {pin.version}", chain, places)


def lacks(required_python: str) -> str:
    """Return the end of a sentence on a package without a wheel."""
    if required_python:
        python = ".".join(PYTHON_VERSION.split(".")[:2])
        return f"requires Python {required_python}, and Pyodide's is {python}"
    return "has no wheel that runs in Pyodide"


def _what_goes_on_without(imports: Sequence[Import]) -> str:
    """Return a sentence on the code that imports a package: what starts without it, and what does not."""
    needed = [item for item in imports if not item.optional]
    if needed:
        more = len(imports) - len(needed)
        others = f"; {more} other imports are in functions or within try, and fail alone" if more else ""
        return f" It is imported in {places_of(needed)[0]}, which needs it to be imported itself{others}."
    if imports:
        return f" It is imported in functions or within try only ({places_of(imports)[0]}): the server starts without."
    return ""


def _about_sources(name: str, pin: Pin, builds: SourceBuilds | None) -> str:
    """Return what can be done with the sources of a package."""
    if builds is None:
        return (
            " If it has only sources, and is Python alone, have them built, without access to this machine: "
            "--build-sdists, or build_sdists = true in [tool.mcpframe]."
        )
    if (failure := builds.failures.get(name)) is None:
        return ""
    return (
        f" Its sources cannot be built: {failure}. If it is Python alone, build its wheel where you trust its "
        f"code: pip wheel --no-deps --wheel-dir wheels {name}=={pin.version}, and set "
        "PIP_FIND_LINKS to the path of that folder."
    )


def _specifier(name: str, pin: Pin, conflict: Conflict | None) -> str:
    """Return the version specifiers that others require of a package, according to uv."""
    for who in pin.required_by:
        match = re.search(
            rf"\b{re.escape(who)}\S* depends on {re.escape(name)}([<>=!~][^\s,]*)", str(conflict and conflict.reason)
        )
        if match:
            return f" {name}{match[1]}, as {who} requires"
    return ""
