"""Tables out of text files: names, types and values."""

import sqlite3

import pytest

from reading import FileError, identifier, tables_of, write_table


def only(name, data):
    (table,) = tables_of(name, data)
    return table


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_with_any_delimiter(delimiter):
    table = only("a.csv", f"name{delimiter}age\nAda{delimiter}36\nLinus{delimiter}28\n".encode())
    assert (table.columns, table.types) == (["name", "age"], ["TEXT", "INTEGER"])
    assert table.rows == [["Ada", 36], ["Linus", 28]]


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "-2", ""], "INTEGER", [1, -2, None]),
        (["1", "2.5", "1e3"], "REAL", [1.0, 2.5, 1000.0]),
        (["007", "42"], "TEXT", ["007", "42"]),
        (["01.5", "2"], "TEXT", ["01.5", "2"]),
        (["1", "n/a"], "TEXT", ["1", "n/a"]),
        (["99999999999999999999", "1"], "REAL", [1e20, 1.0]),
    ],
)
def test_types_come_from_all_values(cells, kind, values):
    table = only("a.csv", "\n".join(["key,value", *(f"k,{cell}" for cell in cells)]).encode())
    assert table.types[1] == kind
    assert [row[1] for row in table.rows] == values


def test_csv_quirks():
    table = only("a.csv", '\ufeffname,name,\n"a\nb","say ""hi""",3\nshort\n'.encode())
    assert table.columns == ["name", "name_2", "column_3"]
    assert table.rows == [["a\nb", 'say "hi"', 3], ["short", None, None]]


def test_csv_without_a_header():
    table = only("a.csv", b"1,2\n3,4\n")
    assert (table.columns, table.rows) == (["column_1", "column_2"], [[1, 2], [3, 4]])


@pytest.mark.parametrize(("data", "text"), [("a\nö\n".encode("cp1252"), "ö"), ("a\nö\n".encode("utf-16"), "ö")])
def test_encodings(data, text):
    assert only("a.csv", data).rows == [[text]]


@pytest.mark.parametrize(
    "data", [b'[{"a": 1, "b": {"c": [2]}}, {"a": 2.5}]', b'{"a": 1, "b": {"c": [2]}}\n{"a": 2.5}\n']
)
def test_json_objects_are_rows(data):
    table = only("a.json", data)
    assert (table.columns, table.types) == (["a", "b"], ["REAL", "TEXT"])
    assert table.rows == [[1, '{"c": [2]}'], [2.5, None]]


def test_an_object_of_lists_is_several_tables():
    tables = tables_of("a.json", b'{"users": [{"id": 1}], "tags": ["x", "y"], "version": 3}')
    assert [(table.name, table.columns, table.rows) for table in tables] == [
        ("users", ["id"], [[1]]),
        ("tags", ["value"], [["x"], ["y"]]),
    ]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.json", b"{", "line 1, column 2"),
        ("a.csv", b"", "no rows"),
        ("a.csv", b"only,a,header\n", "no rows"),
        ("a.png", b"\x89PNG\x81\x8d", "neither a SQLite database nor text"),
    ],
)
def test_files_without_tables(name, data, said):
    with pytest.raises(FileError, match=said):
        tables_of(name, data)


def test_names_for_sql():
    assert [identifier(name) for name in ("My sales (2024)", "2024", "", "sqlite_x", "größe")] == [
        "my_sales_2024",
        "t_2024",
        "t_",
        "t_sqlite_x",
        "größe",
    ]


def test_tables_of_the_same_name_are_told_apart():
    database = sqlite3.connect(":memory:")
    table = only("a.csv", b"x\ny\n")
    assert [write_table(database, table) for _ in range(3)] == ["a", "a_2", "a_3"]
