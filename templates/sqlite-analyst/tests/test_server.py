"""The tools in plain Python, with the official client in memory: no browser needed."""

import base64
import json

import pytest
from mcp import Client

import server
from workspace import Workspace

CSV = b"city,people,id\nOslo,700000,9007199254740993\nBergen,290000,2\n"


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
async def files():
    """Choose files, as the setup does."""

    async def choose(*, writable=False, **contents):
        workspace = Workspace(writable=writable)
        for name, data in contents.items():
            workspace.add(name.replace("__", "."), data)
        await server.shelf.put(server.server.session, workspace, list(contents))

    yield choose
    await server.server.session.storage.clear()
    server.shelf.__init__()


async def call(tool, **arguments):
    async with Client(server.server) as client:
        return await client.call_tool(tool, arguments)


@pytest.mark.anyio
async def test_a_query_gives_text_structure_and_a_chart(files):
    await files(cities__csv=CSV)
    result = await call("query", sql="SELECT city, people FROM cities ORDER BY people")
    text, image = result.content
    assert text.text == "city   | people\n-------+-------\nBergen | 290000\nOslo   | 700000\n(2 rows)"
    assert image.mime_type == "image/png"
    assert base64.b64decode(image.data).startswith(b"\x89PNG")
    answer = result.structured_content
    assert (answer["columns"], answer["rows"]) == (["city", "people"], [["Bergen", 290000], ["Oslo", 700000]])
    assert (answer["more"], answer["changed"]) == (False, None)


@pytest.mark.anyio
async def test_numbers_that_javascript_would_round_are_text(files):
    await files(cities__csv=CSV)
    result = await call("query", sql="SELECT id FROM cities")
    assert result.structured_content["rows"] == [["9007199254740993"], [2]]


@pytest.mark.anyio
async def test_changes_are_refused_unless_the_user_allowed_them(files):
    await files(cities__csv=CSV)
    result = await call("query", sql="DELETE FROM cities")
    assert result.is_error
    assert "the user can allow changes" in result.content[0].text

    await files(cities__csv=CSV, writable=True)
    assert (await call("query", sql="DELETE FROM cities WHERE id = 2")).content[0].text == "Done: 1 rows changed."


@pytest.mark.anyio
async def test_changes_are_kept_for_the_session(files):
    await files(cities__csv=CSV, writable=True)
    await call("query", sql="UPDATE cities SET city = 'Kristiania' WHERE id > 2")
    server.shelf.__init__()  # as when the page is opened again
    result = await call("query", sql="SELECT city FROM cities WHERE id > 2")
    assert result.structured_content["rows"] == [["Kristiania"]]


@pytest.mark.anyio
async def test_describe(files):
    await files(cities__csv=CSV, people__json=b'[{"name": "Ada"}]')
    result = await call("describe")
    tables = {table["name"]: table for table in result.structured_content["tables"]}
    assert (tables["cities"]["rows"], tables["people"]["rows"]) == (2, 1)
    assert [column["type"] for column in tables["cities"]["columns"]] == ["TEXT", "INTEGER", "INTEGER"]
    assert tables["people"]["sample"] == [{"name": "Ada"}]
    assert "table cities, 2 rows\n  city: TEXT" in result.content[0].text
    assert (await call("describe", table="nothing")).is_error


@pytest.mark.anyio
async def test_exports(files):
    await files(cities__csv=CSV)
    as_csv = await call("export", source="cities", format="csv")
    assert as_csv.content[0].text.encode() == CSV.replace(b"\n", b"\r\n")
    as_json = await call("export", source="SELECT city FROM cities", format="json")
    assert json.loads(as_json.content[0].text) == [{"city": "Oslo"}, {"city": "Bergen"}]
    as_file = await call("export", source="main", format="sqlite")
    again = Workspace()
    again.add("again.db", base64.b64decode(as_file.content[0].resource.blob))
    assert again.run("SELECT count(*) FROM cities", 1).rows == [(2,)]


@pytest.mark.anyio
async def test_a_download_needs_a_page(files):
    await files(cities__csv=CSV)
    result = await call("export", source="cities", format="csv", to="download")
    assert result.is_error


@pytest.mark.anyio
async def test_without_files_the_person_is_told_what_to_do():
    result = await call("query", sql="SELECT 1")
    assert result.is_error
    assert "run this server's setup" in result.content[0].text
