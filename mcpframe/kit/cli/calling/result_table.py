"""A tool's result as tables, for a person at a terminal: rows of objects, as of a tool that returns `list[Model]`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rich import box
from rich.table import Table

from mcpframe.kit.cli.shared.output import escape, out

_MOST_COLUMNS = 12
_MISSING = object()


def print_tables(result: Mapping[str, Any]) -> bool:
    """Print a result whose texts are the JSON of rows as tables, and return whether it is one."""
    said = _value_of(result.get("content"))
    value = result.get("structuredContent", said)
    parts = {"": value} if isinstance(value, list) else value if isinstance(value, dict) else {}
    tables = {name: columns for name, part in parts.items() if (columns := _columns(part))}
    if said is _MISSING or not tables:
        return False
    for name, part in parts.items():
        label = "" if name == "result" and len(parts) == 1 else name
        if name in tables:
            _print_table(label, tables[name], part)
        else:
            out.print(f"{escape(label)}: {escape(json.dumps(part, ensure_ascii=False))}")
    return True


def _print_table(name: str, columns: list[str], rows: list[dict[str, Any]]) -> None:
    if name:
        out.print(f"{escape(name)}:")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        values = [row[column] for row in rows if column in row]
        is_number = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        table.add_column(escape(column), justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(_text(row.get(column, ""))) for column in columns))
    out.print(table, soft_wrap=False)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _columns(value: Any) -> list[str]:
    """Return the columns of rows, in the order of their first occurrence; none if a value is not a table."""
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        return []
    columns = list(dict.fromkeys(name for row in value for name in row))
    return columns if len(columns) <= _MOST_COLUMNS else []


def _value_of(content: Any) -> Any:
    """Return the JSON value of texts, which are its parts if there are several; `_MISSING` for any other content."""
    try:
        values = [json.loads(block["text"]) for block in content or ()]
    except (KeyError, ValueError, RecursionError):
        return _MISSING
    return values[0] if len(values) == 1 else values
