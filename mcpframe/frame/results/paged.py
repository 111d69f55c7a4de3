"""Large values in pages: tables, arrays, rows, texts, files and pictures. No library is imported for them.

A table is anything with rows: a DataFrame or a Series of pandas, or a sequence of rows. A row is a list, a tuple or a
dict; a sequence may name its columns by an attribute `columns`. A sequence of an author's own may so stand for rows
that are elsewhere, such as in a database: it is asked for its length and for slices, never for all of its items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from sys import getsizeof
from typing import Any, Final, NamedTuple

from pydantic_core import to_json

from mcpframe.frame.core.errors import KeptError
from mcpframe.frame.core.jsonrpc import MAX_INTEGER
from mcpframe.frame.core.limits import KEPT_PAGE_BYTES, KEPT_PAGE_ROWS
from mcpframe.frame.results.content import MOST_BYTES, Block, media_type
from mcpframe.frame.results.conversion import converted, library_keys, library_table

_NAMED_COLUMNS: Final = 50
_PICTURES: Final = frozenset({"PIL", "altair", "matplotlib", "plotly", "seaborn"})
_UNKNOWN_SIZE: Final = 1024 * 1024
"""The bytes that a picture counts as: a figure does not know how much memory its data take."""
_SAMPLED_ROWS: Final = 100


class Excerpt(NamedTuple):
    """A page of a value.

    Attributes:
        content: Its content: a text or JSON, or bytes.
        media_type: Its media type.
        end: Where the next page begins; None for the last one.
    """

    content: str | bytes
    media_type: str
    end: int | None


class Rows(NamedTuple):
    """Some rows of a table, as JSON values."""

    columns: list[str]
    rows: list[list[Any]]


class Paged:
    """A value that is read in pages.

    Attributes:
        value: The value.
        kind: What it is: `table`, `array`, `text`, `file` or `picture`.
        shape: Rows and columns of a table, the shape of an array, the characters of a text, the bytes of a file.
        columns: The names of the first columns of a table; otherwise empty.
        facts: The kind, shape and types in words, with no value of the data.
        size: Its size in memory, in bytes; estimated for rows of Python's objects.
        media_type: The media type of its pages.
    """

    kind = ""
    columns: Sequence[str] = ()
    media_type = "application/json"

    def __init__(self, value: Any, shape: Sequence[int], size: int, facts: str) -> None:
        self.value = value
        self.shape = [int(each) for each in shape]
        self.size = int(size)
        self.facts = facts

    @property
    def length(self) -> int:
        """How many rows, values, characters or bytes there are to page through."""
        return self.shape[0]

    def excerpt(self, offset: int, limit: int | None, address: Callable[[int], str]) -> Excerpt:
        """Return a page.

        Args:
            offset: Its first row, value, character or byte.
            limit: The most of them; None for as many as a page has. There are never more than that.
            address: Returns the address of a page by its offset: a page as JSON names the next one.

        Raises:
            KeptError: A single row is larger than a page, or a file is gone.
        """
        raise NotImplementedError

    def _json_excerpt(
        self,
        offset: int,
        stop: int,
        address: Callable[[int], str],
        part: Callable[[int], Mapping[str, Any]],
        unit: str,
    ) -> Excerpt:
        """Return the part from `offset` to `stop` as JSON: half of it until it is small enough for a page."""
        while True:
            end = stop if stop < self.length else None
            place = {"offset": offset, f"total_{unit}s": self.length, "next": None if end is None else address(end)}
            text = to_json({**part(stop), **place}, fallback=str, inf_nan_mode="null")
            if len(text) <= KEPT_PAGE_BYTES:
                return Excerpt(text.decode(), self.media_type, end)
            if stop - offset <= 1:
                raise KeptError(
                    f"{unit.capitalize()} {offset} is larger than a page of {KEPT_PAGE_BYTES:,} bytes: read on at "
                    f"{offset + 1}, or call a tool that selects less."
                )
            stop = offset + (stop - offset) // 2


class PagedTable(Paged):
    """Rows with columns.

    Args:
        read: Returns the rows from one number up to another.
    """

    kind = "table"

    def __init__(
        self, value: Any, shape: tuple[int, int], size: int, columns: Sequence[tuple[str, str]], read: Read
    ) -> None:
        listed = [f"{name} ({kind})" if kind else name for name, kind in columns[:_NAMED_COLUMNS]]
        more = f" and {shape[1] - len(listed):,} more" if shape[1] > len(listed) else ""
        counted = f"a table of {_count(shape[0], 'row')} and {_count(shape[1], 'column')}"
        super().__init__(value, shape, size, f"{counted}: {', '.join(listed)}{more}" if listed else counted)
        self.columns = [name for name, _ in columns[:_NAMED_COLUMNS]]
        self._read = read

    def rows(self, start: int, stop: int) -> Rows:
        """Return the rows from one number up to another."""
        return self._read(start, stop)

    def excerpt(self, offset: int, limit: int | None, address: Callable[[int], str]) -> Excerpt:
        """Return some rows as JSON: `columns`, `rows`, `offset`, `total_rows`, and in `next` the address of a page."""
        stop = min(offset + min(limit or KEPT_PAGE_ROWS, KEPT_PAGE_ROWS), self.length)
        return self._json_excerpt(
            offset, stop, address, lambda stop: self._read(offset, max(stop, offset))._asdict(), "row"
        )


class PagedArray(Paged):
    """An array of numpy; its pages have its values in one flat list, in C order."""

    kind = "array"

    def __init__(self, value: Any) -> None:
        facts = f"an array of {value.dtype} and the shape {tuple(value.shape)}"
        super().__init__(value, value.shape, value.nbytes, facts)

    @property
    def length(self) -> int:
        """How many values there are."""
        return int(self.value.size)

    def excerpt(self, offset: int, limit: int | None, address: Callable[[int], str]) -> Excerpt:
        """Return some values as JSON: `shape`, `dtype`, `values`, `offset`, `total_values` and `next`."""
        stop = min(offset + min(limit or KEPT_PAGE_ROWS * 10, KEPT_PAGE_ROWS * 10), self.length)

        def part(stop: int) -> Mapping[str, Any]:
            items = self.value.flat[offset:stop]  # of nanoseconds, `tolist` makes integers
            values = (items.astype(str) if items.dtype.kind == "M" else items).tolist()
            return {"shape": self.shape, "dtype": str(self.value.dtype), "values": [_cell(each) for each in values]}

        return self._json_excerpt(offset, stop, address, part, "value")


class PagedText(Paged):
    kind, media_type = "text", "text/plain"

    def __init__(self, value: str) -> None:
        super().__init__(value, [len(value)], getsizeof(value), f"a text of {_count(len(value), 'character')}")

    def excerpt(self, offset: int, limit: int | None, address: Callable[[int], str]) -> Excerpt:
        """Return some characters."""
        most = KEPT_PAGE_BYTES // 4  # of 4 bytes each
        end = offset + min(limit or most, most)
        return Excerpt(self.value[offset:end], self.media_type, end if end < self.length else None)


class PagedFile(Paged):
    """Bytes, or a file by its path, which is read when a page is."""

    kind = "file"

    def __init__(self, value: bytes | bytearray | memoryview | Path) -> None:
        size = value.stat().st_size if isinstance(value, Path) else memoryview(value).nbytes
        if isinstance(value, Path) and not value.is_file():  # reading a pipe may never end
            raise KeptError(f"{value.name} is not a file: keep the Path of one.")
        name = value.name if isinstance(value, Path) else ""
        super().__init__(value, [size], size, f"the file {name} of {_count(size, 'byte')}".replace("  ", " "))
        import mimetypes  # late: as in `content`

        guessed, encoding = mimetypes.guess_type(name)
        kind = media_type(self._bytes(0, 32))
        if guessed and encoding is None and kind in (None, "application/zip"):  # the container of a workbook
            kind = guessed
        self.media_type = kind or _BYTES

    def excerpt(self, offset: int, limit: int | None, address: Callable[[int], str]) -> Excerpt:
        """Return some bytes: those of a whole file that is small enough for a result."""
        end = offset + min(limit or MOST_BYTES, MOST_BYTES)
        return Excerpt(self._bytes(offset, end), self.media_type, end if end < self.length else None)

    def _bytes(self, start: int, stop: int) -> bytes:
        if not isinstance(self.value, Path):
            return bytes(memoryview(self.value).cast("B")[start:stop])
        try:
            with self.value.open("rb") as file:
                file.seek(start)
                return file.read(max(stop - start, 0))
        except OSError as error:
            raise KeptError(f"The file {self.value.name} is gone: call the tool that wrote it again.") from error


class PagedPicture(Paged):
    """A figure, an image or a chart. It is drawn when it is read."""

    kind = "picture"

    def __init__(self, value: Any, name: str) -> None:
        super().__init__(value, [], _UNKNOWN_SIZE, f"a picture ({name})")

    @property
    def length(self) -> int:
        """One: a picture has no pages."""
        return 1

    def excerpt(self, offset: int, limit: int | None, address: Callable[[int], str]) -> Excerpt:
        """Return the picture, or the JSON of a chart."""
        drawn = converted(self.value)
        if not isinstance(drawn, Block):
            raise KeptError(f"This cannot be drawn: {type(self.value).__name__}.")
        return Excerpt(drawn.data, drawn.kind, None)


_BYTES = "application/octet-stream"
Read = Callable[[int, int], Rows]


def paged(value: Any) -> Paged:
    """Return a value in pages.

    Raises:
        TypeError: It has no pages. The text says what has.
        KeptError: A path is not that of a file.
        OSError: The file at a path cannot be read.
    """
    keys = library_keys(type(value))
    names = {name for package, name in keys if package == "pandas"}
    if "DataFrame" in names:
        return _frame(value)
    if "Series" in names:
        return _frame(value.to_frame("value" if value.name is None else value.name), value)
    if ("numpy", "ndarray") in keys and value.ndim:
        return PagedArray(value)
    if keys and keys[0][0] in _PICTURES:
        return PagedPicture(value, keys[0][1])
    if isinstance(value, str):
        return PagedText(value)
    if isinstance(value, bytes | bytearray | memoryview | Path):
        return PagedFile(value)
    if isinstance(value, Sequence):
        return _sequence(value)
    raise TypeError(
        f"An object of type {type(value).__name__} cannot be kept: keep a DataFrame, an array, a list of rows, a text, "
        "bytes, the Path of a file or a figure."
    )


def _frame(frame: Any, value: Any = None) -> PagedTable:
    libraries = library_table()

    def read(start: int, stop: int) -> Rows:
        names, rows = libraries.rows_of(frame.iloc[start:stop])
        return Rows(names, [[_cell(each) for each in row] for row in rows])

    shown = libraries.with_index(frame.iloc[:0])
    named, kinds = libraries.rows_of(frame.iloc[:0])[0], map(str, shown.dtypes)
    columns = list(zip(named, kinds, strict=True))
    size = frame.memory_usage(deep=True).sum()
    return PagedTable(frame if value is None else value, (len(frame), len(columns)), size, columns, read)


def _sequence(items: Sequence[Any]) -> PagedTable:
    first = items[0] if len(items) else ()
    named = getattr(items, "columns", None) or getattr(first, "_fields", None)
    if named is None and isinstance(first, Mapping):
        named = list(first)
    if named is None:
        named = range(len(first)) if isinstance(first, list | tuple) else ["value"]
    names = [str(name) for name in named]

    def read(start: int, stop: int) -> Rows:
        return Rows(names, [_row(item, names) for item in items[start:stop]])

    sampled = [items[at] for at in range(0, len(items), max(1, len(items) // _SAMPLED_ROWS))][:_SAMPLED_ROWS]
    each = sum(map(_size_of, sampled)) / max(len(sampled), 1)
    size = getattr(items, "nbytes", None)
    return PagedTable(
        items,
        (len(items), len(names)),
        int(len(items) * each) if size is None else size,
        [(name, "") for name in names],
        read,
    )


def _size_of(item: Any) -> int:
    """Return about how many bytes a row takes."""
    inner = [*item.values()] if isinstance(item, Mapping) else item if isinstance(item, list | tuple) else ()
    return getsizeof(item) + 8 + sum(map(getsizeof, inner))


def _row(item: Any, columns: Sequence[str]) -> list[Any]:
    if isinstance(item, Mapping):
        return [_cell(item.get(name)) for name in columns]
    return [_cell(each) for each in (item if isinstance(item, list | tuple) else [item])]


def _cell(value: Any) -> Any:
    """Return a value as JSON has it: integers that JavaScript would round as a text, and the size of bytes."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if -MAX_INTEGER <= value <= MAX_INTEGER else str(value)
    if isinstance(value, float):
        return value if value - value == 0 else None  # neither infinite nor no number
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value):,} bytes>"
    if isinstance(value, dict):
        return {str(key): _cell(each) for key, each in value.items()}
    return [_cell(each) for each in value] if isinstance(value, list | tuple) else str(value)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
