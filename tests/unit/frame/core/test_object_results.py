"""Output schemas and structured content other than objects, withheld from receivers that know only objects."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.frame.core.object_results import with_objects

PLAIN = {"name": "a", "inputSchema": {"type": "object"}}
OBJECT = {**PLAIN, "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}


@pytest.mark.parametrize(
    "schema", [{"type": "array"}, {"anyOf": [{"type": "object"}]}, {}, {"type": ["object", "null"]}, True, "x", []]
)
def test_other_output_schemas_are_left_out_of_a_list(schema: Any) -> None:
    listed = {"tools": [OBJECT, {**PLAIN, "outputSchema": schema}], "nextCursor": "2"}
    assert with_objects("tools/list", listed) == {"tools": [OBJECT, PLAIN], "nextCursor": "2"}


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("tools/list", {"tools": [OBJECT, PLAIN, None, 5]}),
        ("tools/list", {"tools": "none"}),
        ("tools/call", {"content": [], "structuredContent": {"n": 1}}),
        ("tools/call", {"content": []}),
        ("resources/read", {"structuredContent": 1, "tools": [{"outputSchema": 1}]}),
    ],
)
def test_everything_else_is_passed_on_as_it_is(method: str, result: Any) -> None:
    assert with_objects(method, result) is result


@pytest.mark.parametrize("value", [[1, 2], "é", 5, True, None])
def test_other_structured_content_becomes_text_unless_there_is_content(value: Any) -> None:
    block = {"type": "text", "text": "said"}
    assert with_objects("tools/call", {"content": [block], "structuredContent": value}) == {"content": [block]}
    fitted = with_objects("tools/call", {"isError": False, "structuredContent": value})
    texts = {"[1, 2]", '"é"', "5", "true", "null"}
    assert fitted["content"][0]["text"] in texts
    assert set(fitted) == {"isError", "content"}
