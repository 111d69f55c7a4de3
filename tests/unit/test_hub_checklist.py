"""Each line of the checklists of MCP-B has its claim in the documentation, and tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate.proofs import read_proofs

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "section", "lines"),
    [
        ("reference/hub-checklist.md", "The hub's checklist", range(13, 59)),
        ("how-to/page-servers.md", "Page servers: What is kept to", range(1, 13)),
    ],
)
def test_each_line_of_the_checklist_has_tests(page: str, section: str, lines: range) -> None:
    claims = read_proofs()[section]
    shown = re.findall(r"^\| (\d+) \| (.+) \|$", (DOCS / page).read_text("utf-8"), re.MULTILINE)
    assert [int(number) for number, _ in shown] == [*lines]
    assert [*claims] == [f"{number}. {claim}" for number, claim in shown]
    assert all(claims.values())
