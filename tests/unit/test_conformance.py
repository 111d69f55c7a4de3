"""The figures of the conformance suite in the documentation: those that its command printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.__main__ import FIGURES, PAGES, SUITES, _says


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_documentation_has_a_figure_of_each_suite(page: Path) -> None:
    [figures] = FIGURES.finditer(page.read_text("utf-8"))
    lines = [line.strip() for line in figures[0].splitlines()]
    assert [line.rpartition(": ")[0] for line in lines] == [suite.name for suite in SUITES]
    assert _says(page, lines, write=False)


def test_other_figures_are_noticed_and_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Printed:\n\n    a: 1 passed, 0 failed\n    b: 2 passed, 0 failed\n\nThe end: 3 passed, 0 failed\n")
    now = ["a: 1 passed, 0 failed", "b: 3 passed, 0 failed"]
    assert not _says(page, now, write=False)
    assert "2 passed" in page.read_text()
    assert _says(page, now, write=True)
    assert _says(page, now, write=False)
    assert page.read_text().endswith("    b: 3 passed, 0 failed\n\nThe end: 3 passed, 0 failed\n")
