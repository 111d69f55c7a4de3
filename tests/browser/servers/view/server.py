"""A view of MCP Apps whose tools let a test use `session.host`, and tell what the host has told the page."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from mcp.server.mcpserver import Context

from mcpframe import FrameServer, FrameSession
from mcpframe.frame.core.errors import HostError

server = FrameServer("view", version="1.4")
heard: list[Any] = []


@server.ui
async def ui(session: FrameSession) -> None:
    host = session.host
    session.page.element("#mcpframe-app").add("p", "waiting", id="told")
    if host.dialect != "mcp_apps":
        return

    @host.on_teardown
    async def _(reason: str) -> None:
        heard.append(["teardown", reason])
        host.log("info", {"last": "words"}, "view")

    host.on_list_changed(lambda kind: heard.append(["changed", kind]))
    async for event in host.tool_events():
        told = dataclasses.asdict(event)
        heard.append([type(event).__name__, told])
        session.page.element("#told").text = str(told)[:1000]


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def told() -> dict[str, Any]:
    """Returns what the host has told."""
    host = server.session.host
    context = dataclasses.asdict(host.context)
    return {"heard": heard, "context": context, "name": host.name, "version": host.version, "dialect": host.dialect}


@server.tool()
async def ask(method: str, arguments: dict[str, Any], within: float = 60) -> dict[str, Any]:
    """Calls a method of the host API."""
    host = server.session.host
    host.timeout = within
    try:
        result = getattr(host, method)(**arguments)
        result = await result if hasattr(result, "__await__") else result
    except HostError as error:
        return {"error": type(error).__name__, "message": str(error), "request": error.request, "code": error.code}
    if hasattr(result, "model_dump"):
        result = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {"result": result}


@server.tool()
async def kept(value: int | None = None) -> dict[str, Any]:
    """Returns the value of this tool call's view, and sets another one."""
    storage = await server.session.host.view_storage()
    before = await storage.get("value")
    if value is not None:
        await storage.set("value", value)
    return {"value": before, "persistent": storage.persistent}


@server.tool()
async def draw() -> int:
    """Draws the picture of the tool's result. Returns how many results have come."""
    (picture,) = (await server.session.host.tool_result()).content
    image = server.session.page.element("#mcpframe-app").add("img", id="drawn")
    image.js.src = f"data:{picture['mimeType']};base64,{picture['data']}"
    return sum(kind == "ToolResult" for kind, _ in heard)


@server.tool()
def grow(pixels: int) -> str:
    """Makes the page higher."""
    server.session.page.element("#told").js.style.height = f"{pixels}px"
    return "grown"


@server.tool()
async def work(ctx: Context) -> str:
    """Reports progress until it is cancelled."""
    try:
        for step in range(1, 1000):
            await ctx.report_progress(step, 1000, "on it")
            await asyncio.sleep(0.01)
    except asyncio.CancelledError:
        heard.append(["work", "cancelled"])
        raise
    return "done"


@server.tool()
async def learn(ctx: Context) -> str:
    """Adds a tool."""

    def shout(text: str) -> str:
        return text.upper()

    server.add_tool(shout, description="Shouts.")
    await ctx.session.send_tool_list_changed()
    return "learned"


@server.tool()
async def weigh(uri: str) -> int:
    """Returns how long a text of the host's server is."""
    (content,) = (await server.session.host.read_resource(uri)).contents
    return len(content.text)
