"""Rows of objects on a terminal."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.console import Console

from mcpframe.kit.cli.calling import result_table

MODELS = [{"name": "[b]a", "price": 1.5}, {"name": "exe.\u202egpj", "price": 20, "tags": ["x"]}]


def text_of(value: Any) -> dict[str, Any]:
    return {"type": "text", "text": json.dumps(value)}


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    file = io.StringIO()
    monkeypatch.setattr(result_table, "out", Console(file=file, width=60, highlight=False, soft_wrap=True))
    return file


@pytest.mark.parametrize(
    "result",
    [
        {"content": [*map(text_of, MODELS)], "structuredContent": {"result": MODELS}},
        {"content": [*map(text_of, MODELS)]},
        {"content": [text_of(MODELS)]},
        {"content": [], "structuredContent": {"result": MODELS}},
    ],
)
def test_rows_are_a_table(printed: io.StringIO, result: dict[str, Any]) -> None:
    assert result_table.print_tables(result)
    head, rule, *rows = [line.split() for line in printed.getvalue().splitlines() if line.strip()]
    assert head == ["name", "price", "tags"]
    assert set("".join(rule)) == {"─"}
    assert rows == [["[b]a", "1.5"], [r"exe.\u202egpj", "20", '["x"]']]


def test_what_is_beside_the_rows_is_a_line(printed: io.StringIO) -> None:
    value = {"total": 2, "items": [{"n": 1}]}
    assert result_table.print_tables({"content": [text_of(value)], "structuredContent": value})
    lines = [line.strip() for line in printed.getvalue().splitlines() if line.strip()]
    assert lines[:3] == ["total: 2", "items:", "n"]


@pytest.mark.parametrize(
    "result",
    [
        {"content": [text_of([1, 2])], "structuredContent": {"result": [1, 2]}},
        {"content": [{"type": "text", "text": "Found."}], "structuredContent": {"items": MODELS}},
        {"content": [text_of(MODELS), {"type": "image", "data": "", "mimeType": "image/png"}]},
        {"content": [text_of([{str(at): at for at in range(30)}])]},
        {"content": [text_of({})], "structuredContent": {}},
        {"content": []},
    ],
)
def test_any_other_result_is_none(printed: io.StringIO, result: dict[str, Any]) -> None:
    assert not result_table.print_tables(result)
    assert printed.getvalue() == ""
