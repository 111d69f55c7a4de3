"""Rows in the forms for people, clients and files."""

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import Any

MAX_CELL = 80
MAX_TEXT = 40_000
_SAFE_INTEGER = 2**53  # JavaScript, which every message passes, rounds larger ones


def as_json(value: Any) -> Any:
    """Return a value of SQLite for JSON: large integers as text, and the size of binary data."""
    if isinstance(value, bytes):
        return f"<{len(value):,} bytes>"
    if isinstance(value, int) and abs(value) > _SAFE_INTEGER:
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def as_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows as a table of text; if it is cut, the last line says so."""
    cells = [[cell_text(value) for value in row] for row in rows]
    numeric = [all(isinstance(row[at], int | float) or row[at] is None for row in rows) for at in range(len(columns))]
    widths = [max(len(cell_text(name)), *(len(row[at]) for row in cells), 1) for at, name in enumerate(columns)]

    def line(row: Sequence[str]) -> str:
        parts = (
            text.rjust(width) if number else text.ljust(width)
            for text, width, number in zip(row, widths, numeric, strict=True)
        )
        return " | ".join(parts).rstrip()

    lines = [line([cell_text(name) for name in columns]), "-+-".join("-" * width for width in widths)]
    length = sum(map(len, lines))
    for number, row in enumerate(cells):
        made = line(row)
        length += len(made) + 1
        if length > MAX_TEXT:
            lines.append(f"… {len(cells) - number:,} more rows")
            break
        lines.append(made)
    return "\n".join(lines)


def as_csv(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows as CSV (RFC 4180), which spreadsheets open."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([value.hex() if isinstance(value, bytes) else value for value in row] for row in rows)
    return out.getvalue()


def as_json_text(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows as JSON: an array of objects."""
    written = [json.dumps(dict(zip(columns, map(_exported, row), strict=True)), ensure_ascii=False) for row in rows]
    return "[\n" + ",\n".join(f"  {item}" for item in written) + "\n]\n"


def _exported(value: Any) -> Any:
    # Numbers in a file are not rounded: only values that JSON lacks are changed.
    return value.hex() if isinstance(value, bytes) else value if not isinstance(value, float) else as_json(value)


def cell_text(value: Any) -> str:
    """Return a value of SQLite as one line of text."""
    text = "" if value is None else f"{value:.10g}" if isinstance(value, float) else str(as_json(value))
    text = text.replace("\n", " ").replace("\r", "")
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"
