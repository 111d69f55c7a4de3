"""Servers of mcp 2.x with views, as a client finds them."""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import uvicorn
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.apps import Apps
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer

from mcpframe import FrameServer, wrap
from mcpframe.frame.core.errors import ViewError
from mcpframe.kit.web.serve import bind
from mcpframe.views import EXTENSION_ID, MIME_TYPE, View, Views

URI = "ui://weather/forecast"


def a_view(uri: str = URI) -> View:
    return View("https://tools.example/forecast/", uri=uri, title="Forecast", prefers_border=True)


def _declare(views: Views, view: View) -> None:
    @views.tool(view, title="Shows a forecast", meta={"own": 1})
    def show(place: str) -> str:
        """Shows it."""
        return f"Sun in {place}"

    @views.tool(URI, visibility=["app"], name="again")
    def refresh() -> str:
        return "Rain"

    assert show("Wien") == "Sun in Wien"  # the function itself stays


def _of(make: Callable[[], Any]) -> Callable[[], Any]:
    def server() -> Any:
        made, view = make(), a_view()
        _declare(Views(made, view), view)
        return made

    return server


def _with_apps() -> Any:
    apps, view = Apps(), a_view()
    _declare(Views(apps, view), view)
    return MCPServer("weather", extensions=[apps])


def _lowlevel() -> Any:
    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        schema = {"type": "object"}
        shown = types.Tool(
            name="show", title="Shows a forecast", input_schema=schema, _meta={"own": 1, **views.meta(view)}
        )
        again = types.Tool(name="again", input_schema=schema, _meta=views.meta(URI, visibility=["app"]))
        return types.ListToolsResult(tools=[shown, again])

    server, view = Server("weather", on_list_tools=list_tools), a_view()
    views = Views(server, view)
    return server


MADE = {
    "MCPServer": _of(lambda: MCPServer("weather")),
    "FrameServer": _of(lambda: FrameServer("weather")),
    "wrapped": _of(lambda: wrap(MCPServer("weather"))),
    "Apps": _with_apps,
    "lowlevel": _lowlevel,
}


@pytest.mark.parametrize("kind", MADE)
async def test_a_client_finds_the_tools_and_their_view(kind: str) -> None:
    made = MADE[kind]()
    async with Client(getattr(made, "wrapped", made)) as client:
        await _check(client)


async def _check(client: Client) -> None:
    assert client.server_capabilities.extensions == {EXTENSION_ID: {}}
    show, again = (await client.list_tools()).tools
    assert show.title == "Shows a forecast"
    assert show.meta == {"own": 1, "ui": {"resourceUri": URI}, "ui/resourceUri": URI}
    assert again.name == "again"
    assert again.meta == {"ui": {"resourceUri": URI, "visibility": ["app"]}, "ui/resourceUri": URI}
    (listed,) = (await client.list_resources()).resources
    view = a_view()
    assert (listed.uri, listed.mime_type, listed.title, listed.meta) == (URI, MIME_TYPE, "Forecast", view.meta)
    (content,) = (await client.read_resource(URI)).contents
    assert isinstance(content, types.TextResourceContents)
    assert (content.uri, content.mime_type, content.text) == (URI, MIME_TYPE, view.html)
    assert content.meta == view.meta
    assert view.meta["ui"]["prefersBorder"] is True


@pytest.mark.parametrize("kind", ["MCPServer", "FrameServer", "wrapped"])
async def test_each_result_of_a_tool_with_a_view_has_an_id(kind: str) -> None:
    made = MADE[kind]()
    server = getattr(made, "wrapped", made)

    @server.tool()
    def plain() -> str:
        return "without a view"

    own = types.CallToolResult(content=[], _meta={"viewUUID": "own", "more": 1})
    Views(made).tool(URI, name="own")(lambda: own)
    async with Client(server) as client:
        metas = [(await client.call_tool("show", {"place": "Wien"})).meta or {} for _ in range(2)]
        assert len({uuid.UUID(meta["viewUUID"]) for meta in metas}) == 2
        assert ((await client.call_tool("again")).meta or {}).get("viewUUID")
        assert "viewUUID" not in ((await client.call_tool("plain")).meta or {})
        meta = (await client.call_tool("own")).meta or {}
        assert (meta["viewUUID"], meta["more"]) == ("own", 1)


PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from tests.unit.views.test_servers import MADE
MADE["MCPServer"]().run("stdio")
"""


async def test_over_stdio() -> None:
    program = PROGRAM.format(root=str(Path(__file__).parents[3]))
    async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=["-c", program]))) as client:
        await _check(client)
        called = await client.call_tool("show", {"place": "Wien"})
        assert called.structured_content == {"result": "Sun in Wien"}


async def test_over_http() -> None:
    with bind("127.0.0.1", 0) as listener:
        server = uvicorn.Server(uvicorn.Config(MADE["MCPServer"]().streamable_http_app(), log_config=None))
        serving = asyncio.create_task(server.serve([listener]))
        try:
            async with Client(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp") as client:
                await _check(client)
        finally:
            server.should_exit = True
            await serving


async def test_a_lowlevel_server_s_own_resources_stay() -> None:
    async def list_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
        if params is not None and params.cursor:
            return types.ListResourcesResult(resources=[types.Resource(uri="note://2", name="2")])
        return types.ListResourcesResult(resources=[types.Resource(uri="note://1", name="1")], next_cursor="next")

    async def read(ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, text="a note")])

    server = Server("notes", on_list_resources=list_resources, on_read_resource=read)
    views = Views(server, a_view())
    async with Client(server) as client:
        first = await client.list_resources()
        assert [resource.uri for resource in first.resources] == ["note://1", URI]
        second = await client.list_resources(cursor=first.next_cursor)
        assert [resource.uri for resource in second.resources] == ["note://2"]
        (content,) = (await client.read_resource("note://1")).contents
        assert isinstance(content, types.TextResourceContents)
        assert content.text == "a note"
    with pytest.raises(ViewError, match="_meta of its Tool"):
        views.tool(URI)(lambda: "")


async def test_a_lowlevel_server_without_resources_knows_no_others() -> None:
    server = Server("none")
    Views(server, a_view())
    async with Client(server) as client:
        with pytest.raises(Exception, match="Unknown resource: note://1"):
            await client.read_resource("note://1")


@pytest.mark.parametrize("make", [lambda: MCPServer("weather"), lambda: Server("weather"), Apps])
def test_two_views_of_one_uri(make: Callable[[], Any]) -> None:
    server = make()
    with pytest.raises(ViewError, match=f"two views of the URI {URI}"):
        Views(server, a_view(), a_view())
    with pytest.raises(ViewError, match="two views"):
        Views(server).add(a_view())
    Views(server, a_view("ui://weather/other"))


def test_a_tool_that_names_an_unknown_view() -> None:
    views = Views(MCPServer("weather"), a_view())
    with pytest.raises(ViewError, match=f"no view ui://weather/map.* It has: {URI}"):
        views.tool("ui://weather/map")
    with pytest.raises(ViewError, match="no view"):
        views.meta(a_view())  # another one, which was not added
    with pytest.raises(ViewError, match="'model', 'app' or both"):
        views.tool(URI, visibility=["everybody"])  # type: ignore[list-item]


def test_what_is_no_server() -> None:
    with pytest.raises(ViewError, match="type int is not an MCP server"):
        Views(7)
