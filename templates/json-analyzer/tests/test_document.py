"""The files that are read as documents, and the errors of the others."""

import pytest

from document import DocumentError, parse


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": 1}', {"a": 1}),
        ('\ufeff["ö"]'.encode(), ["ö"]),
        ('["ö"]'.encode("utf-16"), ["ö"]),
        ('["ö"]'.encode("utf-32-le"), ["ö"]),
        (b'{"a": 1}\n\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        (b"3", 3),
    ],
)
def test_json_and_json_lines_in_any_encoding(data, value):
    assert parse("data.json", data).value == value


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"a": 1,\n "b" 2}', "data.json is not JSON: line 2, column 6"),
        (b"", "data.json is not JSON: line 1, column 1"),
        (b'["\xff\xff"]', "byte 2 is not valid in any Unicode encoding"),
        (b"[NaN]", "NaN, which is not a JSON number"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_anything_else_is_an_error_that_says_where(data, said):
    with pytest.raises(DocumentError, match=said):
        parse("data.json", data)
