"""Rows of objects as tables, such as the result of a tool that returns `list[Model]`."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

from inspector.forms.json_values import same
from inspector.results.tree import STEP, add_more, preview
from mcpframe import Element, Page

MAX_COLUMNS = 50
MAX_TEXT = 200
"""The characters of a cell; the whole text is in the tree."""

Rows = list[dict[str, Any]]


def tables_in(value: Any) -> dict[str, Rows]:
    """Return the lists of objects in a value by their names: the value itself, without a name, or its members."""
    parts = {"": value} if isinstance(value, list) else value if isinstance(value, dict) else {}
    return {name: part for name, part in parts.items() if _columns(part)}


def repeats(said: Any, structured: Any) -> bool:
    """Return whether the value that a result's texts have is that of its structured content, whole or unwrapped."""
    wholes = [structured]
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        wholes.append(structured["result"])
    return any(same(said, whole) or same([said], whole) for whole in wholes)


def show_table(page: Page, place: Element, name: str, rows: Rows) -> None:
    """Show rows as a table in an area that scrolls, the first ones at once."""
    columns = _columns(rows)
    if name:
        place.add("p", name, class_="result-title")
    area = place.add("div", class_="result-rows", role="region", tabindex="0", aria_label=f"Table {name}".strip())
    table = area.add("table")
    head = table.add("thead").add("tr")
    for column in columns:
        head.add("th", column, scope="col")
    _add_rows(page, area, table.add("tbody"), columns, rows, 0)


def _add_rows(page: Page, area: Element, body: Element, columns: list[str], rows: Rows, first: int) -> None:
    for row in islice(rows, first, first + STEP):
        line = body.add("tr")
        for column in columns:
            _add_cell(line, row, column)
    following = first + STEP
    if following < len(rows):

        def more() -> None:
            _add_rows(page, area, body, columns, rows, following)
            area.focus()

        add_more(area, len(rows) - following, more)


def _add_cell(line: Element, row: dict[str, Any], column: str) -> None:
    if column not in row:
        line.add("td")
        return
    value = row[column]
    if isinstance(value, str):
        text = value
    elif isinstance(value, dict | list) and len(value) > 3:
        text = preview(value)
    else:
        text = json.dumps(value, ensure_ascii=False)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    kind = "tree-number" if is_number else "tree-null" if value is None else None
    line.add("td", text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…", class_=kind)


def _columns(value: Any) -> list[str]:
    """Return the columns of rows, in the order of their first occurrence; none if a value is not a table."""
    if not isinstance(value, list):
        return []
    columns: dict[str, None] = {}
    for row in value:
        if not isinstance(row, dict):
            return []
        columns.update(dict.fromkeys(row))
        if len(columns) > MAX_COLUMNS:
            return []
    return list(columns)
