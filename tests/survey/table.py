"""The outcomes of a survey as a table, for a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.support.marked import MarkedPart
from tests.survey.outcomes import DOWNLOAD, Outcome
from tests.survey.packages import Package

SECTION = MarkedPart("survey", "python3 build.py survey --markdown")
"""The table in the documentation."""
_HEAD = ("package", "version", "SDK", "tools", "first visit", "seconds", "a tool's call")


def rows(packages: Sequence[Package], outcomes: Mapping[str, Outcome]) -> list[tuple[str, ...]]:
    """Return a row for each package that was tried."""
    found = []
    for package in packages:
        if outcome := outcomes.get(package.name):
            size = "" if outcome.first_visit is None else f"{outcome.first_visit / 1e6:.1f} MB"
            tools = "" if outcome.tools is None else str(outcome.tools)
            seconds = f"{outcome.seconds:.0f}"
            told = f"{outcome.stage}: {outcome.why}" if outcome.stage else f"`{package.tool}` answers"
            told += f" (needs {package.needs})" if package.needs and outcome.stage else ""
            told += f"; {outcome.behind}" if outcome.behind else ""
            found.append((package.name, outcome.version, outcome.sdk, tools, size, seconds, told))
    return found


def summary(packages: Sequence[Package], outcomes: Mapping[str, Outcome]) -> str:
    """Return a sentence with how many packages answer."""
    tried = [package for package in packages if package.name in outcomes]
    unreached = [package for package in tried if outcomes[package.name].stage == DOWNLOAD]
    tried = [package for package in tried if package not in unreached]
    fair = [package for package in tried if not package.needs]
    good, fair_good = (sum(not outcomes[each.name].stage for each in some) for some in (tried, fair))
    sentence = (
        f"{good} of {len(tried)} packages answer, and {fair_good} of the {len(fair)} that need no sockets, other "
        "programs or native code without a WebAssembly wheel."
    )
    if unreached:
        sentence += (
            f" {len(unreached)} more could not be built where the survey ran: they need packages of Pyodide's own "
            "distribution, which was not reachable."
        )
    return sentence


def as_text(packages: Sequence[Package], outcomes: Mapping[str, Outcome]) -> str:
    """Return the table for a terminal."""
    table = [_HEAD, *rows(packages, outcomes)]
    widths = [max(len(row[column]) for row in table) for column in range(len(_HEAD) - 1)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in table
    ]
    return "\n".join([*lines, "", summary(packages, outcomes)])


def as_markdown(packages: Sequence[Package], outcomes: Mapping[str, Outcome]) -> str:
    """Return the table in Markdown."""
    lines = [_line(_HEAD), _line(("---",) * len(_HEAD)), *map(_line, rows(packages, outcomes))]
    return "\n".join([summary(packages, outcomes), "", *lines]) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
