"""Where and when a run took place, without saying whose machine it is."""

from __future__ import annotations

import datetime
import json
import os
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from mcpframe.kit.bundle.pyodide.version import VERSION as PYODIDE_VERSION


@dataclass(frozen=True)
class Setting:
    """The setting of a run.

    Attributes:
        date: The day, ISO 8601, UTC.
        cores: Logical processors this process may use.
        memory: Memory of the machine in GiB, rounded; None where the system does not say.
        system: Kind of operating system and processor.
        load: The load average of the last minute when the run began; None where the system does not say.
        versions: Versions of what took part, by name.
    """

    date: str
    cores: int
    memory: int | None
    system: str
    load: float | None
    versions: dict[str, str]

    @property
    def busy(self) -> bool:
        """Whether others had the machine, too, so that times say little."""
        return self.load is not None and self.load > self.cores

    @property
    def sentence(self) -> str:
        """The date and the machine as one sentence."""
        return f"Measured on {self.date} on {self.machine}."

    @property
    def machine(self) -> str:
        """The machine, and the versions of the software."""
        memory = f", {self.memory} GB of memory" if self.memory else ""
        cores = f"{self.cores} core{'s' if self.cores != 1 else ''}"
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"{self.system}, {cores}{memory}, headless; {versions}"


def this_setting(chromium: str, modules: Path, locked: dict[str, str]) -> Setting:
    """Describe this run.

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
        load=round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        versions=versions,
    )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int | None:
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30)
    except (AttributeError, OSError, ValueError):  # not on every system
        return None
