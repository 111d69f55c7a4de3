"""A page in Python that uses the tools of its document."""

import asyncio
import json
from typing import Any

import js
from mcp import Client
from mcp.types import ServerNotification, ToolListChangedNotification
from pyodide.ffi import create_proxy

from mcpframe import Page
from mcpframe.hosts import model_context_client


async def use(origins: list[str]) -> list[str]:
    """Return what the document's tools are, and those that frames of these origins expose to it."""
    async with Client(model_context_client(origins)) as client:
        tools = (await client.list_tools()).tools
        return [f"{tool.name} of {(tool.meta or {})['mcpframe/origin']}" for tool in tools]


async def main(page: Page) -> None:
    """Do what a test asks for."""
    changed = asyncio.Event()

    async def on_message(message: Any) -> None:
        if isinstance(message, ToolListChangedNotification | ServerNotification):
            changed.set()

    origins = [origin for origin in js.location.hash.removeprefix("#").split(",") if origin]
    async with Client(model_context_client(origins), message_handler=on_message) as client:

        async def tools() -> str:
            listed = (await client.list_tools()).tools
            return json.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed])

        async def call(name: str, arguments: str) -> str:
            result = await client.call_tool(name, json.loads(arguments))
            return result.model_dump_json(by_alias=True, exclude_none=True)

        async def wait_for_change() -> None:
            await changed.wait()
            changed.clear()

        async def hang() -> str:
            """Call a tool that never answers, and give up once it has begun."""
            calling = asyncio.ensure_future(client.call_tool("hang", {}))
            await js.hanging
            calling.cancel()
            try:
                await calling
            except asyncio.CancelledError:
                return "gave up"
            return "answered"

        async def names() -> str:
            return json.dumps(await use(origins))

        js.agent = js.Object.new()
        for function in (names, tools, call, wait_for_change, hang):
            setattr(js.agent, function.__name__, create_proxy(function))
        js.document.documentElement.dataset.state = "loaded"
        await asyncio.Event().wait()
