"""The table of engines other than Chromium: `python -m docs.generate.engines` plays it, and writes it into the page.

It needs the engines and takes minutes, so `build.py docs` leaves it alone. `tests/browser/test_engines.py` compares its
outcomes with those of a run. `--new` plays only the scenarios that the page lacks.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from docs.generate import ROOT
from tests.browser.engines import KINDS, Kind
from tests.browser.scenarios import SCENARIOS
from tests.browser.stage import Stage, staged
from tests.support.marked import MarkedPart

PAGE = ROOT / "docs" / "reference" / "engines.md"
UNSETTABLE = "not tried: its driver cannot set this"

SECTION = MarkedPart("engines", "python -m docs.generate.engines")


def outcomes_of(
    kind: Kind, program: str, stage: Stage, folder: Path, known: Mapping[str, Mapping[str, str]]
) -> tuple[str, dict[str, str]]:
    """Play all scenarios in an engine, except for those whose outcomes are known.

    Returns:
        The engine's title with the version, and the outcomes by the scenarios' titles.
    """
    outcomes = {}
    with kind.running(program, folder / kind.name) as engine:
        title = f"{kind.title} {engine.version}"
        for scenario in SCENARIOS:
            if scenario.title in known:
                outcome = known[scenario.title][kind.title]
            elif not scenario.settings:
                outcome = scenario.play(engine, stage)
            elif kind.name != "firefox":
                outcome = UNSETTABLE
            else:
                with kind.running(program, folder / scenario.name, scenario.settings) as other:
                    outcome = scenario.play(other, stage)
            print(f"{title}: {scenario.name}: {outcome}", flush=True)
            outcomes[scenario.title] = outcome
    return title, outcomes


def table_of(engines: Mapping[str, Mapping[str, str]]) -> str:
    """Return the table in Markdown: a row for each scenario, and a column for each engine."""
    rows = {scenario.title: [each[scenario.title] for each in engines.values()] for scenario in SCENARIOS}
    lines = [f"| | {' | '.join(engines)} |", f"|---|{'---|' * len(engines)}"]
    lines += [f"| {title} | {' | '.join(outcomes)} |" for title, outcomes in rows.items()]
    return "\n".join(lines) + "\n"


def written() -> dict[str, dict[str, str]]:
    """Return the outcomes that the documentation has, by the titles of scenario and engine."""
    lines = SECTION.read(PAGE).splitlines()
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    titles = [title.partition(" ")[0] for title in head[1:]]
    return {title: dict(zip(titles, cells, strict=True)) for title, *cells in rows}


def main() -> int:
    """Play the scenarios in all engines, or those that the page lacks, and write the table into the page."""
    engines = {}
    known = written() if "--new" in sys.argv[1:] else {}
    with tempfile.TemporaryDirectory() as folder, staged(Path(folder)) as stage:
        for kind in KINDS:
            if (program := kind.find()) is None:
                raise SystemExit(f"No {kind.title} is installed, and none could be: install {kind.package}.")
            title, outcomes = outcomes_of(kind, program, stage, Path(folder), known)
            engines[title] = outcomes
    table = table_of(engines)
    SECTION.write(PAGE, table)
    print(table, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
