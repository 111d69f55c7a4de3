"""Kept values: results by reference, handles as arguments, pages as resources, and the bounds of a session."""

from __future__ import annotations

import gc
import json
import sys
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import anyio
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import Field, TypeAdapter

from mcpframe import FrameServer, Kept, kept
from mcpframe.frame.core.errors import KeptError, PageError, StateError
from mcpframe.frame.core.limits import KEPT_VALUES
from mcpframe.frame.page.session_page import Assets, Element, Page
from mcpframe.frame.results.paged import paged
from mcpframe.frame.serving import kept as module
from mcpframe.frame.serving.frame_session import local_session
from mcpframe.frame.serving.framed import PeerSession
from mcpframe.frame.storage.values import Storage
from tests.support.fake_page import FakeBrowser, FakeEvent

ERAS = ("legacy", "2026-07-28")
SECRET = "4111-1111"


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_local", [])
    monkeypatch.setattr(module, "_stores", weakref.WeakSet())


@dataclass
class Both:
    """A kept table and a number."""

    table: Kept[Any]
    number: int


@pytest.fixture
def server() -> FrameServer[Any]:
    server = FrameServer("test", allowed_origins=["*"])

    @server.tool()
    def table(rows: int, inline: int = 0) -> Kept[pd.DataFrame]:
        return kept(pd.DataFrame({"n": range(rows), "card": SECRET}), summary="Cards of the shop", inline=inline)

    @server.tool()
    def array() -> Kept[np.ndarray]:
        return kept(np.arange(6))

    @server.tool()
    def figure() -> Kept[Figure]:
        return kept(Figure())

    @server.tool()
    def odd(table: Kept[pd.DataFrame]) -> Kept[pd.DataFrame]:
        return kept(table.value[table.value.n % 2 == 1])

    @server.tool()
    def same(table: Kept[Any]) -> Kept[Any]:
        return table

    @server.tool()
    async def total(
        table: Annotated[Kept[pd.DataFrame | pd.Series], Field(description="What is summed")],
        other: Kept[pd.DataFrame] | None = None,
    ) -> int:
        return int(table.value.n.sum()) + (0 if other is None else int(other.value.n.sum()))

    @server.tool()
    def both() -> Both:
        return Both(kept([[1], [2]]), 7)

    @server.tool()
    def several() -> list[Any]:
        return [kept([1]), kept("text")]

    @server.tool()
    def unfit() -> Kept[Any]:
        return kept({1, 2})

    return server


@asynccontextmanager
async def client_of(server: FrameServer[Any], era: str = "legacy") -> AsyncIterator[Callable[..., Any]]:
    async with Client(server, mode=cast("Any", era)) as client:

        async def call(tool: str, **arguments: Any) -> Any:
            return await client.call_tool(tool, arguments)

        yield call


def text_of(result: Any) -> str:
    return str(result.content[0].text)


# A result by reference


@pytest.mark.parametrize("era", ERAS)
async def test_a_result_has_the_handle_and_none_of_the_data(server: FrameServer[Any], era: str) -> None:
    async with client_of(server, era) as call:
        result = await call("table", rows=200_000)
    assert SECRET not in result.model_dump_json()
    assert len(result.model_dump_json()) < 1500
    data = result.structured_content
    assert data == {
        "handle": data["handle"],
        "uri": f"kept:///{data['handle']}",
        "kind": "table",
        "shape": [200_000, 2],
        "columns": ["n", "card"],
        "summary": "Cards of the shop",
        "rows": None,
    }
    text, link = result.content
    assert text.text.startswith(f"{data['handle']}: a table of 200,000 rows and 2 columns: n (int64), card (")
    assert text.text.endswith("Cards of the shop")
    assert (link.type, link.uri, link.name) == ("resource_link", data["uri"], data["handle"])


async def test_a_small_table_is_included_whole_where_its_author_says_so(server: FrameServer[Any]) -> None:
    async with client_of(server) as call:
        included = await call("table", rows=3, inline=3)
        assert included.structured_content["rows"] == [[0, SECRET], [1, SECRET], [2, SECRET]]
        assert text_of(included).endswith(f"n | card\n0 | {SECRET}\n1 | {SECRET}\n2 | {SECRET}")
        for rows, inline in ((4, 3), (2000, 10**6)):  # one row too many, and too long a text
            result = await call("table", rows=rows, inline=inline)
            assert result.structured_content["rows"] is None
            assert SECRET not in result.model_dump_json()


async def test_kept_values_inside_of_data_and_in_lists(server: FrameServer[Any]) -> None:
    async with client_of(server) as call:
        result = await call("both")
        assert result.structured_content["number"] == 7
        assert result.structured_content["table"]["shape"] == [2, 1]
        assert [block.type for block in result.content] == ["text", "resource_link"]
        result = await call("several")
        assert [block.type for block in result.content] == ["text", "resource_link"] * 2


async def test_what_cannot_be_kept_is_an_error_that_says_what_can(server: FrameServer[Any]) -> None:
    async with Client(server) as client:
        result = await client.call_tool("unfit", {})
    assert result.is_error
    with pytest.raises(TypeError, match="An object of type set cannot be kept: keep a DataFrame"):
        kept({1, 2})


# A handle as an argument


@pytest.mark.parametrize("era", ERAS)
async def test_a_chain_of_tools_takes_the_same_object(server: FrameServer[Any], era: str) -> None:
    async with client_of(server, era) as call:
        first = (await call("table", rows=10)).structured_content
        odd = (await call("odd", table=first["handle"])).structured_content
        assert odd["shape"] == [5, 2]
        assert (await call("total", table=odd["uri"], other=first["handle"])).structured_content == {"result": 25 + 45}
        assert (await call("total", table=f" {odd['uri']}?offset=1 ")).structured_content == {"result": 25}
        again = (await call("same", table=odd["handle"])).structured_content
        assert again == odd  # neither copied nor kept a second time
    assert len(module._store()._kept) == 2


async def test_a_parameter_is_a_string_in_the_schema(server: FrameServer[Any]) -> None:
    async with Client(server) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    properties = tools["total"].input_schema["properties"]
    assert (properties["table"]["type"], properties["table"]["description"]) == ("string", "What is summed")
    assert [each["type"] for each in properties["other"]["anyOf"]] == ["string", "null"]
    assert "kept DataFrame" in properties["other"]["anyOf"][0]["description"]
    assert tools["odd"].output_schema
    assert set(tools["odd"].output_schema["properties"]) == {
        *("handle", "uri", "kind", "shape", "columns", "summary", "rows")
    }


@pytest.mark.parametrize("handle", ["", "k0000000000000000", "{not} %s", "x" * 10_000, "kept:///", "[1]", "null"])
async def test_a_handle_that_is_unknown_says_what_to_do(server: FrameServer[Any], handle: str) -> None:
    async with client_of(server) as call:
        result = await call("odd", table=handle)
        assert result.is_error
        assert len(text_of(result)) < 600
        if handle not in ("[1]", "null"):  # which the SDK reads as JSON
            assert "is unknown" in text_of(result)
            assert "Call the tool that made it again" in text_of(result)


@pytest.mark.parametrize("given", [5, None, ["k"], {"handle": "k"}])
async def test_what_is_no_handle_is_refused(server: FrameServer[Any], given: object) -> None:
    async with client_of(server) as call:
        result = await call("odd", table=given)
        assert result.is_error
        assert "A handle is a string" in text_of(result)


async def test_a_value_of_another_class_says_which_it_is(server: FrameServer[Any]) -> None:
    async with client_of(server) as call:
        array = (await call("array")).structured_content["handle"]
        result = await call("odd", table=array)
        assert result.is_error
        assert f"'{array}' is an array of int64 and the shape (6,), of the class ndarray" in text_of(result)
        assert "pass the handle of a DataFrame" in text_of(result)
        assert "of a DataFrame or Series" in text_of(await call("total", table=array))


@pytest.mark.parametrize(
    ("wanted", "value", "fits"),
    [
        (list, [1], True),
        (list[dict[str, int]], [{}], True),
        (list[dict[str, int]], (1,), False),
        (bytes | str, b"x", True),
        (bytes | str, [1], False),
        (str | list[int], [1], True),
        (Any, "text", True),
        (object, "text", True),
    ],
)
def test_which_class_a_type_stands_for(wanted: Any, value: Any, fits: bool) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(Kept[wanted])
    item = kept(value)
    if fits:
        assert adapter.validate_python(item.handle) is item
        assert adapter.validate_python(item) is item  # an author's own call
        assert adapter.dump_python(item) == item.handle
    else:
        with pytest.raises(ValueError, match="pass the handle of a"):
            adapter.validate_python(item.handle)


# Pages


@pytest.mark.parametrize("era", ERAS)
async def test_a_resource_pages_through_all_of_it(server: FrameServer[Any], era: str) -> None:
    async with Client(server, mode=cast("Any", era)) as client:
        [template] = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "kept:///{handle}{?offset,limit}"
        made = await client.call_tool("table", {"rows": 2500})
        assert made.structured_content
        uri, rows = made.structured_content["uri"], []
        while uri is not None:
            [found] = (await client.read_resource(uri)).contents
            page = json.loads(cast("Any", found).text)
            assert (found.mime_type, found.meta) == (
                "application/json",
                {"mcpframe/offset": len(rows), "mcpframe/total": 2500}
                | ({"mcpframe/next": page["next"]} if page["next"] else {}),
            )
            rows += page["rows"]
            uri = page["next"]
        assert rows == [[number, SECRET] for number in range(2500)]
        [two] = (await client.read_resource(f"{made.structured_content['uri']}?offset=7&limit=2&other=x")).contents
        assert json.loads(cast("Any", two).text)["rows"] == [[7, SECRET], [8, SECRET]]
        picture = await client.call_tool("figure", {})
        assert picture.structured_content
        [drawn] = (await client.read_resource(picture.structured_content["uri"])).contents
        assert drawn.mime_type == "image/png"


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("?offset=-1", "The offset '-1' is not a number"),
        ("?offset=x", "not a number"),
        ("?offset=", "not a number"),
        ("?limit=0", "at least one"),
        ("?limit=" + "9" * 400, "not a number"),
        ("?limit=٣", "not a number"),
    ],
)
async def test_a_page_that_is_none_is_an_error_that_says_why(server: FrameServer[Any], query: str, error: str) -> None:
    async with Client(server) as client:
        made = await client.call_tool("array", {})
        assert made.structured_content
        with pytest.raises(MCPError, match=error) as raised:
            await client.read_resource(made.structured_content["uri"] + query)
        assert raised.value.code == -32602
        with pytest.raises(MCPError, match="is unknown"):
            await client.read_resource("kept:///k0" + query)


async def test_a_server_without_kept_values_has_no_template(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, module.__name__)
    async with Client(FrameServer("plain", allowed_origins=["*"])) as client:
        assert (await client.list_resource_templates()).resource_templates == []
        with pytest.raises(MCPError, match="Unknown resource"):
            await client.read_resource("kept:///k0")


# Sessions and bounds


@pytest.fixture
def peers() -> list[PeerSession]:
    return [PeerSession(local_session) for _ in range(3)]


def test_a_handle_is_of_one_session_and_ends_with_it(server: FrameServer[Any], peers: list[PeerSession]) -> None:
    one, other, _ = peers
    frame = pd.DataFrame({"n": [1]})
    gone = weakref.ref(frame)
    other.close = lambda: None  # type: ignore[method-assign]
    with server.running_for(one):
        handle = kept(frame).handle
        assert module._store().find(handle).value is frame
        with server.running_for(other), pytest.raises(KeptError):
            module._store().find(handle)
        with server.running_for(other):
            mine = kept([1]).handle
    del frame
    gc.collect()
    assert gone() is None
    with server.running_for(other):
        assert module._store().find(mine).value == [1]
    with pytest.raises(KeptError):
        module._store().find(handle)


async def test_tasks_and_threads_of_a_session_share_its_values(
    server: FrameServer[Any], peers: list[PeerSession]
) -> None:
    with server.running_for(peers[0]):
        handles = [await anyio.to_thread.run_sync(lambda: kept("in a thread").handle), kept("here").handle]
        assert [module._store().find(handle).value for handle in handles] == ["in a thread", "here"]


def test_what_was_used_longest_ago_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_VALUES", 3)
    handles = [kept([number]).handle for number in range(3)]
    store = module._store()
    store.find(handles[0])
    kept(["another"])
    assert store.find(handles[0]).value == [0]
    with pytest.raises(KeptError, match="drops what was used longest ago"):
        store.find(handles[1])
    assert store.size == sum(item.size for item in store._kept.values())


def test_a_session_is_bounded_in_bytes_and_what_fits_in_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_BYTES", 1000)
    handles = [kept(bytes(400)).handle for _ in range(3)]
    store = module._store()
    assert list(store._kept) == handles[1:]
    assert store.size == 800
    with pytest.raises(KeptError, match="keep a part of it"):
        kept(bytes(1001))
    assert list(store._kept) == handles[1:]  # nothing was lost for it
    kept(bytes(1000))
    assert len(store._kept) == 1


def test_of_all_sessions_the_one_with_most_drops_first(
    server: FrameServer[Any], peers: list[PeerSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ALL_KEPT_BYTES", 1000)
    large, small, newcomer = peers
    for peer in peers:
        peer.close = lambda: None  # type: ignore[method-assign]
    with server.running_for(large):
        dropped, last = kept(bytes(400)).handle, kept(bytes(300)).handle
    with server.running_for(small):
        safe = kept(bytes(200)).handle
    with server.running_for(newcomer):
        kept(bytes(250))
    with server.running_for(small):
        assert module._store().find(safe)
    with server.running_for(large):
        assert module._store().find(last)
        with pytest.raises(KeptError):
            module._store().find(dropped)
    monkeypatch.setattr(module, "ALL_KEPT_BYTES", 800)
    with server.running_for(newcomer):
        assert module._store().find(kept(bytes(400)).handle)  # it has most, but this value is new


def test_handles_are_random_and_name_their_process() -> None:
    one, other = (module.Store(f"w{digit * 12}") for digit in "ab")
    pages = paged([1])
    handles = {one.keep(pages, "", 0).handle for _ in range(KEPT_VALUES)}
    assert len(handles) == KEPT_VALUES
    assert all(handle.startswith("waaaaaaaaaaaa-k") and len(handle) == 31 for handle in handles)
    with pytest.raises(KeptError, match="Another process of this server keeps it"):
        other.find(handles.pop())
    with pytest.raises(KeptError, match="drops what was used longest ago"):
        one.find("waaaaaaaaaaaa-k0")


def test_in_a_page_a_session_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "in_pyodide", lambda: True)
    with pytest.raises(StateError, match="use kept in tools"):
        kept([1])


# In the page


async def test_a_page_shows_a_table_whole(tmp_path: Path) -> None:
    browser = FakeBrowser(**{"assets-1/page.html": b'<div id="result"></div>'})
    page = Page(browser, Assets("assets-1/", frozenset({"page.html"})), storage=Storage("s"))
    await page.show("page.html")
    await page.show(kept([[number, "<b>"] for number in range(250)]), into="#result")
    result = page.element("#result")

    def shown() -> tuple[str, str, str]:
        cells = [cell.text for cell in result.elements("td")]
        return result.element("span").text, cells[0], cells[-2]

    def click(button: Element) -> None:
        for target, _, callback in list(browser.listeners):
            if target is button.js:
                callback(FakeEvent("click", target))

    assert [cell.text for cell in result.elements("th")] == ["0", "1"]
    assert shown() == ("rows 1 to 100 of 250", "0", "99")
    before, after = result.elements("button")
    assert (before.disabled, after.disabled) == (True, False)
    for place, first, last in (("rows 101 to 200 of 250", "100", "199"), ("rows 201 to 250 of 250", "200", "249")):
        click(after)
        assert shown() == (place, first, last)
    assert (before.disabled, after.disabled) == (False, True)
    click(after)  # a second click, on its way before the button was disabled
    assert shown() == ("rows 201 to 250 of 250", "200", "249")
    click(before)
    assert shown() == ("rows 101 to 200 of 250", "100", "199")
    assert result.elements("td")[1].text == "<b>"

    await page.show(kept([[1]]), into="#result")
    assert result.elements("button") == []
    await page.show(kept("<i>text"), into="#result")
    assert result.element("pre").text == "<i>text"
    await page.show(kept(b"\0\xff"), into="#result")
    assert result.element("pre").text == "the file of 2 bytes"
    await page.show(kept(np.arange(3)), into="#result")
    assert "int64 array" in result.element("pre").text
    await page.show(kept(Figure()), into="#result")
    assert str(result.element("img").get("src")).startswith("data:image/png")
    await page.show(kept(b"\x89PNG\r\n\x1a\n"), into="#result")
    assert str(result.element("img").get("src")).startswith("data:image/png")
    drawing = tmp_path / "drawing.svg"
    drawing.write_text("<svg/>")
    await page.show(kept(drawing), into="#result")
    assert result.element("pre").text == "the file drawing.svg of 6 bytes"
    with pytest.raises(PageError):
        await page.show({1}, into="#result")


async def test_rows_of_a_kept_table(server: FrameServer[Any]) -> None:
    table = kept(pd.DataFrame({"n": range(5)}))
    assert table.rows() == (["n"], [[0], [1], [2], [3], [4]])
    assert table.rows(1, 3).rows == [[1], [2]]
    assert (table.kind, table.shape, table.value.n.sum()) == ("table", [5, 1], 10)
    assert kept(table) is table
    assert table.handle in repr(table)
    with pytest.raises(KeptError, match="has no rows"):
        kept("text").rows()
