"""The report: lines and a table for the terminal, and a table in Markdown for the documentation."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.table import Table

from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.kept import AGAINST, Row
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


def line(figure: Figure) -> str:
    """A figure on one line, printed as soon as it is measured."""
    name, ours, *rest = _row(figure)
    labelled = [f"{label} {text}" for label, text in zip(_HEADINGS[2:], rest, strict=True) if text]
    return f"  {name}: {'; '.join([ours, *labelled])}"


def markdown(rows: Sequence[Row], before: str = "") -> str:
    """Return the table for the documentation, and below it the days and machines that its lines come from.

    Args:
        rows: What was measured.
        before: The text that an earlier call returned. Its lines stay, but for those that were measured again.
    """
    old = [line for line in before.splitlines() if line.startswith("| ")][2:]
    lines = {_key(_cells(line)): line for line in old}
    for row in rows:
        cells = (*_row(row.figure), row.setting.date)
        lines[_key(cells)] = f"| {' | '.join(cells)} |"
    dates = {_cells(line)[-1] for line in lines.values()}
    runs = {line[2:].partition(":")[0]: line for line in before.splitlines() if line.startswith("- ")}
    busy = Counter(row.setting.date for row in rows if row.doubtful)
    for row in rows:
        date = row.setting.date
        others = (
            f" Other programs used the machine during {busy[date]} of its times, which say little."
            if busy[date]
            else ""
        )
        runs[date] = f"- {date}: {row.setting.machine}.{others}"
    heads = [(*_HEADINGS, "measured"), ("---", "--:", "--:", "--:", "---", "---", "---")]
    return "\n".join(
        [
            *(f"| {' | '.join(head)} |" for head in heads),
            *lines.values(),
            "",
            *(runs[date] for date in sorted(dates & runs.keys())),
        ]
    )


def repeats(
    rows: Sequence[Row], failed: Mapping[str, str], *, runs: int | None = None, against: Path | None = None
) -> str:
    """Return which lines and parts to measure again, and the command that does; nothing if there are none.

    Args:
        rows: What was measured.
        failed: The parts that failed, with the reason.
        runs: The rounds of each peer, if they were given.
        against: The other checkout, if any.
    """
    busy = [row for row in rows if row.doubtful]
    parts = dict.fromkeys([*(row.part for row in busy), *failed])
    if not parts:
        return ""
    lines = [f"{part} failed: {reason}" for part, reason in failed.items()]
    if busy:
        lines.append("Others used the machine during these lines (processors, on average), so that times say little:")
        lines += [f"  {row.setting.others:.1f}  {row.figure.name}" for row in busy]
    command = ["python3", "build.py", "bench"]
    for part in parts:
        command += ["--only", part] if part != AGAINST else ["--against", str(against)]
    command += ["--runs", str(runs)] if runs else []
    return "\n".join([*lines, f"Repeat: {shlex.join(command)}"])


def timelines(figure: Figure) -> Iterator[tuple[str, str]]:
    """For each peer of a figure that has one, when each step of the start was reached, and how long it took."""
    for peer, details in figure.details.items():
        steps = details.get("timeline") if isinstance(details, dict) else None
        if steps:
            before = 0.0
            lines = []
            digits = 0 if max(steps.values()) >= 100 else 2
            for name, reached in steps.items():
                lines.append(f"  {reached:7.{digits}f}  {reached - before:+7.{digits}f}  {name}")
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
