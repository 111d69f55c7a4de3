"""The conversion of results, with the real libraries: bounds, odd values, and what has no form."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import pyplot
from matplotlib.figure import Figure
from PIL import Image

from mcpframe.frame.results import content, glyphs, libraries
from mcpframe.frame.results.content import Block, Described, bytes_content
from mcpframe.frame.results.conversion import UNDECLARED, Result, as_resource, converted, declared


def table(value: Any) -> Result:
    result = converted(value)
    assert isinstance(result, Result)
    assert json.loads(json.dumps(result.data, allow_nan=False)) == result.data
    return result


def test_a_long_and_wide_table_is_bounded_and_says_what_is_left_out() -> None:
    result = table(pd.DataFrame(np.zeros((1000, 60))))
    assert len(result.data["rows"]) == libraries.MOST_ROWS
    assert len(result.data["columns"]) == libraries.MOST_COLUMNS
    assert result.data["total_rows"] == 1000
    assert "900 of 1,000 rows" in result.data["left_out"]
    assert "10 of 60 columns" in result.data["left_out"]
    assert str(result.content[0]).endswith(result.data["left_out"])


def test_a_table_of_long_texts_has_fewer_rows() -> None:
    result = table(pd.DataFrame({name: ["x" * 1000] * 100 for name in "abcdef"}))
    assert 1 < len(result.data["rows"]) < 100
    assert len(str(result.content[0])) < libraries.MOST_TEXT + 200


@pytest.mark.parametrize(
    ("frame", "columns", "row"),
    [
        (pd.DataFrame({"when": [pd.Timestamp("2026-01-02")], "no": [pd.NaT]}), ["when", "no"], None),
        (pd.DataFrame({"a": [float("nan")], "b": [float("inf")], "c": [pd.NA]}), ["a", "b", "c"], [None, None, None]),
        (pd.DataFrame({"a": [1 + 2j], "b": [{"x": 1}]}), ["a", "b"], None),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ["a", "a"], [1, 2]),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), ["a / b"], [1]),
        (pd.DataFrame({"a": [1]}, index=pd.Index(["r"], name="a")), ["a", "a"], ["r", 1]),
        (pd.DataFrame({"a": pd.Series(["u"], dtype="category")}), ["a"], ["u"]),
        (pd.DataFrame(), [], None),
        (pd.DataFrame({"a": []}), ["a"], None),
    ],
)
def test_odd_tables(frame: pd.DataFrame, columns: list[str], row: list[Any] | None) -> None:
    data = table(frame).data
    assert data["columns"] == columns
    assert row is None or data["rows"] == [row]


def test_a_large_array_is_bounded() -> None:
    result = table(np.arange(5000))
    assert result.data["shape"] == [5000]
    assert len(result.data["values"]) == libraries.MOST_VALUES
    assert "4,000 of 5,000 values" in result.data["left_out"]
    assert converted({"all": np.arange(5000)})["all"]["left_out"]
    assert len(str(result.content[0])) < 1000


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (np.float64("nan"), None),
        (np.array(3), 3),
        (np.complex128(1j), "1j"),
        (np.str_("a"), "a"),
        ({np.int64(1): {2: np.float32(0.5)}}, {1: {2: 0.5}}),
        ({"values": {np.int64(1)}}, {"values": [1]}),
        ({"at": pd.Timestamp("2026-01-02"), "gap": pd.NaT}, {"at": pd.Timestamp("2026-01-02"), "gap": None}),
        ([np.int64(1), [np.array([1.5, float("nan")])]], [1, [[1.5, None]]]),
        ([np.datetime64("2026-01-02")], [pd.Timestamp("2026-01-02").date()]),
    ],
)
def test_values_inside_of_data(value: Any, data: Any) -> None:
    found = converted(value)
    assert (found == data) or (data is None and found != found)


def test_what_needs_no_conversion_is_the_same_object() -> None:
    for value in ({"a": [1, {"b": None}]}, [1, ["x"]], ("x",), SimpleNamespace(), "text", {1, 2}):
        assert converted(value) is value


def test_a_figure_is_closed_and_its_resolution_is_bounded() -> None:
    figure = pyplot.figure(figsize=(100, 100))
    block = converted(figure)
    width, height = Image.open(io.BytesIO(base64.b64decode(block.fields["data"]))).size
    assert width * height < 1.1 * libraries.MOST_PIXELS  # with its margin
    assert not pyplot.fignum_exists(figure.number)


def test_axes_are_the_picture_of_their_figure() -> None:
    for value in (Figure().subplots(), Figure().subplots(1, 2)):
        block = converted(value)
        assert block.kind == "image/png"


def test_an_array_of_objects_is_no_picture() -> None:
    assert table(np.array([None, "x"], dtype=object)).data["values"] == [None, "x"]


def chart(package: str, base: str, **methods: Any) -> Any:
    """Return an object of a class of a library that is not installed here."""
    return type("Chart", (type(base, (), {"__module__": f"{package}.api"}),), {"__module__": "author", **methods})()


def test_charts_are_their_specification() -> None:
    vega = {"$schema": "https://vega.github.io/schema/vega-lite/v6.1.0.json", "mark": "bar"}
    block = converted(chart("altair", "TopLevelMixin", to_dict=lambda self: vega))
    assert block.fields["resource"]["mimeType"] == "application/vnd.vegalite.v6+json"
    assert json.loads(block.fields["resource"]["text"]) == vega
    block = converted(chart("plotly", "BaseFigure", to_json=lambda self: '{"data": []}'))
    assert block.fields["resource"] == {
        "uri": "file:///chart.plotly.json",
        "mimeType": "application/vnd.plotly.v1+json",
        "text": '{"data": []}',
    }


@pytest.mark.parametrize(
    ("data", "name", "kind", "uri"),
    [
        (b"\xff\xd8\xff\xe0", "result", "image/jpeg", None),
        (b"RIFF....WAVE", "result", "audio/wav", None),
        (b"\xff\x00", "result", "application/octet-stream", "file:///result.bin"),
        (
            b"PK\x03\x04",
            "a b.xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "file:///a%20b.xlsx",
        ),
        (b"SQLite format 3\0", "data.db", "application/vnd.sqlite3", "file:///data.db"),
        (b"{}", "data.json", "application/json", "file:///data.json"),
        (b"# Title", "notes.md", "text/markdown", "file:///notes.md"),
    ],
)
def test_the_type_of_bytes(data: bytes, name: str, kind: str, uri: str | None) -> None:
    block = bytes_content(data, name)
    assert isinstance(block, Block)
    assert block.kind == kind
    assert block.fields.get("resource", {}).get("uri") == uri


def test_a_large_file_is_refused_with_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "MOST_BYTES", 10)
    path = tmp_path / "large.bin"
    path.write_bytes(b"\0" * 11)
    for value in (path, b"\xff" * 11):
        with pytest.raises(ValueError, match=r"session\.page\.download"):
            converted(value)
    assert converted(tmp_path / "missing.csv") == str(tmp_path / "missing.csv")


@pytest.mark.parametrize("value", [pd.DataFrame({"a": [1]}).groupby("a"), {"x": np.random.default_rng(1)}])
def test_what_has_no_form(value: Any) -> None:
    with pytest.raises(TypeError, match="return"):
        converted(value)


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (dict[str, int], dict[str, int]),
        (list[Path], list[Path]),
        (np.int64, int),
        (np.ndarray[Any, np.dtype[np.float64]], libraries.Array),
        (dict[str, np.float64], UNDECLARED),
        (list[pd.DataFrame] | None, UNDECLARED),
        (Path | None, UNDECLARED),
        (bytes, UNDECLARED),
        (bytearray | None, UNDECLARED),
    ],
)
def test_declarations(annotation: Any, expected: Any) -> None:
    assert declared(annotation) == expected


class Point:
    x: int
    y: int


def test_an_object_of_a_class_with_annotations_is_its_data() -> None:
    point = Point()
    point.x, point.y = 1, 2
    assert converted({"at": point}) == {"at": {"x": 1, "y": 2}}
    with pytest.raises(TypeError, match="class object"):
        converted(object())


def test_a_number_that_json_lacks_is_found_where_it_is() -> None:
    value = {"a": [1.0, np.float32("inf")]}
    with pytest.raises(ValueError, match=r"result\['a'\]\[1\] is infinite"):
        converted(value, lambda _: False)
    assert converted({"a": (1.0, float("-inf"))}) == {"a": [1.0, None]}


def test_an_integer_that_javascript_lacks_is_one_that_json_lacks() -> None:
    with pytest.raises(ValueError, match=r"result\['a'\]\[1\] is beyond"):
        converted({"a": [1, 10**400]}, lambda _: False)
    assert converted({"a": (1, -(10**400), 10**308, True)}) == {"a": [1, None, 10**308, True]}


def test_resources_are_texts_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("caf\u00e9", "utf-8")
    (tmp_path / "data.bin").write_bytes(b"\xff\0")
    assert as_resource(tmp_path / "notes.txt") == "caf\u00e9"
    assert as_resource(tmp_path / "data.bin") == b"\xff\0"
    assert as_resource("text") == "text"
    assert as_resource(b"text") == b"text"
    assert as_resource(bytearray(b"\x89PNG\r\n\x1a\n")) == b"\x89PNG\r\n\x1a\n"
    assert json.loads(as_resource({"mean": float("nan")})) == {"mean": None}
    assert json.loads(as_resource(pd.DataFrame({"a": [1]})))["rows"] == [[1]]
    picture = as_resource(Image.new("L", (1, 1)))
    assert isinstance(picture, bytes)
    assert picture.startswith(b"\x89PNG")
    with pytest.raises(TypeError, match="class object"):
        as_resource(object())
    with pytest.raises(TypeError, match="by itself"):
        as_resource(["Drawn:", Image.new("L", (1, 1))])


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_of_every_class_are_a_file(kind: type) -> None:
    block = bytes_content(b"%PDF-1.7")
    assert isinstance(block, Block)
    assert converted(kind(b"%PDF-1.7")) == block
    assert converted([kind(b"%PDF-1.7")]) == [block]


def test_a_described_value_is_data_inside_of_data() -> None:
    found = converted({"table": pd.Series([1], name="a")})
    assert found == {"table": {"columns": ["a"], "rows": [[1]], "total_rows": 1, "left_out": None}}
    assert not isinstance(found, Described)


def write_font(path: Path, characters: str) -> None:
    """Write a font with a square for each of these characters."""
    builder = FontBuilder(1000, isTTF=True)
    names = {ord(character): f"u{ord(character):X}" for character in characters}
    order = [".notdef", *names.values()]
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for point in ((0, 700), (500, 700), (500, 0)):
        pen.lineTo(point)
    pen.closePath()
    builder.setupGlyphOrder(order)
    builder.setupCharacterMap(names)
    builder.setupGlyf(dict.fromkeys(order, pen.glyph()))
    builder.setupHorizontalMetrics(dict.fromkeys(order, (600, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": path.stem, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)


def figure_with(text: str) -> Figure:
    figure = Figure()
    figure.subplots().set_title(text)
    return figure


@pytest.fixture
def no_fonts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to import from that is the only one with fonts."""
    glyphs._fonts.cache_clear()
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    return tmp_path


@pytest.mark.usefixtures("no_fonts")
@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("日本", "the package noto-cjk-sans-jp-regular"),
        ("한국", "the package noto-cjk-sans-jp-regular"),
        ("ไทย", "Noto Sans Thai"),
        ("हिन्दी", "Noto Sans Devanagari"),
        ("🦉", "Noto Emoji"),
        ("日 ไ", "noto-cjk-sans-jp-regular to the server's dependencies, and the .ttf file"),
    ],
)
def test_a_figure_names_the_characters_that_it_has_boxes_for(text: str, remedy: str) -> None:
    block = converted(figure_with(text))
    assert remedy in block.note
    assert text[0] in block.note
    assert as_resource(figure_with(text)).startswith(b"\x89PNG")
    picture, note = converted([figure_with(text)])
    assert (picture.kind, note) == ("image/png", block.note)
    assert table({"chart": figure_with(text)}).content[2] == block.note


@pytest.mark.filterwarnings("error")
def test_a_font_beside_the_server_is_found_by_its_glyphs(no_fonts: Path) -> None:
    (no_fonts / "fonts").mkdir()
    write_font(no_fonts / "fonts" / "Thais.ttf", "ไ")
    write_font(no_fonts / "fonts" / "Nihongo.otf", "日")
    (no_fonts / "fonts" / "broken.ttf").write_bytes(b"no font")
    assert converted(figure_with("日ไ and x")).note == ""
    assert "本" in converted(figure_with("日本")).note
    assert converted(figure_with("plain")).note == ""
