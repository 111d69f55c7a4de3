"""Repairs of a bundle whose server fails for lack of a package: found in the error, tried in the next resolution.

The server of a package that is built by its name may need a package that a bundle usually leaves out; and it may do
without one that has no wheel for Pyodide, or without the native part of that. Whether it does shows when it starts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum

from mcpframe.kit.bundle.assembly.special_packages import OPTIONAL_NATIVE, modules_of, package_of
from mcpframe.kit.bundle.packages.lock import Lock
from mcpframe.kit.bundle.packages.optional_native import is_foreign

_LACKING = re.compile(
    r"No module named '(\w+)|the package '(\w+)' is not part of the bundle|needs '(\w+)', which is not installed"
    r"|module '(\w+)(?:\.\w+)*' has no attribute"
)
_IN_PACKAGE = re.compile(r"/packages/(\w+)[/.]")


class Without(Enum):
    """A way to do without the wheel of a package."""

    NATIVE_PART = "without its native part"
    PACKAGE = "left out"


@dataclass(frozen=True)
class Repairs:
    """The experience of earlier starts of a server.

    Attributes:
        tries: Whether packages without a wheel are left out, or have no native part, on trial.
        needed: Packages that are in the bundle although only packages that are left out require them.
        failed: The trials with which the server does not start.
    """

    tries: bool = False
    needed: tuple[str, ...] = ()
    failed: frozenset[tuple[str, Without]] = frozenset()

    def may_try(self, name: str, way: Without) -> bool:
        """Return whether a package may be done without in a way."""
        return self.tries and (name, way) not in self.failed

    def after(self, error: str, lock: Lock) -> Repairs | None:
        """Return the repairs to try next; None if the error is due to no package that is lacking.

        Args:
            error: The exception with which the server fails, and its traceback.
            lock: The lock of the bundle that failed.
        """
        modules = {name for match in _LACKING.findall(error) for name in match if name}
        entered = modules | set(_IN_PACKAGE.findall(error))
        trials = _trials(lock)
        suspects = {(name, way) for name, way in trials if entered & modules_of([name]).keys()} - self.failed
        if suspects:
            return replace(self, failed=self.failed | suspects)
        there = {package.name for package in lock.packages} | {name for name, _ in trials}
        lacking = {package_of(module) for module in modules} - there - set(self.needed)
        return replace(self, needed=(*self.needed, *sorted(lacking))) if lacking else None


def _trials(lock: Lock) -> set[tuple[str, Without]]:
    """Return the packages that a bundle does without in a way that may fail."""
    foreign = {package.name for package in lock.packages if is_foreign(package.filename)} - OPTIONAL_NATIVE
    return {(name, Without.NATIVE_PART) for name in foreign} | {(name, Without.PACKAGE) for name in lock.left_out}


NO_REPAIRS = Repairs()
