"""A page for hosts of mcp-ui and MCP Apps: it draws what the host has, and a form lets a test use `session.host`."""

from __future__ import annotations

import json
from typing import Any

from mcpframe import FrameServer, FrameSession
from mcpframe.frame.core.errors import HostError

server = FrameServer("embedded", version="1.0")


@server.ui
async def ui(session: FrameSession) -> None:
    app, host = session.page.element("#mcpframe-app"), session.host
    drawn = app.add("p", host.dialect, id="drawn")
    if host.dialect not in ("mcp_ui", "mcp_apps"):
        return

    def draw(data: Any) -> None:
        drawn.text = json.dumps(data)
        app.set("data-drawn", f"{app.get('data-drawn') or ''}*")

    if host.dialect == "mcp_ui":
        host.on_render_data(draw)
    else:
        draw((await host.tool_result()).structured)
    call = app.add("input", id="call")
    answer = app.add("output", id="answer")

    async def ask() -> None:
        method, arguments = json.loads(call.value)
        if method == "timeout":
            host.timeout = arguments
            return
        answer.text = json.dumps(await _asked(host, method, arguments))

    call.on("change", ask)
    app.add("p", "ready", id="ready")


async def _asked(host: Any, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a method of the host API."""
    received: list[float] = []
    if method == "call_tool":
        arguments["on_progress"] = lambda progress, *_: received.append(progress)
    try:
        result = getattr(host, method)(**arguments)
        result = await result if hasattr(result, "__await__") else result
    except HostError as error:
        told = {"error": type(error).__name__, "message": str(error), "request": error.request, "data": error.data}
        return {**told, "received": len(received)}
    if hasattr(result, "model_dump"):
        result = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {"result": result, "received": len(received)}


@server.tool()
def grow(pixels: int) -> str:
    """Makes the page higher."""
    server.session.page.element("#drawn").js.style.height = f"{pixels}px"
    return "grown"
