"""Each line of the hub's checklist has its claim in the documentation, and tests."""

from __future__ import annotations

import re
from pathlib import Path

from docs.generate.proofs import read_proofs

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "hub-checklist.md"


def test_each_line_of_the_checklist_has_tests() -> None:
    claims = read_proofs()["The hub's checklist"]
    shown = re.findall(r"^\| (\d+) \| (.+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [int(number) for number, _ in shown] == [*range(13, 59)]
    assert [*claims] == [f"{number}. {claim}" for number, claim in shown]
    assert all(claims.values())
