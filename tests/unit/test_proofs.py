"""Each claim of the documentation stands once, in `tests/proofs.toml`, with the tests that prove it."""

from __future__ import annotations

import re

import pytest

from docs.generate import pages, proofs
from docs.generate.proofs import claims, read_proofs


def test_every_claim_has_tests_and_stands_in_one_page() -> None:
    sections = read_proofs()
    shown = "\n".join(path.read_text("utf-8") for path in pages())
    assert sorted(re.findall(r"^<!-- generated: claims (.+) -->$", shown, re.MULTILINE)) == sorted(sections)
    assert [claim for stated in sections.values() for claim, tests in stated.items() if not tests] == []


@pytest.mark.parametrize(
    ("section", "lines"),
    [("The hub's checklist", range(13, 59)), ("Page servers: What is kept to", range(1, 13))],
)
def test_the_checklists_of_mcp_b_are_whole(section: str, lines: range) -> None:
    assert [int(claim.partition(".")[0]) for claim in read_proofs()[section]] == [*lines]
    assert claims(section).count("\n| ") == len(lines)


def test_a_section_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(proofs.TestMissing, match="no section 'Nowhere'"):
        claims("Nowhere")
