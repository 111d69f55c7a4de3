"""Where and when a run took place, without saying whose machine it is."""

from __future__ import annotations

import datetime
import json
import os
import platform
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from mcpframe.kit.bundle.pyodide.version import VERSION as PYODIDE_VERSION

PROC = Path("/proc")
BUSY = 0.25
"""Processors that others use from which on times say little."""
_SAMPLE = 3.0
"""Seconds for which a machine is watched."""


@dataclass(frozen=True)
class Setting:
    """The setting of a figure.

    Attributes:
        date: The day, ISO 8601, UTC.
        cores: Logical processors this process may use.
        memory: Memory of the machine in GiB, rounded; None where the system does not say.
        system: Kind of operating system and processor.
        others: How many processors other programs used meanwhile, on average; None where the system does not say.
        versions: Versions of what took part, by name.
    """

    date: str
    cores: int
    memory: int | None
    system: str
    others: float | None
    versions: dict[str, str]

    @property
    def busy(self) -> bool:
        """Whether others had the machine, too, so that times say little."""
        return self.others is not None and self.others > BUSY

    @property
    def machine(self) -> str:
        """The machine, and the versions of the software."""
        memory = f", {self.memory} GB of memory" if self.memory else ""
        cores = f"{self.cores} core{'s' if self.cores != 1 else ''}"
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"{self.system}, {cores}{memory}, headless; {versions}"


@dataclass(frozen=True)
class Process:
    """A process of this machine.

    Attributes:
        parent: The number of its parent.
        own: The time it has had a processor, in the system's ticks.
        ended: The same of its children that have ended, and of theirs.
    """

    parent: int
    own: int
    ended: int


class OtherPrograms:
    """CPU use of other programs: all but this process and its children."""

    def __init__(self) -> None:
        self._used: float | None = None
        self._since = time.monotonic(), processes()

    def used(self) -> float | None:
        """Return how many processors they used since this was last called, on average; None if it is not known.

        Within a second of the last call it is what that returned.
        """
        began, before = self._since
        passed = time.monotonic() - began
        if passed > 1:
            self._since = time.monotonic(), processes()
            ticks = used_by_others(before, self._since[1], os.getpid())
            self._used = ticks / os.sysconf("SC_CLK_TCK") / passed if before else None
        return self._used

    def wait(self, limit: float) -> float:
        """Wait until they use little, at most `limit` seconds, and return for how many seconds."""
        began = time.monotonic()
        while True:
            self._since = time.monotonic(), processes()
            time.sleep(_SAMPLE)
            used, waited = self.used(), time.monotonic() - began
            if used is None or used <= BUSY or waited >= limit:
                return waited


def processes() -> dict[int, Process]:
    """Return all processes by number; none if the system does not say.

    What has ended and is process 1's, which collects it at some time, is left out: it may have been below any process.
    A browser's processes are, when the browser has ended.
    """
    found = {}
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):  # it may have ended meanwhile
            fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            state, parent = fields[0], int(fields[1])
            user, system, ended_user, ended_system = map(int, fields[11:15])
            if (state, parent) != ("Z", 1):
                found[int(folder.name)] = Process(parent, user + system, ended_user + ended_system)
    return found


def used_by_others(before: Mapping[int, Process], after: Mapping[int, Process], root: int) -> int:
    """Return the ticks that all processes but `root` and those below it have used between two moments.

    The time of a process that has ended is in its parent's, unless that ended first: process 1 inherits from everyone,
    so that what it gets counts for nobody.
    """
    known: Counter[int] = Counter()
    for number in before.keys() - after.keys():
        parent = before[number].parent
        while parent in before and parent not in after:
            parent = before[parent].parent
        known[parent] += before[number].own + before[number].ended
    nothing = Process(0, 0, 0)
    used = 0
    for number, process in after.items():
        above: int | None = number
        while above is not None and above != root:
            above = after[above].parent if above in after else None
        if above == root:
            continue
        earlier = before.get(number, nothing)
        used += process.own - earlier.own
        if number > 1:
            used += max(0, process.ended - earlier.ended - known[number])
    return used


def this_setting(chromium: str, modules: Path, locked: dict[str, str]) -> Setting:
    """Describe this machine.

    Args:
        chromium: The browser's version.
        modules: The folder `node_modules`.
        locked: Versions of the packages in the bundle.
    """
    versions = {
        "mcpframe": version("mcpframe"),
        "mcp": locked["mcp"],
        "Pyodide": PYODIDE_VERSION,
        "Chromium": chromium,
    }
    for name, package in (("TypeScript client", "client"), ("TypeScript server", "server"), ("App SDK", "ext-apps")):
        description = json.loads((modules / "@modelcontextprotocol" / package / "package.json").read_text("utf-8"))
        versions[name] = description["version"]
    return Setting(
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        cores=_cores(),
        memory=_memory(),
        system=f"{platform.system()} {platform.machine()}",
        others=None,
        versions=versions,
    )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int | None:
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30)
    except (AttributeError, OSError, ValueError):  # not on every system
        return None
