"""A page in Python that frames a page with `OuterFrame`, and is its client or its server, for a test to drive."""

import asyncio
import json
from typing import Any

import js
from mcp import Client
from mcp.server.mcpserver import MCPServer
from pyodide.ffi import create_proxy

from mcpframe import Page
from mcpframe.hosts import OuterFrame, serve


async def main(page: Page) -> None:
    """Frame the page at the first address that comes, and then do what a test asks for.

    A dialect, and whether this page is the server, may come with the address.
    """
    asked: asyncio.Queue[tuple[Any, asyncio.Future[str]]] = asyncio.Queue()

    async def ask(text: str) -> str:
        answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        asked.put_nowait((json.loads(text), answered))
        return await answered

    js.ask = create_proxy(ask)
    js.document.documentElement.dataset.state = "loaded"
    first, opened = await asked.get()
    url, dialect, serves = (first, None, False) if isinstance(first, str) else first
    streams = OuterFrame(url, dialect=dialect).connect("body", visible=True)
    if serves:
        server = MCPServer("framing")
        server.add_tool(add, structured_output=False)
        async with streams as spoken:
            opened.set_result("")
            await serve(server, *spoken)
    async with Client(streams) as client, asyncio.TaskGroup() as tasks:
        opened.set_result("")
        while True:
            request, answered = await asked.get()
            tasks.create_task(answer(client, *request, answered))


def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


async def answer(client: Client, what: str, name: str, arguments: Any, answered: asyncio.Future[str]) -> None:
    """Call a tool, call one and cancel it at its first progress, or list what the server has."""
    progress: list[float] = []
    reported = asyncio.Event()

    async def note(done: float, total: float | None, message: str | None) -> None:
        progress.append(done)
        reported.set()

    if what == "list":
        found = await (client.list_resources() if name == "resources" else client.list_prompts())
        answered.set_result(json.dumps(len(getattr(found, name))))
        return
    calling = asyncio.create_task(client.call_tool(name, arguments, progress_callback=note))
    if what == "cancel":
        await reported.wait()
        calling.cancel()
        await asyncio.wait([calling])
        answered.set_result("null")
        return
    result = (await calling).model_dump(mode="json", by_alias=True, exclude_none=True)
    answered.set_result(json.dumps({**result, "progress": progress}))
