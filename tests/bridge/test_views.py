"""Views of framed servers at a bridge: a desktop host finds what the server in its frame declares, untouched."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.extension import ClientExtension
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcpframe.views import EXTENSION_ID, MIME_TYPE
from mcpframe.views.html import view_html, view_meta
from tests.bridge.conftest import ROOT, SERVERS, command_for
from tests.bridge.programs import PATIENCE, environment, over_http
from tests.support.suites import extended

URI = "ui://weather/forecast"
UI = {
    **view_meta("https://tools.example/forecast/")["ui"],
    "permissions": {"geolocation": {}},
    "prefersBorder": True,
}


class Apps(ClientExtension):
    """The capabilities of a host that shows views."""

    identifier = EXTENSION_ID

    def settings(self) -> dict[str, Any]:
        return {"mimeTypes": [MIME_TYPE]}


@asynccontextmanager
async def connected(where: Any, era: str, *, shows_views: bool = True) -> AsyncIterator[Client]:
    mode: Literal["auto", "legacy"] = "auto" if era == "modern" else "legacy"
    extensions = [Apps()] if shows_views else []
    async with Client(where, mode=mode, extensions=extensions) as client:
        yield client


@pytest.mark.parametrize("era", ["modern", extended("legacy")])
@pytest.mark.parametrize("transport", [extended("stdio"), "http"])
async def test_views_pass_untouched(transport: str, era: str, tmp_path: Any, stack: AsyncExitStack) -> None:
    command = command_for(str(SERVERS / "viewed"))
    where: Any
    if transport == "http":
        where = stack.enter_context(over_http(command, tmp_path))
    else:
        program, *arguments = [*command, "--profile", str(tmp_path)]
        parameters = StdioServerParameters(command=program, args=arguments, env=environment(), cwd=ROOT)
        where = stdio_client(parameters, errlog=stack.enter_context((tmp_path / "stderr.txt").open("w")))
    with anyio.fail_after(PATIENCE):
        async with connected(where, era) as client:
            # The SDK's servers name their extensions from 2026-07-28 on; clients may name theirs in either era.
            assert client.server_capabilities.extensions == ({EXTENSION_ID: {}} if era == "modern" else None)
            await _check(client)
        if transport == "http":
            async with connected(where, era, shows_views=False) as client:
                assert (await client.call_tool("supports")).structured_content == {"result": False}


async def _check(client: Client) -> None:
    assert (await client.call_tool("supports")).structured_content == {"result": True}

    forecast, supports = (await client.list_tools()).tools
    assert forecast.meta == {
        "ui": {"resourceUri": URI, "visibility": ["model", "app"]},
        "ui/resourceUri": URI,
        "example.org/own": [1, None, {"a": 0.5}],
    }
    assert supports.meta == {"ui": {"resourceUri": URI, "visibility": ["app"]}, "ui/resourceUri": URI}

    (listed,) = (await client.list_resources()).resources
    assert (listed.uri, listed.mime_type, listed.title, listed.meta) == (URI, MIME_TYPE, "Forecast", {"ui": UI})
    (content,) = (await client.read_resource(URI)).contents
    assert isinstance(content, types.TextResourceContents)
    assert (content.uri, content.mime_type, content.meta) == (URI, MIME_TYPE, {"ui": UI})
    assert content.text == view_html("https://tools.example/forecast/")

    result = await client.call_tool("forecast", {"place": "Wien"}, meta={"example.org/asked": 1})
    assert isinstance(result.content[0], types.TextContent)
    assert result.content[0].meta == {"example.org/part": True}
    meta = {key: value for key, value in (result.meta or {}).items() if not key.startswith("io.modelcontextprotocol/")}
    assert meta.pop("viewUUID")
    assert meta == {"ui": {"note": "Wien"}, "example.org/seen": 1}
