"""The table in the documentation: each line about the proxy and the hub names tests, and they are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "reference" / "hub-checklist.md").read_text("utf-8")


@pytest.mark.parametrize("line", range(13, 59))
def test_each_line_of_the_checklist_names_its_tests(line: int) -> None:
    row = re.search(rf"^\| {line} \| [^|]+ \| (`[^|]+`) \|$", TEXT, re.MULTILINE)
    assert row is not None
    for named in row[1].split(", "):
        path, _, name = named.strip("`").partition("::")
        assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE), named
