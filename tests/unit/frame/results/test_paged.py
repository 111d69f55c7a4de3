"""Values in pages: every kind, their bounds, and what is not kept."""

from __future__ import annotations

import json
import re
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from mcpframe.frame.core.errors import KeptError
from mcpframe.frame.core.limits import KEPT_PAGE_BYTES, KEPT_PAGE_ROWS
from mcpframe.frame.results.content import MOST_BYTES
from mcpframe.frame.results.paged import Paged, paged

Point = namedtuple("Point", "x y")


def address(offset: int) -> str:
    return f"at {offset}"


def first(value: Any) -> Any:
    return json.loads(paged(value).excerpt(0, None, address).content)


def contents(pages: Paged, limit: int | None = None) -> Iterator[Any]:
    """Read all pages, each within the bounds."""
    at: int | None = 0
    while at is not None:
        found = pages.excerpt(at, limit, address)
        yield found.content
        assert found.end is None or found.end > at
        at = found.end


@pytest.mark.parametrize("limit", [None, 1, 7, 999, 10**9])
@pytest.mark.parametrize(
    "value",
    [
        pd.DataFrame({"a": range(2500), "b": "x"}),
        pd.DataFrame({"a": range(2500)}, index=range(2500, 0, -1)),
        pd.Series(range(2500)),
        [[number, "x"] for number in range(2500)],
        [{"a": number} for number in range(2500)],
        list(range(2500)),
        pd.DataFrame({"a": []}),
        [],
    ],
    ids=range(8),
)
def test_the_pages_of_a_table_are_the_table(value: Any, limit: int | None) -> None:
    pages = paged(value)
    if limit == 1:
        value, pages = value[:3], paged(value[:3])
    rows: list[Any] = []
    for text in contents(pages, limit):
        page = json.loads(text)
        assert page["offset"] == len(rows)
        assert len(page["rows"]) <= min(limit or KEPT_PAGE_ROWS, KEPT_PAGE_ROWS)
        assert page["total_rows"] == pages.shape[0] == len(value)
        rows += page["rows"]
        assert page["next"] == (address(len(rows)) if len(rows) < len(value) else None)
        assert all(len(row) == len(page["columns"]) == pages.shape[1] for row in page["rows"])
    assert len(rows) == len(value)
    if len(value):
        assert rows[-1][-1] in ("x", len(value) - 1)


def test_a_page_has_fewer_rows_if_they_are_long() -> None:
    pages = paged(pd.DataFrame({"text": ["x" * (KEPT_PAGE_BYTES // 10)] * 20}))
    texts = list(contents(pages))
    assert len(texts) > 2
    assert max(len(text.encode()) for text in texts) <= KEPT_PAGE_BYTES
    assert sum(len(json.loads(text)["rows"]) for text in texts) == 20


def test_a_row_that_is_larger_than_a_page_says_where_to_read_on() -> None:
    pages = paged([["x" * KEPT_PAGE_BYTES], ["y"]])
    with pytest.raises(KeptError, match="read on at 1"):
        pages.excerpt(0, None, address)
    assert json.loads(pages.excerpt(1, None, address).content)["rows"] == [["y"]]
    with pytest.raises(KeptError, match="Value 0"):
        paged(np.array(["x" * KEPT_PAGE_BYTES])).excerpt(0, None, address)


def test_beyond_the_end_there_is_nothing() -> None:
    for value in ([1], np.arange(3), "abc", b"abc", pd.DataFrame({"a": [1]})):
        found = paged(value).excerpt(5, None, address)
        assert found.end is None
        content = json.loads(found.content) if found.media_type == "application/json" else found.content
        assert content in ("", b"") or not content.get("rows", content.get("values"))


def test_values_become_those_of_json() -> None:
    inner = [[1, b"\xff"], {1: b"\xff", "n": 2**60}]
    row = [1, 2**53 - 1, 2**53, 1.5, float("nan"), float("inf"), None, True, "é", b"\xff\0", Path("p"), inner]
    path, shown = str(Path("p")), [[1, "<1 bytes>"], {"1": "<1 bytes>", "n": str(2**60)}]
    assert first([row])["rows"] == [
        [1, 2**53 - 1, str(2**53), 1.5, None, None, None, True, "é", "<2 bytes>", path, shown]
    ]
    days = np.array(["2026-01-02T03:04", "NaT"], dtype="datetime64[ns]")
    assert [day[:16] for day in first(days)["values"]] == ["2026-01-02T03:04", "NaT"]
    assert first(np.array([1.5, float("nan"), float("-inf")]))["values"] == [1.5, None, None]
    frame = pd.DataFrame({"when": [pd.Timestamp("2026-01-02", tz="UTC"), pd.NaT], "n": [1.5, float("inf")]})
    [[when, _], last] = first(frame)["rows"]
    assert when.startswith("2026-01-02")
    assert last == [None, None]


@pytest.mark.parametrize(
    "column",
    [
        lambda numbers: pd.Series(numbers, dtype="int64"),
        lambda numbers: pd.Series(numbers, dtype="Int64"),
        lambda numbers: pd.Series(numbers, dtype="object"),
        lambda numbers: pd.Series(0, index=numbers).rename_axis("n").to_frame(),
        lambda numbers: np.array(numbers),
        lambda numbers: [[number] for number in numbers],
    ],
)
def test_integers_that_javascript_would_round_are_texts(column: Any) -> None:
    most = 2**53 - 1
    numbers = [most, most + 1, 2**60 + 1, -most, -most - 1, -(2**63)]
    page = first(column(numbers))
    told = page["values"] if "values" in page else [row[0] for row in page["rows"]]
    assert told == [most, str(most + 1), str(2**60 + 1), -most, str(-most - 1), str(-(2**63))]


def test_integers_beyond_64_bits_keep_their_digits() -> None:
    for numbers in ([2**64 - 1, 1], [2**70, -(2**80)]):
        told = [str(row[0]) for row in first(pd.DataFrame({"n": numbers}))["rows"]]
        assert told == [str(number) for number in numbers]


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([{"a": 1}, {"b": 2}], ["a"]),
        ([Point(1, 2)], ["x", "y"]),
        ([(1, 2)], ["0", "1"]),
        ([5, 6], ["value"]),
        ([], []),
        (["text"], ["value"]),
    ],
)
def test_the_columns_of_rows(rows: list[Any], columns: list[str]) -> None:
    pages = paged(rows)
    assert list(pages.columns) == columns
    assert all(len(row) == len(columns) for row in first(rows)["rows"])
    assert pages.shape == [len(rows), len(columns)]


def test_rows_that_are_elsewhere_are_asked_for_slices_only() -> None:
    asked: list[Any] = []

    class Elsewhere(Sequence[Any]):
        columns = ("n", "square")
        nbytes = 12

        def __len__(self) -> int:
            return 10**9

        def __getitem__(self, at: Any) -> Any:
            asked.append(at)
            if isinstance(at, slice):
                return [(number, number**2) for number in range(at.start, at.stop)]
            return (at, at**2)

    pages = paged(Elsewhere())
    assert (pages.shape, pages.size, pages.columns) == ([10**9, 2], 12, ["n", "square"])
    page = json.loads(pages.excerpt(10**6, 2, address).content)
    assert page["rows"] == [[10**6, 10**12], [10**6 + 1, 10**12 + 2 * 10**6 + 1]]
    assert [each for each in asked if isinstance(each, slice)] == [slice(10**6, 10**6 + 2)]
    assert len(asked) < 200


def test_an_array_is_flat_whatever_its_shape() -> None:
    array = np.arange(30_000).reshape(100, 3, 100)
    for value in (array, array.transpose(), array[::2]):
        pages = paged(value)
        read = [number for text in contents(pages) for number in json.loads(text)["values"]]
        assert read == value.ravel().tolist()
        assert pages.shape == list(value.shape)
    assert paged(array).size == array.nbytes


def test_texts_and_bytes(tmp_path: Path) -> None:
    text = "é🦜" * KEPT_PAGE_BYTES
    assert "".join(contents(paged(text))) == text
    assert all(len(part.encode()) <= KEPT_PAGE_BYTES for part in contents(paged(text)))
    data = bytes(range(256)) * (MOST_BYTES // 200)
    assert len(list(contents(paged(data)))) == 2
    file = tmp_path / "table.csv"
    file.write_bytes(data)
    for value in (data, bytearray(data), memoryview(data), memoryview(data).cast("H"), file):
        pages = paged(value)
        assert b"".join(contents(pages)) == data
        assert pages.size == len(data) == pages.shape[0]
    assert b"".join(contents(paged(b"abcdef"), 4)) == b"abcdef"
    assert paged(file).media_type == "text/csv"
    book = tmp_path / "book.xlsx"
    book.write_bytes(b"PK\x03\x04")
    assert paged(book).media_type.endswith("spreadsheetml.sheet")
    assert paged(b"PK\x03\x04").media_type == "application/zip"
    assert paged(b"\x89PNG\r\n\x1a\n").media_type == "image/png"
    file.unlink()
    with pytest.raises(KeptError, match="again"):
        pages.excerpt(0, None, address)
    with pytest.raises(FileNotFoundError):
        paged(file)
    with pytest.raises(KeptError, match="is not a file"):
        paged(tmp_path)


def a_figure() -> Figure:
    figure = Figure()
    figure.subplots().plot([1, 2])
    return figure


@pytest.mark.parametrize("make", [a_figure, lambda: Image.new("RGB", (2, 2))])
def test_a_picture_is_drawn_whenever_it_is_read(make: Callable[[], Any]) -> None:
    pages = paged(make())
    for _ in range(2):
        found = pages.excerpt(0, None, address)
        assert isinstance(found.content, bytes)
        assert found.content.startswith(b"\x89PNG")
        assert (found.media_type, found.end) == ("image/png", None)
    assert pages.kind == "picture"


@pytest.mark.parametrize("value", [None, 5, {"a": 1}, {1}, object(), np.float64(1), np.array(1), iter([1])])
def test_what_has_no_pages_says_what_has(value: object) -> None:
    with pytest.raises(TypeError, match="a list of rows"):
        paged(value)


def test_the_facts_have_no_value_of_the_data() -> None:
    secret = "4111-1111"
    frame = pd.DataFrame({"card": [secret], "n": [77]})
    for value in (frame, frame.card, frame.to_dict("records"), [secret], np.array([77]), secret, secret.encode()):
        pages = paged(value)
        assert not re.search(f"{secret}|77", f"{pages.facts} {pages.columns} {pages.shape}")
    wide = paged(pd.DataFrame(np.zeros((1, 80))))
    assert len(wide.columns) == 50
    assert "and 30 more" in wide.facts
