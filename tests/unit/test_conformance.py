"""The figures of the conformance suite in the documentation: those that its command printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ToolFailed
from tests.conformance.__main__ import FIGURES, PAGE, SUITES, has_figures, sum_of_scenarios


def test_the_documentation_has_a_figure_of_each_suite() -> None:
    [figures] = FIGURES.finditer(PAGE.read_text("utf-8"))
    lines = [line.strip() for line in figures[0].splitlines()]
    assert [line.rpartition(": ")[0] for line in lines] == [suite.name for suite in SUITES]
    assert has_figures(PAGE, lines, write=False)


def test_other_figures_are_noticed_and_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Printed:\n\n    a: 1 passed, 0 failed\n    b: 2 passed, 0 failed\n\nThe end: 3 passed, 0 failed\n")
    now = ["a: 1 passed, 0 failed", "b: 3 passed, 0 failed"]
    assert not has_figures(page, now, write=False)
    assert "2 passed" in page.read_text()
    assert has_figures(page, now, write=True)
    assert has_figures(page, now, write=False)
    assert page.read_text().endswith("    b: 3 passed, 0 failed\n\nThe end: 3 passed, 0 failed\n")


def test_scenarios_that_are_run_one_by_one_are_summed_and_each_has_to_check_something() -> None:
    printed = {
        "tasks-a": "[one ] SUCCESS\nPassed: 1/1, 0 failed, 0 warnings",
        "tasks-b": "[one ] SUCCESS\n\x1b[90m[two   ] \x1b[31mFAILURE\x1b[0m\nPassed: 1/2, 1 failed, 0 warnings\n",
        "tasks-c": "[one ] SKIPPED\nPassed: 0/0, 0 failed, 0 warnings",
        "tasks-d": "Passed: 1/2, 1 failed, 0 warnings",
    }
    result = sum_of_scenarios(SUITES[-1], printed)
    assert (result.passed, result.failed) == (3, 2)
    assert result.failures == ["tasks-b: two", "tasks-c: 0 of 0 passed", "tasks-d: 1 of 2 passed"]
    with pytest.raises(ToolFailed, match="tasks-e"):
        sum_of_scenarios(SUITES[-1], {"tasks-e": "Unknown scenario"})
