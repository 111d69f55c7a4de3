"""The tools in plain Python, with the official client in memory: no browser needed."""

import base64
import io
import json
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
async def sales(anyio_backend):
    """Drop a file, as the user does."""
    server.tables.update((await tables_of("Sales 2026.csv", CSV)).tables)
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
async def test_a_query_gives_a_small_table(sales):
    result = await call("query", expression="sales_2026.groupby('city').amount.sum()")
    assert result.structured_content["rows"] == [["Oslo", 8], ["Rome", 4]]
    result = await call("query", expression="len(sales_2026[sales_2026.amount > 3])")
    assert result.structured_content["rows"] == [[2]]


@pytest.mark.anyio
async def test_a_chain_of_tools_passes_a_handle_and_no_row(monkeypatch):
    many = pd.DataFrame({"card": [f"4111-{number}" for number in range(200_000)], "amount": range(200_000)})
    monkeypatch.setitem(server.tables, "many", many)
    async with Client(server.server) as client:
        answers = []

        async def ask(tool, **arguments):
            answers.append(await client.call_tool(tool, arguments))
            assert not answers[-1].is_error, answers[-1].content
            return answers[-1]

        large = (await ask("query", expression="many[many.amount >= 1000]")).structured_content
        assert (large["rows"], large["shape"][0]) == (None, 199_000)
        odd = (
            await ask("query", expression="result[result.amount % 2 == 1]", result=large["handle"])
        ).structured_content
        assert odd["shape"][0] == 99_500
        top = await ask("query", expression="result.amount.max()", result=odd["handle"])
        assert top.structured_content["rows"] == [[199_999]]
        [picture] = (await ask("plot", result=odd["handle"], kind="line", y="amount")).content
        assert base64.b64decode(picture.data).startswith(b"\x89PNG")
        await ask("export", result=odd["handle"])
        assert not any("4111-" in answer.model_dump_json() for answer in answers)
        [page] = (await client.read_resource(odd["uri"] + "?limit=2")).contents
        assert [row[-1] for row in json.loads(page.text)["rows"]] == [1001, 1003]


@pytest.mark.anyio
async def test_a_handle_that_is_lost_or_of_a_file_is_an_error_that_says_so(sales):
    lost = await call("query", expression="result", result="k0")
    assert lost.is_error
    assert "Call the tool that made it again" in lost.content[0].text
    file = (await call("export", expression="sales_2026")).content[1].name
    wrong = await call("plot", result=file)
    assert "pass the handle of a DataFrame" in wrong.content[0].text
    assert (await call("plot")).is_error


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
    text, link = (await call("export", expression="sales_2026.head(1)", format=kind)).content
    assert f"the file export.{kind} of" in text.text
    assert mime in link.mime_type
    assert await exported("sales_2026.head(1)", kind)


@pytest.mark.anyio
async def test_without_a_file_the_user_is_asked_for_one():
    result = await call("describe")
    assert result.is_error
    assert "drop" in result.content[0].text


async def exported(expression, kind):
    """Return the content of an exported file, as a client reads it."""
    async with Client(server.server) as client:
        link = (await client.call_tool("export", {"expression": expression, "format": kind})).content[1]
        [found] = (await client.read_resource(link.uri)).contents
        return base64.b64decode(found.blob)


@pytest.mark.anyio
async def test_an_export_of_many_rows_is_complete(monkeypatch):
    monkeypatch.setitem(server.tables, "many", pd.DataFrame({"a": range(45_000)}))
    assert (await exported("many", "csv")).decode().splitlines() == ["a", *map(str, range(45_000))]
    assert json.loads(await exported("many", "json"))[-1] == {"a": 44_999}
    book = pd.read_excel(io.BytesIO(await exported("many", "xlsx")), engine="calamine")
    assert book.equals(server.tables["many"])


@pytest.mark.anyio
async def test_odd_values_are_in_a_workbook(monkeypatch):
    odd = pd.DataFrame(
        {"when": [pd.Timestamp("2026-01-02 03:04", tz="UTC"), pd.NaT], "n": [float("inf"), 1.5], "x": [[1], "=1+1"]}
    )
    monkeypatch.setitem(server.tables, "odd", odd)
    book = pd.read_excel(io.BytesIO(await exported("odd", "xlsx")), engine="calamine")
    assert book.when[0] == pd.Timestamp("2026-01-02 03:04")
    assert book.n.astype(str).tolist() == ["inf", "1.5"]
    assert book.x.tolist() == ["[1]", "=1+1"]


@pytest.mark.anyio
async def test_excel_and_sqlite_files_have_several_tables():
    book = io.BytesIO()
    with pd.ExcelWriter(book) as writer:
        for name in ("North", "South"):
            pd.DataFrame({"a": [1]}).to_excel(writer, sheet_name=name, index=False)
    assert list((await tables_of("regions.xlsx", book.getvalue())).tables) == ["north", "south"]
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE orders AS SELECT 1 AS number")
    database.execute("CREATE VIEW doubled AS SELECT number * 2 AS number FROM orders")
    database.execute("CREATE VIEW gone AS SELECT * FROM missing")
    tables, remarks = await tables_of("shop.db", database.serialize())
    assert {name: table.number.tolist() for name, table in tables.items()} == {"orders": [1], "doubled": [2]}
    assert "the view gone is left out" in remarks


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("data", "rows", "told"),
    [
        ("name;price\nÅse;1,5\n".encode("utf-16"), [["Åse", 1.5]], "UTF-16, separated by semicolons, decimal commas"),
        ("name\tprice\nÅse\t1,5\n".encode("utf-16-le"), [["Åse", 1.5]], "UTF-16-LE, separated by tabs"),
        ("name;price\n€uro;1.234,5\nb;2,25\n".encode("cp1252"), [["€uro", 1234.5], ["b", 2.25]], "Windows-1252"),
        ("\ufeffname,price\na,1.5\n".encode(), [["a", 1.5]], "UTF-8, separated by commas."),
        (b'name,price\n"a","1,50"\n', [["a", 1.5]], "decimal commas"),
        (b'name,price\na,"1,500"\n', [["a", "1,500"]], "separated by commas."),
        (b'text;n\n"a;b";1\n"c;d";2\n', [["a;b", 1], ["c;d", 2]], "semicolons"),
        (b"a,b\n1,2\n1,2,3\n4,5\n", [[1, 2], [4, 5]], "1 left out, with more values than columns: line 3"),
        (b"a|b\n1|2\n", [[1, 2]], "separated by bars"),
        (b"a\n1\n", [[1]], "UTF-8"),
    ],
)
async def test_how_a_text_is_read_is_guessed_and_told(data, rows, told):
    tables, remarks = await tables_of("odd.csv", data)
    assert tables["odd"].to_numpy(dtype=object).tolist() == rows
    assert told in remarks


@pytest.mark.anyio
async def test_a_quotation_mark_that_is_not_closed_hides_no_rows():
    text = "a;b\n" + '5";1\n"x;2\n' + "y;3\n" * 60
    tables, remarks = await tables_of("inches.csv", text.encode())
    assert len(tables["inches"]) == 62
    assert "quotation marks" in remarks


@pytest.mark.anyio
async def test_a_long_file_is_read_in_pieces_with_one_type_for_a_column():
    shares = []
    text = "a,b\n" + "1,007\n" * 30_000 + "1,x7\n" + "1,2,3\n"
    tables, remarks = await tables_of("long.csv", text.encode(), shares.append)
    assert len(shares) >= 2
    assert shares == sorted(shares[: len(shares) // 2]) * 2
    assert tables["long"].b.iloc[[0, -1]].tolist() == ["007", "x7"]
    assert "line 30003" in remarks


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("broken.db", b""),
        ("broken.db", b"SQLite format 3\0broken"),
        ("broken.db", b"some notes"),
        ("broken.xlsx", b"PK\x03\x04broken"),
        ("broken.xlsx", b"a,b\n1,2\n"),
        ("broken.csv", b""),
        ("broken.csv", b"\n \n"),
        ("broken.csv", bytes(range(256)) * 9),
        ("broken.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\2"),
    ],
)
async def test_a_damaged_file_is_an_error_for_the_user(name, data):
    with pytest.raises(FileError, match=name):
        await tables_of(name, data)
