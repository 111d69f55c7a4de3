"""The results of tools, whatever SDK the server is of, with the real libraries.

The suites that import this have the fixture `kind`: see `tests.support.server_kinds`.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from typing import Any

import matplotlib.figure  # noqa: F401  here, as each test has a time limit
import pandas  # noqa: F401
import PIL.Image  # noqa: F401
import pytest

from tests.support.author_contract import connected
from tests.support.page_rig import Rig
from tests.support.plain_client import PlainClient

PNG = b"\x89PNG\r\n\x1a\n"
SERVER = '''
    import dataclasses
    from pathlib import Path
    from typing import Any

    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure
    from PIL import Image

    from mcpframe import FrameServer

    server = FrameServer("test", allowed_origins=["https://chat.example"])
    FRAME = pd.DataFrame({"city": ["Oslo", "Rome"], "sales": [3.5, None]})

    @dataclasses.dataclass
    class Summary:
        rows: int
        frame: pd.DataFrame

    def drawn():
        figure = Figure(figsize=(1, 1))
        figure.subplots().plot([1, 2])
        return figure

    @server.tool()
    def frame() -> pd.DataFrame:
        return FRAME

    @server.tool()
    def frame_or_none(there: bool = True) -> pd.DataFrame | None:
        return FRAME if there else None

    @server.tool()
    async def series() -> pd.Series:
        return FRAME.set_index("city")["sales"]

    @server.tool()
    def undeclared():
        return FRAME

    @server.tool()
    def any_value() -> Any:
        return FRAME

    @server.tool()
    def scalar() -> np.float64:
        return np.float64(2.5)

    @server.tool()
    def array() -> np.ndarray:
        return np.arange(6).reshape(2, 3)

    @server.tool()
    def data() -> dict[str, Any]:
        return {"rows": np.int64(2), "mean": FRAME.sales.mean(), "all": np.array([1, 2]), "seen": np.bool_(True)}

    @server.tool()
    def summary() -> Summary:
        return Summary(np.int64(2), FRAME)

    @server.tool()
    def figure() -> Figure:
        return drawn()

    @server.tool()
    def image() -> Image.Image:
        return Image.new("CMYK", (2, 2))

    @server.tool()
    def several() -> list:
        return ["Drawn:", Image.new("L", (1, 1)), FRAME]

    @server.tool()
    def mixed() -> dict[str, Any]:
        return {"rows": 2, "plot": drawn()}

    @server.tool()
    def report() -> bytes:
        return b"%PDF-1.7 \\xff"

    @server.tool()
    def words() -> bytes:
        return b"plain"

    @server.tool()
    def written() -> Path:
        path = Path(__file__).with_name("sales.csv")
        FRAME.to_csv(path, index=False)
        return path

    @server.tool()
    def refused():
        return FRAME.groupby("city")

    NAN, INFINITE = float("nan"), float("inf")

    @dataclasses.dataclass
    class Reading:
        label: str
        values: list[float]

    @server.tool()
    def number() -> float:
        return NAN

    @server.tool()
    def numbers() -> dict[str, list[float]]:
        return {"all": [1.5, INFINITE]}

    @server.tool()
    def reading() -> Reading:
        return Reading("x", [1.5, -INFINITE])

    @server.tool()
    def float32() -> np.float32:
        return np.float32("nan")

    @server.tool()
    def optional() -> dict[str, float | None]:
        return {"mean": NAN, "sum": np.float64(2.5)}

    @server.tool()
    def unknown() -> dict[str, Any]:
        return {"mean": NAN, "all": [INFINITE, np.float64("nan"), 1.5]}

    @server.tool()
    def bare():
        return NAN

    class Handle:
        pass

    @server.tool()
    def nameless() -> Any:
        return {"handle": Handle()}

    @server.resource("docs://notes")
    def notes() -> Path:
        path = Path(__file__).with_name("notes.txt")
        path.write_text("caf\u00e9", "utf-8")
        return path

    @server.resource("docs://numbers")
    def resource_numbers() -> dict:
        return {"mean": NAN, "all": [np.int64(2)]}

    @server.resource("docs://drawing", mime_type="image/png")
    def drawing():
        return Image.new("L", (1, 1))

    @server.resource("docs://handle")
    def handle():
        return Handle()

    @server.resource("docs://caf\u00e9/menu")
    def menu() -> str:
        return "menu"

    @server.resource("docs://caf\u00e9/{name}")
    def dish(name: str) -> dict:
        return {"name": name, "price": INFINITE}

    @server.resource("docs://two%20words/{name}")
    def words_of(name: str) -> Path:
        path = Path(__file__).with_name("word.bin")
        path.write_bytes(b"\\xff\\0")
        return path

    @server.tool()
    def body(text: str | None) -> dict[str, str]:
        return {"kind": type(text).__name__}

    @server.tool()
    def plain(count: int, label: str = "x") -> dict[str, int]:
        """Counts."""
        return {label: count}
'''
TABLE = {"columns": ["city", "sales"], "rows": [["Oslo", 3.5], ["Rome", None]], "total_rows": 2, "left_out": None}


@pytest.fixture
async def client(rig: Rig) -> AsyncIterator[PlainClient]:
    rig.write(SERVER, "with_results")
    page = rig.start("with_results:server")
    async with connected(rig) as client:
        await client.initialize()
        yield client
    page.cancel()
    await asyncio.wait([page])


@pytest.fixture
def official(kind: None, rig: Rig) -> None:
    """The resources of the official SDKs."""
    if rig.kind == "fastmcp":
        pytest.skip("the package fastmcp refuses what it cannot send, and finds its resources itself")


def only(result: dict[str, Any]) -> dict[str, Any]:
    """Return the one content block of a result."""
    assert not result.get("isError"), result
    (block,) = result["content"]
    return dict(block)


def has_picture(block: dict[str, Any]) -> bool:
    return block["mimeType"] == "image/png" and base64.b64decode(block["data"]).startswith(PNG)


@pytest.mark.parametrize("tool", ["frame", "series", "undeclared"])
async def test_a_table_is_structured_content_and_a_text(client: PlainClient, tool: str) -> None:
    result = await client.call(tool)
    assert result["structuredContent"] == TABLE
    assert "Oslo" in only(result)["text"]


async def test_a_table_of_a_declaration_without_schema_is_a_text(client: PlainClient) -> None:
    for tool in ("frame_or_none", "any_value"):
        assert "Oslo" in only(await client.call(tool))["text"]
    assert not (await client.call("frame_or_none", there=False)).get("isError")


async def test_values_of_numpy_are_data(client: PlainClient) -> None:
    assert (await client.call("scalar"))["structuredContent"] == {"result": 2.5}
    values = {"shape": [2, 3], "dtype": "int64", "values": [[0, 1, 2], [3, 4, 5]], "left_out": None}
    assert (await client.call("array"))["structuredContent"] == values
    result = await client.call("data")
    assert result["structuredContent"] == {"rows": 2, "mean": 3.5, "all": [1, 2], "seen": True}
    assert json.loads(only(result)["text"]) == result["structuredContent"]


async def test_a_dataclass_with_them_is_an_object(client: PlainClient) -> None:
    result = await client.call("summary")
    assert result["structuredContent"] == {"rows": 2, "frame": TABLE}
    assert json.loads(only(result)["text"]) == result["structuredContent"]


async def test_figures_and_images_are_pictures(client: PlainClient) -> None:
    for tool in ("figure", "image"):
        assert has_picture(only(await client.call(tool)))
    text, picture, table = (await client.call("several"))["content"]
    assert text["text"] == "Drawn:"
    assert has_picture(picture)
    assert "Oslo" in table["text"]
    mixed = await client.call("mixed")
    assert mixed["structuredContent"]["rows"] == 2
    assert has_picture(mixed["content"][1])


async def test_bytes_and_files_have_their_type(client: PlainClient) -> None:
    resource = only(await client.call("report"))["resource"]
    assert resource["mimeType"] == "application/pdf"
    assert base64.b64decode(resource["blob"]) == b"%PDF-1.7 \xff"
    assert only(await client.call("words"))["text"] == "plain"
    resource = only(await client.call("written"))["resource"]
    assert (resource["mimeType"], resource["uri"]) == ("text/csv", "file:///sales.csv")
    assert resource["text"].split() == ["city,sales", "Oslo,3.5", "Rome,"]


async def test_what_has_no_form_says_what_to_return(client: PlainClient) -> None:
    result = await client.call("refused")
    assert result["isError"]
    assert "DataFrameGroupBy of pandas" in result["content"][0]["text"]
    assert "DataFrame" in result["content"][0]["text"]


async def test_output_schemas_are_those_of_what_is_sent(client: PlainClient) -> None:
    tools = {tool["name"]: tool for tool in (await client.request("tools/list"))["result"]["tools"]}
    for name in ("frame", "series"):
        assert set(tools[name]["outputSchema"]["properties"]) == set(TABLE)
    assert tools["scalar"]["outputSchema"]["properties"]["result"]["type"] == "number"
    assert set(tools["array"]["outputSchema"]["properties"]) == {"shape", "dtype", "values", "left_out"}
    for name in ("undeclared", "frame_or_none", "summary", "figure", "image", "report", "words", "written"):
        assert not tools[name].get("outputSchema"), name


async def test_other_tools_stay_as_they_are(client: PlainClient) -> None:
    tools = {tool["name"]: tool for tool in (await client.request("tools/list"))["result"]["tools"]}
    assert tools["plain"]["description"] == "Counts."
    assert tools["plain"]["inputSchema"]["required"] == ["count"]
    assert (await client.call("plain", count=2))["structuredContent"] == {"x": 2}


async def test_a_number_that_json_lacks_is_an_error_where_a_number_is_declared(client: PlainClient) -> None:
    """RFC 8259, section 6: a client that validates refuses null for a number, and with it the whole result."""
    places = {
        "number": "result is NaN",
        "numbers": "result['all'][1] is infinite",
        "reading": "result.values[1] is infinite",
        "float32": "result is NaN",
    }
    for tool, place in places.items():
        result = await client.call(tool)
        assert result["isError"], tool
        assert place in result["content"][0]["text"], tool


async def test_a_number_that_json_lacks_is_null_where_that_fits(client: PlainClient) -> None:
    for tool, data in {
        "optional": {"mean": None, "sum": 2.5},
        "unknown": {"mean": None, "all": [None, None, 1.5]},
    }.items():
        result = await client.call(tool)
        assert json.loads(only(result)["text"]) == data
        assert result.get("structuredContent", data) == data
    assert only(await client.call("bare"))["text"] == "null"


async def test_an_object_without_data_is_an_error(client: PlainClient) -> None:
    result = await client.call("nameless")
    assert result["isError"]
    assert "class Handle" in result["content"][0]["text"]


async def read(client: PlainClient, uri: str) -> dict[str, Any]:
    result = (await client.request("resources/read", uri=uri))["result"]
    (content,) = result["contents"]
    return dict(content)


@pytest.mark.parametrize("uri", ["docs://notes", "docs://caf%C3%A9/menu", "docs://caf%c3%a9/menu"])
async def test_a_resource_is_a_text(official: None, client: PlainClient, uri: str) -> None:
    assert (await read(client, uri))["text"] == ("menu" if uri.endswith("menu") else "caf\u00e9")


async def test_a_resource_has_no_number_that_json_lacks(official: None, client: PlainClient) -> None:
    assert json.loads((await read(client, "docs://numbers"))["text"]) == {"mean": None, "all": [2]}
    for uri in ("docs://caf%C3%A9/soup", "docs://caf%c3%a9/soup"):
        assert json.loads((await read(client, uri))["text"]) == {"name": "soup", "price": None}


async def test_a_resource_is_a_picture_or_a_file(official: None, client: PlainClient) -> None:
    assert base64.b64decode((await read(client, "docs://drawing"))["blob"]).startswith(PNG)
    assert base64.b64decode((await read(client, "docs://two%20words/a"))["blob"]) == b"\xff\0"


async def test_a_resource_without_data_is_an_error(official: None, client: PlainClient) -> None:
    answer = await client.request("resources/read", uri="docs://handle")
    assert "error" in answer


async def test_a_text_that_looks_like_json_stays_a_text(client: PlainClient) -> None:
    for text in ('{"blocks": [1]}', "null"):
        assert (await client.call("body", text=text))["structuredContent"] == {"kind": "str"}
