"""A page's console is the bridge's standard error, within limits."""

from __future__ import annotations

from typing import Any

from mcpframe.kit.bridge.chromium import page_console
from mcpframe.kit.bridge.chromium.page_console import PageConsole


def call(*values: Any, type_: str = "log") -> dict[str, Any]:
    return {"type": type_, "args": [{"type": "string", "value": value} for value in values]}


def test_each_line_is_written_whatever_it_was_called_with() -> None:
    lines: list[str] = []
    console = PageConsole(lines.append)
    console.called(call("one\ntwo", 3))
    console.called({"type": "warning", "args": [{"type": "object", "description": "Object"}, {"type": "undefined"}]})
    console.called(call("internal", type_="debug"))
    assert lines == ["one", "two 3", "Object undefined"]


def test_a_page_that_writes_without_end_is_cut_and_it_is_said() -> None:
    lines: list[str] = []
    now = 0.0
    console = PageConsole(lines.append, lambda: now)
    for _ in range(page_console._MOST_AT_ONCE + 5):
        console.called(call("again"))
    assert len(lines) == page_console._MOST_AT_ONCE
    now = 1.0
    console.called(call("later"))
    assert lines[-2:] == ["(5 lines were left out: the server writes too many.)", "later"]
