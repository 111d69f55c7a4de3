"""The tools in plain Python, with the official client in memory: no browser needed."""

import json
import math
from pathlib import Path

import pytest
from mcp import Client

import server

EXAMPLE = Path(__file__).parents[1] / "example.json"


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
async def document():
    """Choose a document, as the setup does."""

    async def choose(value, name="data.json"):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        await server.shelf.put(server.server.session, name, data)

    yield choose
    await server.server.session.storage.clear()
    await server.shelf.put(server.server.session, "", b"")
    await server.server.session.storage.clear()


async def call(tool, **arguments):
    async with Client(server.server) as client:
        return await client.call_tool(tool, arguments)


async def ok(tool, **arguments):
    result = await call(tool, **arguments)
    assert not result.is_error, result.content
    return result.structured_content


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("$.store.books[?@.price < 10].title", ["Sayings of the Century", "Moby Dick"]),
        ("$..price", [8.95, 12.99, 8.99, 22.99, 399]),
        ("$.customers[-1].name", ["Grace"]),
        ("$.customers[?search(@.name, 'in')].id", [2]),
        ("$.nothing", []),
    ],
)
async def test_jsonpath(document, path, values):
    await document(EXAMPLE.read_bytes())
    answer = await ok("evaluate_jsonpath", path=path)
    assert [match["value"] for match in answer["matches"]] == values
    assert (answer["count"], answer["complete"], answer["note"]) == (len(values), True, None)


@pytest.mark.anyio
async def test_matches_say_where_they_are(document):
    await document({"a b": [{"x": 1}, {"x": 2}]})
    result = await call("evaluate_jsonpath", path="$..x")
    assert [match["path"] for match in result.structured_content["matches"]] == ["$['a b'][0]['x']", "$['a b'][1]['x']"]
    assert result.content[0].text == "2 matches\n$['a b'][0]['x']: 1\n$['a b'][1]['x']: 2"


@pytest.mark.anyio
async def test_a_wrong_jsonpath_says_what_is_wrong(document):
    await document({})
    result = await call("evaluate_jsonpath", path="$.a[")
    assert result.is_error
    assert "not a JSONPath (RFC 9535)" in result.content[0].text
    assert "unexpected end of query" in result.content[0].text


@pytest.mark.anyio
async def test_many_matches_are_cut_and_counted(document):
    await document(list(range(5000)))
    answer = await ok("evaluate_jsonpath", path="$[*]", limit=3)
    assert [match["value"] for match in answer["matches"]] == [0, 1, 2]
    assert (answer["count"], answer["complete"]) == (5000, True)
    assert answer["note"] == "Only the first 3 are returned: narrow the query or raise the limit."


@pytest.mark.anyio
async def test_what_is_too_large_to_return_is_said_instead(document):
    await document({"big": list(range(100_000)), "small": 1})
    answer = await ok("evaluate_jsonpath", path="$.*")
    assert answer["matches"][0]["value"] == "<array of 100,000 items: too large to return, ask for a part of it>"
    assert answer["matches"][1]["value"] == 1
    assert answer["note"] == "1 too large to return in full: ask for a part of it."


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ({"text": "moby"}, ["$.store.books[2].title"]),
        ({"text": "moby", "case_sensitive": True}, []),
        ({"text": "isbn"}, ["$.store.books[2].isbn", "$.store.books[3].isbn"]),
        ({"text": "isbn", "where": "values"}, []),
        ({"text": "regular", "where": "keys"}, []),
        ({"text": "null"}, ["$.customers[1].last_order"]),
        ({"text": "22.99"}, ["$.store.books[3].price"]),
    ],
)
async def test_search(document, arguments, paths):
    await document(EXAMPLE.read_bytes())
    answer = await ok("search", **arguments)
    assert [match["path"] for match in answer["matches"]] == paths


@pytest.mark.anyio
async def test_paths_that_search_gives_are_jsonpaths(document):
    await document({"it's": {"a b": [{"\n": "needle"}]}})
    (match,) = (await ok("search", text="needle"))["matches"]
    (again,) = (await ok("evaluate_jsonpath", path=match["path"]))["matches"]
    assert again["value"] == "needle"


@pytest.mark.anyio
async def test_schema_summary(document):
    await document(EXAMPLE.read_bytes())
    result = await call("schema_summary")
    places = {place["path"]: place for place in result.structured_content["places"]}
    assert places["$.store.books"]["types"] == {"array": 1}
    assert places["$.store.books"]["lengths"] == [4, 4]
    assert places["$.store.books[*].price"]["range"] == [8.95, 22.99]
    assert places["$.store.books[*].isbn"]["share"] == 0.5
    assert places["$.customers[*].last_order"]["types"] == {"string": 1, "null": 1}
    assert (
        "$.store.books[*].isbn: string, 2 times; in 50.0% of the objects; e.g. '0-553-21311-3'"
        in result.content[0].text
    )


@pytest.mark.anyio
async def test_schema_summary_of_a_part(document):
    await document(EXAMPLE.read_bytes())
    answer = await ok("schema_summary", path="$.store.bicycle", depth=1)
    assert [place["path"] for place in answer["places"]] == [
        "$.store.bicycle",
        "$.store.bicycle.color",
        "$.store.bicycle.price",
    ]
    missing = await call("schema_summary", path="$.nothing")
    assert missing.is_error


@pytest.mark.anyio
async def test_an_object_with_many_keys_is_a_map(document):
    await document({f"user{number}": {"age": number} for number in range(500)})
    answer = await ok("schema_summary")
    places = {place["path"]: place for place in answer["places"]}
    assert set(places) == {"$", "$.*", "$.*.age"}
    assert places["$.*.age"]["range"] == [0, 499]


@pytest.mark.anyio
async def test_without_a_document_the_person_is_told_what_to_do():
    result = await call("evaluate_jsonpath", path="$")
    assert result.is_error
    assert "run this server's setup" in result.content[0].text


@pytest.mark.anyio
async def test_large_documents(document):
    rows = [{"id": number, "name": f"n{number}", "share": math.sqrt(number)} for number in range(100_000)]
    await document({"rows": rows})
    assert (await ok("evaluate_jsonpath", path="$.rows[99999].name"))["matches"][0]["value"] == "n99999"
    answer = await ok("search", text="n", where="values", limit=5)
    assert len(answer["matches"]) == 5
    assert answer["count"] >= 5
    summary = await ok("schema_summary")
    assert summary["places"][1]["lengths"] == [100_000, 100_000]
