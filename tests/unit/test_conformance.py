"""The figures of the conformance suite in the documentation: those that its command printed."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.__main__ import FIGURES, PAGE, SUITES, has_figures


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
