"""The report: a table for the terminal, one in Markdown for the documentation, and everything as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.machine import Setting
from tests.support.marked import MarkedPart

SECTION = MarkedPart("benchmarks", "python3 build.py bench --markdown")
"""The table in the documentation."""
_HEADINGS = ("figure", "mcpframe", "peer", "ratio", "goal", "met")


def table(figures: Sequence[Figure]) -> Table:
    """The table for a terminal."""
    made = Table(*_HEADINGS)
    for column in (1, 2, 3):
        made.columns[column].justify = "right"
    for figure in figures:
        style = "bold red" if figure.met is False else None
        made.add_row(*_row(figure), style=style)
    return made


def markdown(figures: Sequence[Figure], setting: Setting, before: str = "") -> str:
    """Return the table for the documentation, and below it the runs that its lines come from.

    Args:
        figures: The figures of this run.
        setting: Its setting.
        before: The text that an earlier call returned. Its lines stay, but for those that were measured again.
    """
    old = [line for line in before.splitlines() if line.startswith("| ")][2:]
    lines = {_key(_cells(line)): line for line in old}
    for figure in figures:
        row = (*_row(figure), setting.date)
        lines[_key(row)] = f"| {' | '.join(row)} |"
    dates = {_cells(line)[-1] for line in lines.values()}
    runs = {line[2:].partition(":")[0]: line for line in before.splitlines() if line.startswith("- ")}
    busy = f" The machine was busy (load {setting.load}): times vary." if setting.busy else ""
    runs[setting.date] = f"- {setting.date}: {setting.machine}.{busy}"
    heads = [(*_HEADINGS, "measured"), ("---", "--:", "--:", "--:", "---", "---", "---")]
    return "\n".join(
        [
            *(f"| {' | '.join(head)} |" for head in heads),
            *lines.values(),
            "",
            *(runs[date] for date in sorted(dates & runs.keys())),
        ]
    )


def as_json(figures: Sequence[Figure], setting: Setting) -> dict[str, Any]:
    """Everything that was measured."""
    return {
        "setting": asdict(setting),
        "figures": [{**asdict(figure), "ratio": figure.ratio, "met": figure.met} for figure in figures],
    }


def timelines(figure: Figure) -> Iterator[tuple[str, str]]:
    """For each peer of a figure that has one, when each step of the start was reached, and how long it took."""
    for peer, details in figure.details.items():
        steps = details.get("timeline") if isinstance(details, dict) else None
        if steps:
            before = 0.0
            lines = []
            for name, reached in steps.items():
                lines.append(f"  {reached:7.0f}  {reached - before:+7.0f}  {name}")
                before = reached
            yield peer, "\n".join(lines)


def _key(cells: Sequence[str]) -> tuple[str, str]:
    return cells[0], cells[2].partition(" (")[2]  # the figure and its peer's name


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split("|")]


def _row(figure: Figure) -> tuple[str, ...]:
    peer = "" if figure.peer is None else f"{number(figure.peer, figure.unit)} ({figure.peer_name})"
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
    met = {None: "", True: "yes", False: "no"}[figure.met]
    return figure.name, number(figure.ours, figure.unit), peer, ratio, _goal(figure.goal, figure.unit), met


def _goal(goal: Goal | None, unit: str) -> str:
    if goal is None:
        return ""
    parts = [] if goal.ratio is None else [f"≤ {goal.ratio:g} x peer"]
    parts += [] if goal.value is None else [f"≤ {number(goal.value, unit, exact=True)}"]
    return ", ".join(parts)


def number(value: float, unit: str, *, exact: bool = False) -> str:
    """A value with its unit: three digits, or all of them where it is exact or a count."""
    if exact:
        text = f"{value:g}"
    elif not unit:
        text = f"{value:,.0f}"
    else:
        text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return f"{text} {unit}".rstrip()
