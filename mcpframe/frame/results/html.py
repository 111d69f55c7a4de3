"""Objects of Python's libraries in a page: a table, a text or a picture, with the bounds of results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mcpframe.frame.core.errors import PageError
from mcpframe.frame.core.markup import escape
from mcpframe.frame.results.content import Block
from mcpframe.frame.results.conversion import Result, converted

_ADVICE = "Pass the path of an asset, a DataFrame, a Series, an array, a figure of matplotlib, or an image."


def html_of(value: object) -> str:
    """Return an object as HTML: a table, a picture, or the text of an array.

    Raises:
        PageError: It has no such form, or is too large.
    """
    try:
        result = converted(value)
    except (TypeError, ValueError) as error:
        raise PageError(f"This cannot be shown: {error} {_ADVICE}") from error
    if isinstance(result, Block) and result.fields["type"] == "image":
        note = f"<p>{escape(result.note)}</p>" if result.note else ""
        return f'<img alt="" src="data:{result.kind};base64,{result.fields["data"]}">{note}'
    if isinstance(result, Result) and "columns" in result.data:
        return table_html(result.data["columns"], result.data["rows"], result.data["left_out"] or "")
    if isinstance(result, Result) and isinstance(text := result.content[0], str):
        return f"<pre>{escape(text)}</pre>"
    raise PageError(f"An object of type {type(value).__name__} cannot be shown. {_ADVICE}")


def table_html(columns: Iterable[str], rows: Iterable[Iterable[Any]], caption: str = "") -> str:
    """Return a table as HTML."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    note = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{note}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Iterable[Any]) -> str:
    return "".join(f"<td>{'' if value is None else escape(str(value))}</td>" for value in row)
