"""The tools in plain Python, with the official client in memory: no browser needed."""

import base64
import io
import sqlite3

import pandas as pd
import pytest
from mcp import Client

import server
from reading import FileError, tables_of

CSV = b"city;amount\nOslo;3\nRome;4\nOslo;5\n"


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def sales():
    """Drop a file, as the user does."""
    server.tables.update(tables_of("Sales 2026.csv", CSV))
    yield
    server.tables.clear()


async def call(tool, **arguments):
    async with Client(server.server) as client:
        return await client.call_tool(tool, arguments)


@pytest.mark.anyio
async def test_describe_lists_the_columns(sales):
    result = (await call("describe")).structured_content
    assert result["columns"][:4] == ["table", "rows", "column", "type"]
    assert [row[:3] for row in result["rows"]] == [["sales_2026", 3, "city"], ["sales_2026", 3, "amount"]]


@pytest.mark.anyio
async def test_a_query_gives_a_table(sales):
    result = await call("query", expression="sales_2026.groupby('city').amount.sum()")
    assert result.structured_content["rows"] == [["Oslo", 8], ["Rome", 4]]
    result = await call("query", expression="len(sales_2026[sales_2026.amount > 3])")
    assert result.structured_content["rows"] == [[2]]


@pytest.mark.anyio
async def test_a_query_that_is_not_allowed_is_an_error_that_says_why(sales):
    result = await call("query", expression="sales_2026.to_csv('x')")
    assert result.is_error
    assert "to_csv" in result.content[0].text


@pytest.mark.anyio
async def test_a_plot_is_a_picture(sales):
    (picture,) = (await call("plot", expression="sales_2026.groupby('city').amount.sum()", kind="barh")).content
    assert base64.b64decode(picture.data).startswith(b"\x89PNG")
    assert (await call("plot", expression="sales_2026", kind="scatter", x="none", y="amount")).is_error


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("kind", "mime"), [("csv", "text/csv"), ("json", "application/json"), ("xlsx", "spreadsheetml")]
)
async def test_an_export_is_a_file(sales, kind, mime):
    (block,) = (await call("export", expression="sales_2026.head(1)", format=kind)).content
    assert mime in block.resource.mime_type
    assert block.resource.uri.endswith(f"export.{kind}")


@pytest.mark.anyio
async def test_without_a_file_the_user_is_asked_for_one():
    result = await call("describe")
    assert result.is_error
    assert "drop" in result.content[0].text


def test_excel_and_sqlite_files_have_several_tables():
    book = io.BytesIO()
    with pd.ExcelWriter(book) as writer:
        for name in ("North", "South"):
            pd.DataFrame({"a": [1]}).to_excel(writer, sheet_name=name, index=False)
    assert list(tables_of("regions.xlsx", book.getvalue())) == ["north", "south"]
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE orders AS SELECT 1 AS number")
    assert tables_of("shop.db", database.serialize())["orders"].number.tolist() == [1]


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04broken", b"SQLite format 3\0broken"])
def test_a_damaged_file_is_an_error_for_the_user(data):
    with pytest.raises(FileError, match=r"broken\.db"):
        tables_of("broken.db", data)
