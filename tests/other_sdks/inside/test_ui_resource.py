"""Servers of mcp 1.x and of the package fastmcp that return pages of mcp-ui: framed, and over stdio."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcpframe.frame.compat import sdk
from mcpframe.frame.hosting.mcp_ui.resource import UiContent, read_ui_resource
from tests.other_sdks.inside.conftest import Serving

URI = "ui://tasks/board"
URL = "https://tools.example/board/"
FASTMCP = "fastmcp" if sdk.has_fastmcp() else "mcp.server.fastmcp"
MADE = f"""
    from typing import Any

    from mcp.types import TextContent
    from mcpframe import ui_resource
    from mcpframe.views import View
    from {FASTMCP} import FastMCP

    server = FastMCP("tasks")

    @server.tool()
    def page() -> Any:
        return ui_resource("{URI}", html="<p>Board", blob=True)

    @server.tool()
    def bundle() -> list[Any]:
        page = ui_resource(View("{URL}", uri="{URI}"), size=(800, "50%"), render_data={{"tasks": [1, 2]}})
        return [TextContent(type="text", text="2"), page]

    if __name__ == "__main__":
        server.run()
"""
LOWLEVEL = f"""
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcpframe import ui_resource

    server = Server("tasks")

    @server.list_tools()
    async def list_tools():
        return [types.Tool(name=name, inputSchema={{"type": "object"}}) for name in ("page", "bundle")]

    @server.call_tool()
    async def call_tool(name, arguments):
        if name == "page":
            return [ui_resource("{URI}", html="<p>Board", blob=True)]
        page = ui_resource("{URI}", url="{URL}", size=(800, "50%"), render_data={{"tasks": [1, 2]}})
        return [types.TextContent(type="text", text="2"), page]
"""
SOURCES = {"FastMCP": MADE, **({} if sdk.has_fastmcp() else {"lowlevel": LOWLEVEL})}
META = {
    "mcpui.dev/ui-preferred-frame-size": ["800px", "50%"],
    "mcpui.dev/ui-initial-render-data": {"tasks": [1, 2]},
}
pytestmark = pytest.mark.filterwarnings("ignore:The .* capability is deprecated as of 2026-07-28")


def check(page: list[dict[str, Any]], bundle: list[dict[str, Any]]) -> None:
    """Check what the two tools have returned, as it was on the wire."""
    (block,) = page
    assert (block["type"], block["resource"]["uri"], block["resource"]["mimeType"]) == ("resource", URI, "text/html")
    assert "text" not in block["resource"]
    assert read_ui_resource(block) == UiContent(URI, html="<p>Board")
    text, block = bundle
    assert text["text"] == "2"
    assert block["type"] == "resource"
    assert block["resource"] == {"uri": URI, "mimeType": "text/uri-list", "text": URL, "_meta": META}
    shown = UiContent(URI, url=URL, size=("800px", "50%"), data={"tasks": [1, 2]})
    assert read_ui_resource(block) == shown


@pytest.mark.parametrize("kind", SOURCES)
async def test_in_a_frame(serving: Serving, kind: str) -> None:
    async with serving(SOURCES[kind]) as client:
        await client.initialize()
        check((await client.call("page"))["content"], (await client.call("bundle"))["content"])


async def test_over_stdio_with_the_models_of_the_sdk(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(MADE))
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    parameters = StdioServerParameters(command=sys.executable, args=["-S", str(program)], env=environment)
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        results = [await session.call_tool(name) for name in ("page", "bundle")]
    blocks = [result.content for result in results]
    dump: Any = {"mode": "json", "by_alias": True, "exclude_none": True}
    check(*([block.model_dump(**dump) for block in each] for each in blocks))
    assert read_ui_resource(blocks[1][1]).url == URL
