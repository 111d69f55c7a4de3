"""Tools as a model sees them."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.kit.publish.bundle_checks.tools import check_tools

GOOD: dict[str, Any] = {
    "name": "add",
    "description": "Add two numbers.",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integer", "description": "The first"}}},
}


def test_a_good_tool_has_no_finding() -> None:
    assert list(check_tools([GOOD])) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "add numbers"}, "warning: It has a name with other characters"),
        ({"description": " "}, "warning: It has no description"),
        ({"description": "x" * 2049}, "warning: It has a description of 2,049 characters"),
        ({"inputSchema": {"type": "object", "properties": {"a": {}}}}, "warning: Its argument 'a' has no description"),
        ({"inputSchema": {"type": "objekt"}}, "error: The schema of its arguments is invalid"),
        ({"inputSchema": {"type": "array"}}, "error: The schema of its arguments is not of type object"),
        ({"outputSchema": {"type": "object", "required": 3}}, "error: The schema of its result is invalid"),
    ],
)
def test_each_thing_that_is_wrong(change: dict[str, Any], said: str) -> None:
    [finding] = check_tools([{**GOOD, **change}])
    assert f"{finding.severity}: {finding.message}".startswith(said)
    assert finding.remedy


def test_two_of_one_name_and_none_at_all() -> None:
    assert [item.message for item in check_tools([GOOD, GOOD])] == ["Two tools have this name."]
    assert [item.subject for item in check_tools([])] == ["tools"]
