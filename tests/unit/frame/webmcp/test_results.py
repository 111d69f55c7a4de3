"""Results of a document's tools, as results of MCP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpframe.frame.webmcp.client import result_of

BLOCKS = [
    {"type": "text", "text": ""},
    {"type": "image", "data": "", "mimeType": "image/png"},
    {"type": "resource", "resource": {"uri": "a:b", "text": ""}},
    {"type": "resource_link", "uri": "a:b", "name": "n"},
]


@pytest.mark.parametrize("blocks", [[], BLOCKS])
def test_results_of_mcp_are_passed_on(blocks: Any) -> None:
    assert result_of(json.dumps({"content": blocks})) == {"content": blocks, "isError": False}


@pytest.mark.parametrize(
    "text",
    ["", "text", "7", "null", "[]", "{}", "{", '{"content": "text"}', '{"content": [7]}', "[" * 100_000]
    + [json.dumps({"content": [block]}) for block in ({}, {"type": "text"}, {"type": "odd"}, {"type": "resource"})]
    + [json.dumps({"content": [{"type": ["text"], "text": ""}]})],
)
def test_all_else_is_text(text: str) -> None:
    assert result_of(text) == {"content": [{"type": "text", "text": text}], "isError": False}


def test_no_result_has_no_content() -> None:
    assert result_of(None) == {"content": [], "isError": False}
