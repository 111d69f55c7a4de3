"""The hub in the inspector: a page that is framed like any server, with a socket to the hub.

The page (`static/hub/inspected.html`) passes messages on, and shows the hub's log. Only the inspector may frame it, and
only the page may open the socket, as the browser sends its origin.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from mcpframe.hub.serving.server import HubServer
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import PortTaken
from mcpframe.kit.base.terminal import VisibleFormatter
from mcpframe.kit.edges.http.running import run_until_cancelled
from mcpframe.kit.edges.stdio.lines import LIMITS
from mcpframe.kit.hub.log import logged_to
from mcpframe.kit.hub.stdio import HubEdge
from mcpframe.kit.web.serve import FRAMED_HOST, NAMES, bind, http_settings

_PORT = 8713
"""The port if it is free: the inspector remembers a server by its address."""
_MOST_LINES = 200
_MOST_WAITING = 10_000
"""The number of messages that a page may leave unread."""


async def serve_inspected(server: HubServer, inspector: str, ready: Callable[[str], None]) -> None:
    """Serve the inspector until cancelled.

    Args:
        server: The hub's server, which is running.
        inspector: The inspector's origin.
        ready: Called with the address of the page to frame.

    Raises:
        ServeError: The page cannot be served.
    """
    with _listener() as listener:
        origin = f"http://{FRAMED_HOST}:{listener.getsockname()[1]}"
        with logged_to(lines := _LogLines()):
            app = _App(server, inspector, origin, lines).app
            config = http_settings(app, ws="wsproto", ws_max_size=LIMITS.max_message_bytes)
            ready(f"{origin}/hub/")
            await run_until_cancelled(config, listener)


def _listener() -> socket.socket:
    try:
        return bind(FRAMED_HOST, _PORT)
    except PortTaken:
        return bind(FRAMED_HOST, 0)


class _App:
    def __init__(self, server: HubServer, inspector: str, origin: str, lines: _LogLines) -> None:
        self._server = server
        self._inspector = inspector
        self._origin = origin
        self._lines = lines
        routes = [
            Route("/hub/", self._page),
            Route("/hub/inspected.js", self._script),
            Route("/hub/host", self._host),
            WebSocketRoute("/hub/socket", self._socket),
        ]
        hosts = Middleware(TrustedHostMiddleware, allowed_hosts=NAMES, www_redirect=False)
        self.app = Starlette(routes=routes, middleware=[hosts])

    def _page(self, _: Request) -> Response:
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; "
            f"connect-src 'self' ws{self._origin.removeprefix('http')}; frame-ancestors {self._inspector}"
        )
        return _file("inspected.html", {"content-security-policy": policy})

    def _script(self, _: Request) -> Response:
        return _file("inspected.js")

    def _host(self, _: Request) -> Response:
        return JSONResponse(self._inspector, headers={"cache-control": "no-store"})

    async def _socket(self, websocket: WebSocket) -> None:
        """Serve one page until it is gone."""
        if websocket.headers.get("origin") != self._origin:
            await websocket.close()
            return
        await websocket.accept()
        output = _Output()
        edge = HubEdge(output)
        with self._lines.following(output.write_line):
            tasks = {
                asyncio.ensure_future(work)
                for work in (
                    self._server.server.run(edge.read, edge, self._server.options),
                    edge.read_all(_lines_of(websocket)),
                    output.send_all(websocket),
                )
            }
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
                for task in tasks:
                    task.cancelled() or task.exception()  # the end of the page is not a failure
                edge.end()


def _file(name: str, headers: dict[str, str] | None = None) -> Response:
    return FileResponse(static_dir() / "hub" / name, headers={"cache-control": "no-store", **(headers or {})})


async def _lines_of(websocket: WebSocket) -> AsyncIterator[bytes]:
    async for text in websocket.iter_text():
        yield text.replace("\n", " ").encode("utf-8", "surrogatepass") + b"\n"


class _Output:
    """The messages to one page."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[str] = asyncio.Queue()

    def write(self, text: str) -> None:
        """Send a JSON-RPC message."""
        self._waiting.put_nowait(f'{{"message":{text}}}')

    def write_line(self, line: dict[str, str]) -> None:
        """Send a line of the log."""
        self._waiting.put_nowait(json.dumps({"line": line}))

    async def send_all(self, websocket: WebSocket) -> None:
        """Send until the page is gone, or has too many unread messages."""
        while self._waiting.qsize() < _MOST_WAITING:
            await websocket.send_text(await self._waiting.get())


class _LogLines(logging.Handler):
    """The last lines of the log, and their followers."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(VisibleFormatter("%(message)s"))
        self._last: deque[dict[str, str]] = deque(maxlen=_MOST_LINES)
        self._followers: list[Callable[[dict[str, str]], None]] = []
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        time = logging.Formatter().formatTime(record, "%H:%M:%S")
        line = {"level": record.levelname, "time": time, "text": self.format(record)}
        self._loop.call_soon_threadsafe(self._add, line)

    def _add(self, line: dict[str, str]) -> None:
        self._last.append(line)
        for follower in self._followers:
            follower(line)

    @contextmanager
    def following(self, follower: Callable[[dict[str, str]], Any]) -> Iterator[None]:
        """Call a function with the last lines, and with each further one during the block."""
        for line in self._last:
            follower(line)
        self._followers.append(follower)
        try:
            yield
        finally:
            self._followers.remove(follower)
