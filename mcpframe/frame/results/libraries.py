"""The converters for objects of scientific libraries, by the names of their classes. No library is imported here.

Tables and arrays are bounded: a model reads the whole result. An author who wants more of one returns it in parts, or
as data of Python (`frame.to_dict("records")`), which is sent as it is.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from typing_extensions import TypedDict

from mcpframe.frame.results.content import Block, Described, Key, bytes_content, text_file
from mcpframe.frame.results.glyphs import drawn

BUNDLED_WITH = ("values",)

MOST_ROWS: Final = 100
MOST_COLUMNS: Final = 50
MOST_VALUES: Final = 1000
"""The most values of an array."""
MOST_CELL: Final = 200
"""The longest text in a cell of a table, in characters."""
MOST_TEXT: Final = 32 * 1024
"""The longest text of a table, in characters; it gets fewer rows instead."""
MOST_PIXELS: Final = 4_000_000
"""The most pixels of a picture of a figure; it gets a lower resolution instead."""


class Table(TypedDict):
    """A table: a DataFrame or a Series, with an index that is not only a row number as its first columns."""

    columns: list[str]
    rows: list[list[Any]]
    total_rows: int
    left_out: str | None


class Array(TypedDict):
    """An array of numpy. Values that do not fit are left out, and the others are one flat list."""

    shape: list[int]
    dtype: str
    values: list[Any]
    left_out: str | None


def convert(value: Any, keys: Sequence[Key]) -> Any:
    """Return an object of a library as data, a `Block` or a `Described`.

    Args:
        value: The object.
        keys: The classes that it is one of, the most special first.

    Raises:
        TypeError: There is no converter for it.
        ValueError: It is too large.
    """
    converter = next((_CONVERTERS[key] for key in keys if key in _CONVERTERS), None)
    if converter is None:
        package, name = keys[0]
        raise TypeError(
            f"A {name} of {package} is not a result of a tool: return {_INSTEAD.get(package, 'its data')}, or a text."
        )
    return converter(value)


def schema(keys: Sequence[Key]) -> Any:
    """Return the type of a converted object for an output schema; None if it is content, or has no schema."""
    return next((_SCHEMAS[key] for key in keys if key in _SCHEMAS), None)


# Tables


def _table(frame: Any) -> Described:
    shown = frame.iloc[:MOST_ROWS, :MOST_COLUMNS]
    text = _text_of(shown)
    while len(text) > MOST_TEXT and len(shown) > 1:
        shown = shown.iloc[: len(shown) // 2]
        text = _text_of(shown)
    total, columns = frame.shape
    left_out = []
    if len(shown) < total:
        left_out.append(f"{total - len(shown):,} of {total:,} rows")
    if columns > MOST_COLUMNS:
        left_out.append(f"{columns - MOST_COLUMNS:,} of {columns:,} columns")
    note = f"{' and '.join(left_out)} left out: ask for fewer, or for an aggregate." if left_out else None
    names, rows = rows_of(shown)
    data = {
        "columns": names,
        "rows": rows,
        "total_rows": total,
        "left_out": note,
    }
    return Described(data, f"{text}\n\n{note}" if note else text)


def _text_of(frame: Any) -> str:
    shown = with_index(frame)
    text: str = shown.to_string(index=False, max_colwidth=MOST_CELL, na_rep="") if shown.shape[1] else "(no columns)"
    return text


def rows_of(frame: Any) -> tuple[list[str], list[list[Any]]]:
    """Return the names of a table's columns and its rows as JSON data, those of its index first."""
    split = json.loads(with_index(frame).to_json(orient="split", date_format="iso", default_handler=str))
    return [_name(name) for name in split["columns"]], split["data"]


def with_index(frame: Any) -> Any:
    """Return a table with its index as columns, unless that only counts the rows."""
    index = frame.index
    if index.name is None and type(index).__name__ == "RangeIndex":
        return frame
    return frame.reset_index(allow_duplicates=True)


def _name(name: Any) -> str:
    """Return a column's name as a text; one of several levels is a list."""
    return " / ".join(str(part) for part in name if part != "") if isinstance(name, list) else str(name)


def _series(series: Any) -> Described:
    return _table(series.to_frame("value" if series.name is None else series.name))


# Arrays and their values


def _array(array: Any) -> Any:
    if array.ndim == 0:
        return _scalar(array)
    if array.size and "matplotlib" in sys.modules and hasattr(array.flat[0], "get_figure"):  # of `frame.hist()`
        return _figure_of(array.flat[0])
    more = array.size - MOST_VALUES
    left_out = f"{more:,} of {array.size:,} values left out: ask for fewer, or for an aggregate." if more > 0 else None
    values = (array.ravel()[:MOST_VALUES] if more > 0 else array).tolist()
    shape = list(array.shape)
    values = _json_values(values)
    data = {"shape": shape, "dtype": str(array.dtype), "values": values, "left_out": left_out}
    return Described(data, f"{array.dtype} array of shape {tuple(shape)}\n{array}", None if left_out else values)


def _json_values(values: Any) -> Any:
    if isinstance(values, list | tuple):
        return [_json_values(item) for item in values]
    if isinstance(values, float):
        return values if values - values == 0 else None  # neither infinite nor no number
    return values if values is None or isinstance(values, bool | int | str) else str(values)


def _scalar(value: Any) -> Any:
    plain = value.item()
    return str(plain) if isinstance(plain, complex) else plain


# Pictures and charts


def _figure(figure: Any) -> Block | str:
    pyplot = sys.modules.get("matplotlib.pyplot")
    inches = figure.get_figwidth() * figure.get_figheight()
    dpi = min(figure.dpi, (MOST_PIXELS / inches) ** 0.5)

    def draw() -> bytes:
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=dpi, bbox_inches="tight")
        return buffer.getvalue()

    picture, note = drawn(figure, draw)
    if pyplot is not None:
        pyplot.close(figure)  # which keeps every figure that nobody closes
    block = bytes_content(picture, "figure.png")
    return block._replace(note=note) if isinstance(block, Block) else block


def _figure_of(part: Any) -> Block | str:
    """Return the picture of the figure that axes, or a grid of seaborn, belong to."""
    return _figure(part.figure)


def _image(image: Any) -> Block | str:
    buffer = io.BytesIO()
    drawn = image if image.mode in ("1", "L", "LA", "I", "I;16", "P", "RGB", "RGBA") else image.convert("RGB")
    drawn.save(buffer, format="PNG")
    return bytes_content(buffer.getvalue(), "image.png")


def _plotly(figure: Any) -> Block:
    return text_file(figure.to_json(), "chart.plotly.json", "application/vnd.plotly.v1+json")


def _altair(chart: Any) -> Block:
    specification = chart.to_dict()
    version = specification.get("$schema", "").rpartition("/v")[2].partition(".")[0] or "5"
    return text_file(json.dumps(specification), "chart.vl.json", f"application/vnd.vegalite.v{version}+json")


_CONVERTERS: Final[dict[Key, Callable[[Any], Any]]] = {
    ("pandas", "DataFrame"): _table,
    ("pandas", "Series"): _series,
    ("pandas", "Index"): lambda index: _series(index.to_series(index=range(len(index)))),
    ("pandas", "NaTType"): lambda _: None,
    ("pandas", "NAType"): lambda _: None,
    ("pandas", "Timestamp"): lambda moment: moment.to_pydatetime(warn=False),
    ("pandas", "Timedelta"): lambda duration: duration.to_pytimedelta(),
    ("pandas", "Period"): str,
    ("pandas", "Interval"): str,
    ("numpy", "ndarray"): _array,
    ("numpy", "generic"): _scalar,
    ("matplotlib", "FigureBase"): _figure,
    ("matplotlib", "Artist"): _figure_of,
    ("seaborn", "Grid"): _figure_of,
    ("PIL", "Image"): _image,
    ("plotly", "BaseFigure"): _plotly,
    ("altair", "TopLevelMixin"): _altair,
}
"""The converters of classes and their subclasses."""

_SCHEMAS: Final[dict[Key, Any]] = {
    ("pandas", "DataFrame"): Table,
    ("pandas", "Series"): Table,
    ("pandas", "Index"): Table,
    ("numpy", "ndarray"): Array,
    ("numpy", "bool"): bool,
    ("numpy", "bool_"): bool,
    ("numpy", "integer"): int,
    ("numpy", "floating"): float,
    ("numpy", "str_"): str,
}
"""The types that output schemas have for them."""

_INSTEAD: Final = {
    "pandas": "a DataFrame or a Series (an aggregate of a group, the .data of a Styler)",
    "numpy": "an array",
    "matplotlib": "its Figure",
    "PIL": "an Image",
}
