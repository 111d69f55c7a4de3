"""Servers of mcp 1.x and of the package fastmcp with views: framed, and in plain CPython over stdio."""

from __future__ import annotations

import asyncio
import socket
import sys
import textwrap
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcpframe.frame.compat import sdk
from mcpframe.views import View
from tests.other_sdks.inside.conftest import Serving

URI = "ui://weather/forecast"
VIEW = 'View("https://tools.example/forecast/", uri="ui://weather/forecast", prefers_border=True)'
FUNCTIONS = f"""
    from mcpframe import wrap
    from mcpframe.views import View, Views

    def serve(made):
        views = Views(made, {VIEW})

        @views.tool("{URI}", meta={{"own": 1}})
        def show(place: str) -> str:
            return f"Sun in {{place}}"

        @views.tool("{URI}", visibility=["app"], name="again")
        def refresh() -> str:
            return "Rain"

        return made
"""
LOWLEVEL = f"""
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcpframe.views import View, Views

    server = Server("weather")

    @server.list_tools()
    async def list_tools():
        schema = {{"type": "object"}}
        shown = types.Tool(name="show", inputSchema=schema, _meta={{"own": 1, **views.meta("{URI}")}})
        again = types.Tool(name="again", inputSchema=schema, _meta=views.meta("{URI}", visibility=["app"]))
        return [shown, again]

    @server.call_tool()
    async def call_tool(name, arguments):
        return [types.TextContent(type="text", text="Sun in " + arguments["place"])]

    views = Views(server, {VIEW})

    async def main():
        from mcp.server.stdio import stdio_server
        async with stdio_server() as streams:
            await server.run(*streams, server.create_initialization_options())

    if __name__ == "__main__":
        import anyio
        anyio.run(main)
"""
FASTMCP = "fastmcp" if sdk.has_fastmcp() else "mcp.server.fastmcp"
MADE = f"""{FUNCTIONS}
    from {FASTMCP} import FastMCP

    server = serve(FastMCP("weather"))

    if __name__ == "__main__":
        server.run()
"""
SOURCES = {"FastMCP": MADE, "wrapped": MADE.replace('FastMCP("weather"))', 'wrap(FastMCP("weather")))')}
if not sdk.has_fastmcp():
    SOURCES["lowlevel"] = LOWLEVEL
pytestmark = pytest.mark.filterwarnings("ignore:The .* capability is deprecated as of 2026-07-28")


@pytest.mark.parametrize("kind", SOURCES)
async def test_in_a_frame(serving: Serving, kind: str) -> None:
    async with serving(SOURCES[kind]) as client:
        await client.initialize()
        tools = (await client.request("tools/list"))["result"]["tools"]
        resources = (await client.request("resources/list"))["result"]["resources"]
        contents = (await client.request("resources/read", uri=URI))["result"]["contents"]
        _check(tools, resources, contents)


@pytest.fixture
async def session(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ClientSession]:
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(SOURCES[request.param]))
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    parameters = StdioServerParameters(command=sys.executable, args=["-S", str(program)], env=environment)
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield session


@pytest.mark.skipif(sdk.has_fastmcp(), reason="of the SDK's own FastMCP")
async def test_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "served_views.py").write_text(textwrap.dedent(SOURCES["FastMCP"]))
    monkeypatch.syspath_prepend(str(tmp_path))
    app = import_module("served_views").server.streamable_http_app()
    connect: Any = import_module("mcp.client.streamable_http").streamable_http_client
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        http = uvicorn.Server(uvicorn.Config(app, log_config=None))
        serving = asyncio.create_task(http.serve([listener]))
        try:
            address = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
            async with connect(address) as (read, write, *_), ClientSession(read, write) as session:
                await session.initialize()
                await _check_session(session)
        finally:
            http.should_exit = True
            await serving


@pytest.mark.parametrize("session", ["FastMCP", *(["lowlevel"] if "lowlevel" in SOURCES else [])], indirect=True)
async def test_over_stdio(session: ClientSession, request: pytest.FixtureRequest) -> None:
    await _check_session(session)
    result = await session.call_tool("show", {"place": "Wien"})
    assert result.content[0].text == "Sun in Wien"  # type: ignore[union-attr]
    if "lowlevel" not in request.node.name:
        assert result.meta
        assert result.meta["viewUUID"] != ((await session.call_tool("show", {"place": "Wien"})).meta or {})["viewUUID"]


async def _check_session(session: ClientSession) -> None:
    tools = (await session.list_tools()).tools
    resources = (await session.list_resources()).resources
    read: Any = session.read_resource
    contents = (await read(URI)).contents
    _check(*([item.model_dump(mode="json", by_alias=True) for item in items] for items in (tools, resources, contents)))


def _check(tools: list[Any], resources: list[Any], contents: list[Any]) -> None:
    view = View("https://tools.example/forecast/", uri=URI, prefers_border=True)
    show, again = tools
    assert _own(show["_meta"]) == {"own": 1, "ui": {"resourceUri": URI}, "ui/resourceUri": URI}
    assert again["name"] == "again"
    assert _own(again["_meta"]) == {"ui": {"resourceUri": URI, "visibility": ["app"]}, "ui/resourceUri": URI}
    (listed,), (content,) = resources, contents
    assert (listed["uri"], listed["mimeType"], _own(listed["_meta"])) == (URI, view.mime_type, view.meta)
    assert (content["uri"], content["mimeType"], content["text"]) == (URI, view.mime_type, view.html)
    assert _own(content["_meta"]) == view.meta


def _own(meta: dict[str, Any]) -> dict[str, Any]:
    """Return a `_meta` without what the package fastmcp adds."""
    return {key: value for key, value in meta.items() if key not in ("fastmcp", "_fastmcp")}
