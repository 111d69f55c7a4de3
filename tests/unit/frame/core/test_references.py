"""References within a JSON Schema."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.frame.core.references import resolve_reference

ROOT: dict[str, Any] = {"a": {"b": [1, {"c": 2}], "": 3, "x/y~z %": 4, "0": 5}, "$defs": {"none": None}}


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("#", ROOT),
        ("#/a/b/1/c", 2),
        ("#/a/", 3),
        ("#/a/x~1y~0z%20%25", 4),
        ("#/a/0", 5),
        *((each, None) for each in ("#/$defs/none", "#/b", "#/a/b/2", "#/a/b/-1", "#/a/b/" + "9" * 5000, "#/a/b/0/c")),
        *((each, None) for each in ("", "a", "#a", "/a", "other.json#/a", "https://a.example/#/a", 7, None, ["#"])),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_reference_leads_to_a_part_of_its_own_document_only(reference: Any, target: Any) -> None:
    assert resolve_reference(reference, ROOT) == target
