"""The choice of a chart for a result, and its image file."""

import struct
import zlib

import pytest

from chart import chart_data, draw

CITIES = (["city", "people"], [("Oslo", 700), ("Bergen", 290)])
DAYS = (["day", "low", "high"], [(f"2025-01-{day:02}", day - 10.0, day + 1.5) for day in range(1, 20)])


@pytest.mark.parametrize(
    ("result", "kind", "label", "names"),
    [
        (CITIES, "bar", "city", ["people"]),
        (DAYS, "line", "day", ["low", "high"]),
        ((["x", "y"], [(i, i * i) for i in range(20)]), "line", "x", ["y"]),
        ((["y"], [(1,), (None,), (3,)]), "bar", "", ["y"]),
    ],
)
def test_what_is_drawn(result, kind, label, names):
    data = chart_data(*result)
    assert (data.kind, data.label, data.names) == (kind, label, names)


@pytest.mark.parametrize(
    "result", [(["a"], [("x",), ("y",)]), (["a"], [(1,)]), (["a"], []), ([], []), (["a"], [(None,), (None,)])]
)
def test_what_cannot_be_drawn(result):
    assert chart_data(*result) is None


def test_a_kind_that_is_asked_for():
    assert chart_data(*CITIES, "line").kind == "line"
    assert chart_data(*CITIES, "none") is None


@pytest.mark.parametrize(
    "result", [CITIES, DAYS, (["a", "b"], [("x", 0), ("y", 0)]), (["a", "b"], [("ß…", -1e-9), ("", 1e15), ("z", None)])]
)
def test_the_picture_is_a_png(result):
    data = chart_data(*result)
    png = draw(data)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    (width, height) = struct.unpack(">II", png[16:24])
    at, pixels = 8, b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        pixels += body if kind == b"IDAT" else b""
        at += 12 + length
    assert len(zlib.decompress(pixels)) == height * (1 + 3 * width)
