"""A page in Python that is a client of page servers, and one itself."""

import asyncio
import json
from typing import Any

import js
from mcp import Client
from mcp.server.mcpserver import MCPServer
from pyodide.ffi import create_proxy

from mcpframe import Page, page_server
from mcpframe.hosts import iframe_client, tab_client

server = MCPServer("tabbed")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


async def use(transport: Any) -> str:
    """Return what a page server offers and answers."""
    async with Client(transport, mode="legacy") as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        added, failed = await asyncio.gather(
            client.call_tool("add", {"a": 2, "b": 3}), client.call_tool("fail", {}), return_exceptions=True
        )
        texts = [result.content[0].text for result in (added, failed)]
        return json.dumps({"server": client.server_info.name, "tools": tools, "texts": texts})


async def main(page: Page) -> None:
    """Do what a test asks for."""
    serving: list[asyncio.Task[None]] = []
    js.useTab = create_proxy(lambda: use(tab_client()))
    js.useFrame = create_proxy(lambda url: use(iframe_client(url)))
    js.beServer = create_proxy(lambda: serving.append(asyncio.create_task(page_server(server))))
    js.document.documentElement.dataset.state = "loaded"
    await asyncio.Event().wait()
