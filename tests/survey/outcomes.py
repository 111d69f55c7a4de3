"""The outcome of a package: whether its tool answered, else at which stage it failed and why."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.terminal import visible

STAGES = {
    "resolution": ("Resolving the requirements", "Fetching wheels"),
    "import": ("Compiling to bytecode", "Importing the server in Pyodide"),
    "page": ("Taking a snapshot in a browser", "Writing", "Opening the page"),
    "call": ("Listing the tools", "Calling the tool"),
}
"""The stages of a trial: the steps that belong to each."""
NO_WHEEL, MAIN, DOWNLOAD = "no wheel", "main", "download"
"""Stages that are known by the error, not by the step. The last one is no failure of the package: it was not tried."""

_NO_WHEEL = re.compile(r"has no wheel that runs in Pyodide|needs \S+ of Pyodide's distribution, a shared library")
_DOWNLOAD = re.compile(r"could not be fetched|cannot be reached|does not have \S+\.whl")
_MAIN = re.compile(r"does not start in the page: The program|console script")
_SHORTER = (
    (re.compile(r"^\S*/([\w.]+)-([\w.]+)-[^/\s]*\.whl could not be fetched.*"), r"\1 \2 of Pyodide's distribution"),
    (re.compile(r"^\S+ does not have (\S+\.whl.*): put them there.*"), r"the distribution that was tried lacks \1"),
    (re.compile(r"-(?:cp|py)\d[\w.]*-\w+-\w+\.whl"), ""),
    (re.compile(r"^(\S+ \S+ has no wheel that runs in Pyodide):.*"), r"\1"),
    (re.compile(r"^The \w+ '[^']*' does not start in the page: "), ""),
)
_LEAVE_OUT = re.compile(r'leave_out = \["([A-Za-z0-9._-]+)"\]')
_MOST = 180  # characters


@dataclass(frozen=True)
class Outcome:
    """The outcome of one trial.

    Attributes:
        name: The package's name.
        digest: The `Package.digest` that it was tried with.
        version: Its version, once resolved.
        sdk: What it is written with, such as "mcp 1.30.0".
        tools: How many tools it lists.
        first_visit: The bytes of a first visit of its page, with gzip.
        seconds: How long resolving, building and calling took.
        stage: The stage that failed; empty if its tool answered.
        message: The whole error message.
        behind: What became of it without the packages that stopped it first; empty if it was not tried.
    """

    name: str
    digest: str
    version: str = ""
    sdk: str = ""
    tools: int | None = None
    first_visit: int | None = None
    seconds: float = 0.0
    stage: str = ""
    message: str = ""
    behind: str = ""

    @property
    def why(self) -> str:
        """The reason, in one line."""
        return in_one_line(self.message) if self.stage else ""

    def keep(self, folder: Path) -> None:
        """Write it into a folder."""
        write_file(folder / f"{self.name}.json", json.dumps(asdict(self), indent=2).encode())


def read_outcome(folder: Path, name: str) -> Outcome | None:
    """Return what was kept of a package; None if nothing that can be read."""
    try:
        kept = json.loads((folder / f"{name}.json").read_text("utf-8"))
        return Outcome(**{each.name: kept[each.name] for each in fields(Outcome)})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def advised_to_leave_out(message: str) -> str:
    """Return the package that an error advises to leave out; empty for none."""
    found = _LEAVE_OUT.search(message)
    return found[1] if found else ""


def stage_of(step: str, message: str) -> str:
    """Return the stage at which a trial failed.

    Args:
        step: The step that was under way.
        message: The error's message.
    """
    if _NO_WHEEL.search(message):
        return NO_WHEEL
    if _DOWNLOAD.search(message) and not step.startswith(STAGES["call"]):
        return DOWNLOAD
    if "does not start in the page: " in message:  # a build may go on without a package, with its first steps
        step = "Importing the server in Pyodide"
    stage = next((stage for stage, steps in STAGES.items() if step.startswith(steps)), "resolution")
    return MAIN if stage == "import" and _MAIN.search(message) else stage


def in_one_line(message: str) -> str:
    """Return the first line of a message that says something: the essential part of it, cut at a word."""
    line = next((line.strip() for line in message.splitlines() if line.strip()), "no reason was given")
    line = visible(line)
    for pattern, shorter in _SHORTER:
        line = pattern.sub(shorter, line)
    if len(line) <= _MOST:
        return line
    cut = line[:_MOST]
    return f"{cut[: cut.rfind(' ')]} …"
