"""`tests.support.marked`: a command writes its part of a page, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.base.errors import ConfigError
from tests.benchmarks import report
from tests.benchmarks.__main__ import PAGE
from tests.support.marked import MarkedPart
from tests.survey.table import SECTION

PART = MarkedPart("figures", "a command")


def test_the_text_is_written_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{PART.begin}\nold\n\n{PART.end}after\n")
    for _ in range(2):
        PART.write(page, "new")
    assert page.read_text() == f"before\n{PART.begin}\nnew\n\n{PART.end}after\n"
    assert PART.read(page) == "new"
    page.write_text("nothing")
    with pytest.raises(ConfigError):
        PART.write(page, "new")


@pytest.mark.parametrize(
    ("part", "page"),
    [(report.SECTION, PAGE), (SECTION, PAGE.parents[1] / "how-to" / "existing-servers.md")],
    ids=["bench", "survey"],
)
def test_the_documentation_has_the_part(part: MarkedPart, page: Path) -> None:
    assert part.read(page).count("\n| ") > 30
