"""The tools in plain Python, with the official client in memory: no browser needed."""

import base64
import json

import pytest
from mcp import Client

import server
import workspace
from mcpframe import errors
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
    text, link, image = result.content
    table, kept = text.text.rsplit("\n", 1)
    assert table == "city   | people\n-------+-------\nBergen | 290000\nOslo   | 700000\n(2 rows)"
    assert kept.startswith(f"{link.name}: a table of 2 rows and 2 columns: city, people.")
    assert image.mime_type == "image/png"
    assert base64.b64decode(image.data).startswith(b"\x89PNG")
    answer = result.structured_content
    assert (answer["columns"], answer["rows"]) == (["city", "people"], [["Bergen", 290000], ["Oslo", 700000]])
    assert (answer["total_rows"], answer["handle"], answer["changed"]) == (2, link.name, None)


@pytest.mark.anyio
async def test_a_chain_of_tools_passes_a_handle_and_no_row(files):
    await files(cards__csv=b"card,amount\n" + b"".join(b"4111-%d,%d\n" % (n, n) for n in range(200_000)))
    async with Client(server.server) as client:
        answers = []

        async def ask(tool, **arguments):
            answers.append(await client.call_tool(tool, arguments))
            assert not answers[-1].is_error, answers[-1].content
            return answers[-1]

        large = (await ask("query", sql="SELECT * FROM cards WHERE amount >= 1000")).structured_content
        assert (large["rows"], large["total_rows"]) == (None, 199_000)
        odd = (
            await ask("query", sql="SELECT * FROM result WHERE amount % 2", result=large["handle"])
        ).structured_content
        assert odd["total_rows"] == 99_500
        top = await ask("query", sql="SELECT max(amount) FROM result", result=odd["handle"])
        assert top.structured_content["rows"] == [[199_999]]
        [picture] = (await ask("plot", result=odd["handle"], kind="line")).content
        assert base64.b64decode(picture.data).startswith(b"\x89PNG")
        link = (await ask("export", result=odd["handle"])).content[1]
        assert not any("4111-" in answer.model_dump_json() for answer in answers)
        [page] = (await client.read_resource(odd["uri"] + "?offset=1&limit=2")).contents
        assert json.loads(page.text)["rows"] == [["4111-1003", 1003], ["4111-1005", 1005]]
        [file] = (await client.read_resource(link.uri)).contents
        assert base64.b64decode(file.blob).count(b"\n") == 99_501


@pytest.mark.anyio
async def test_a_result_is_read_in_its_files_only(files):
    await files(cities__csv=CSV)
    handle = (await call("query", sql="SELECT city FROM cities")).structured_content["handle"]
    await files(cities__csv=CSV)
    refused = await call("query", sql="SELECT * FROM result", result=handle)
    assert refused.is_error
    assert "run its query again" in refused.content[0].text
    lost = await call("plot", result="k0")
    assert "Call the tool that made it again" in lost.content[0].text


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

    async def exported(**arguments):
        async with Client(server.server) as client:
            link = (await client.call_tool("export", arguments)).content[1]
            [found] = (await client.read_resource(link.uri)).contents
            return link.mime_type, base64.b64decode(found.blob)

    assert await exported(source="cities", format="csv") == ("text/csv", CSV.replace(b"\n", b"\r\n"))
    kind, data = await exported(source="SELECT city FROM cities", format="json")
    assert (kind, json.loads(data)) == ("application/json", [{"city": "Oslo"}, {"city": "Bergen"}])
    kind, data = await exported(source="main", format="sqlite")
    again = Workspace()
    again.add("again.db", data)
    assert (kind, again.run("SELECT count(*) FROM cities", 1).rows) == ("application/vnd.sqlite3", [(2,)])


@pytest.mark.anyio
async def test_an_export_changes_nothing_and_leaves_no_file_that_is_not_kept(files, monkeypatch, tmp_path):
    monkeypatch.setattr(server.tempfile, "tempdir", str(tmp_path))
    await files(cities__csv=CSV, writable=True)
    refused = await call("export", source="WITH x AS (SELECT 1) DELETE FROM cities RETURNING id")
    assert "use query" in refused.content[0].text
    found = (await call("query", sql="SELECT city FROM cities")).structured_content
    assert found["total_rows"] == 2
    refused = await call("export", result=found["handle"], format="sqlite")
    assert "as csv or json" in refused.content[0].text

    def too_large(*_, **__):
        raise errors.KeptError("keep a part of it")

    monkeypatch.setattr(server, "kept", too_large)
    assert (await call("export", source="cities")).is_error
    assert "keep a part of it" in (await call("query", sql="SELECT city FROM cities")).content[0].text
    assert not list(tmp_path.iterdir())


@pytest.mark.anyio
async def test_a_result_that_is_cut_says_so(files, monkeypatch):
    monkeypatch.setattr(workspace, "MAX_STORED_ROWS", 1)
    await files(cities__csv=CSV)
    assert "there are more" in (await call("query", sql="SELECT city FROM cities")).content[0].text


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
