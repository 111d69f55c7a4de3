"""A server whose page is a host itself: its tools frame other pages, with the outer frame in Pyodide."""

import asyncio
import contextlib
from typing import Any

import js
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pyodide.ffi import JsProxy

from mcpframe import FrameServer
from mcpframe.frame.core.errors import McpFrameError
from mcpframe.frame.serving.server import serve
from mcpframe.frame.session.setup_phase import Permission
from mcpframe.hosts import POPUP, OuterFrame

server = FrameServer("hosting")


def message(**payload: Any) -> SessionMessage:
    return SessionMessage(jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **payload}))


async def ask(streams: Any, id_: str, method: str, **params: Any) -> dict[str, Any]:
    read, write = streams
    await write.send(message(id=id_, method=method, params=params))
    answer = await read.receive()
    dumped: dict[str, Any] = answer.message.model_dump(by_alias=True, exclude_unset=True)
    return dumped


def place(popup: bool) -> Any:
    return POPUP if popup else "body"


def frame() -> Any:
    iframe = js.document.querySelector("iframe")
    return iframe if isinstance(iframe, JsProxy) else None


@server.tool()
async def set_up_and_call(url: str, popup: bool = False) -> dict[str, Any]:
    """Go through both phases with a page."""
    events: list[str] = []
    outer = OuterFrame(url, on_event=lambda event: events.append(type(event).__name__))
    async with outer.setup(place(popup)) as setup:
        iframe = frame()
        attributes = {name: iframe.getAttribute(name) or "" for name in ("sandbox", "allow", "title")} if iframe else {}
        result = await setup.result()
    shown = []
    async with outer.connect(place(popup)) as streams:
        answer = await ask(streams, "one", "echo", text="Ünïcödé 🐍")
        if iframe := frame():
            for call in (outer.show, outer.hide):
                call()
                shown.append(js.getComputedStyle(iframe).display != "none")
    return {
        "title": result.title,
        "attributes": attributes,
        "answer": answer,
        "shown": shown,
        "events": events,
        "left": js.document.querySelectorAll("iframe").length,
    }


@server.tool()
async def prepared(url: str) -> dict[str, Any]:
    """Load a page ahead of its use."""
    opened = asyncio.Event()
    outer = OuterFrame(url, on_event=lambda _: opened.set())
    async with outer.prepare("body"):
        await opened.wait()
        iframe = frame()
        hidden = js.getComputedStyle(iframe).display == "none"
        async with outer.connect("body", visible=True) as streams:
            answer = await ask(streams, "one", "echo", text="prepared")
            is_it = frame().isSameNode(iframe) and js.getComputedStyle(iframe).display != "none"
    return {"hidden": hidden, "is_it": is_it, "answer": answer["result"], "left": frame() is not None}


@server.tool()
async def permissions(url: str, grants: list[str]) -> dict[str, Any]:
    """Set a page up that asks for permissions."""
    asked: list[str] = []
    allowed: list[str] = []

    async def decide(requested: tuple[Permission, ...]) -> list[str]:
        asked.extend(permission.name for permission in requested)
        return grants

    outer = OuterFrame(url, on_permissions=decide)
    error = None
    try:
        async with outer.setup("body") as setup:
            allowed.append(frame().getAttribute("allow") or "")
            await setup.result()
    except McpFrameError as raised:
        error = type(raised).__name__
    return {"asked": asked, "allowed": allowed, "error": error, "left": js.document.querySelectorAll("iframe").length}


@server.tool()
async def lose(url: str, how: str) -> dict[str, Any]:
    """Lose the framed page while a request is pending, and frame it again."""
    outer = OuterFrame(url)
    async with outer.connect(place(how == "closed")) as streams:
        pending = asyncio.ensure_future(ask(streams, "pending", "silence"))
        await asyncio.sleep(0)
        if how == "removed":
            frame().remove()
        elif how == "moved":
            js.document.body.append(frame())
        elif how == "closed":
            await ask_to_close(outer)
        else:
            frame().src = f"{url}&again"
        failed = await pending
    async with outer.connect("body") as streams:
        answer = await ask(streams, "two", "echo", text="again")
    return {"failed": failed, "answer": answer}


async def ask_to_close(outer: OuterFrame) -> None:
    """A popup closes itself when it is told to: its opener's page has no other way that looks like a user's."""
    assert outer.session is not None
    _, write = outer.session.streams
    await write.send(message(method="notifications/close"))


@server.tool()
async def serve_client(url: str) -> str:
    """The inverted architecture: this page is the server of the client that it frames."""
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    inner = MCPServer("outer")
    inner.add_tool(lambda name: f"Hello, {name}", name="greet", description="Greet", structured_output=False)

    async def done(answer: str) -> None:
        told.set_result(answer)

    inner.add_tool(done)
    async with OuterFrame(url).connect("body") as streams:
        serving = asyncio.ensure_future(serve(inner, *streams))
        answer = await told
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving
    return answer


@server.tool()
async def use_server(url: str) -> list[str]:
    """The standard architecture: this page is the client of the server that it frames."""
    outer = OuterFrame(url)
    async with outer.setup("body") as setup:
        result = await setup.result()
    async with Client(outer.connect("body")) as client:
        echo = await client.call_tool("echo", {"text": "through two frames"})
        return [result.title, echo.content[0].text]


@server.tool()
async def many(url: str, count: int) -> list[str]:
    """Frame a page many times at once, and call each."""

    async def one(number: int) -> str:
        async with OuterFrame(url).connect("body") as streams:
            answer = await ask(streams, "one", "echo", text=str(number))
            return str(answer["result"]["text"])

    return list(await asyncio.gather(*map(one, range(count))))


@server.tool()
async def refused(url: str, selector: str = "body") -> str:
    """Try to frame what cannot be framed."""
    try:
        async with OuterFrame(url).connect(selector):
            return "framed"
    except McpFrameError as error:
        return f"{type(error).__name__}: {error}"
