"""A view of MCP Apps behind a sandbox proxy, without a browser: our own VIEW role and `session.host` in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.apps import Apps, ResourceCsp, ResourcePermissions
from mcp.server.mcpserver import MCPServer

from mcpframe.frame.core.connection import Candidate, Connection, parse_allowed_origins
from mcpframe.frame.core.events import Inbound
from mcpframe.frame.core.places import Framing
from mcpframe.frame.dialects.mcp_apps.offers import ViewOffer
from mcpframe.frame.dialects.mcp_apps.roles import VIEW
from mcpframe.frame.host_api.by_dialect import host_api
from mcpframe.frame.host_api.mcp_apps import HostOfView
from mcpframe.frame.session.host_messages import HostMessages
from mcpframe.frame.session.session import Session, open_session
from tests.support.fake_window import FakeWindow

HOST = "https://chat.example"
SANDBOX = "https://sandbox.example/sandbox.html"
ORIGIN = "https://sandbox.example"
URI = "ui://weather/forecast"
HTML = "<!doctype html><title>Forecast</title><p>Hello"
READY = {"jsonrpc": "2.0", "method": "ui/notifications/sandbox-proxy-ready", "params": {}}

ViewCode = Callable[["PythonView"], Awaitable[None]]


def weather() -> MCPServer:
    """Return a server with a view, and with tools for models, for views, and for both."""
    apps = Apps()

    @apps.tool(resource_uri=URI)
    def forecast(place: str) -> dict[str, Any]:
        """Forecast the weather."""
        return {"place": place, "degrees": 21, "wind": None}

    @apps.tool(resource_uri=URI, visibility=["app"])
    def refresh() -> str:
        """For views only."""
        return "fresh"

    @apps.tool(resource_uri=URI, visibility=["model"])
    def erase() -> str:
        """For models only."""
        raise AssertionError("a view has called it")

    csp = ResourceCsp(connect_domains=["https://api.weather.example", "https://x; script-src *"])
    permissions = ResourcePermissions(camera={}, geolocation={})
    apps.add_html_resource(URI, HTML, csp=csp, permissions=permissions, prefers_border=True)
    server = MCPServer("weather", extensions=[apps])

    @server.tool()
    def plain(text: str) -> str:
        """Without a view, and for both."""
        return text

    @server.resource("data://stations")
    def stations() -> str:
        return "Wien"

    @server.prompt()
    def ask() -> str:
        return "How is the weather?"

    return server


class PythonView:
    """The framed side of a `FakePlace`: the proxy's first message, then a view that runs some code.

    Attributes:
        host: `session.host` of the view.
        window: the sandbox's window.
        framing: how it is framed.
        handed: what the proxy got.
        session: the view's session.
        messages: the view's messages with its host.
        done: set when the code has run.
        may_start: cleared by a test for a view that starts later.
    """

    host: HostOfView
    session: Session
    messages: HostMessages

    def __init__(
        self, code: ViewCode | None = None, offer: ViewOffer | None = None, **handlers: Callable[[Any], Any]
    ) -> None:
        """Make a view.

        Args:
            code: runs in the view once it is ready.
            offer: what the view says of itself.
            handlers: what answers the requests of the host that are the view's own, by method.
        """
        self.handed: dict[str, Any] = {}
        self.done = asyncio.Event()
        self.may_start = asyncio.Event()
        self.may_start.set()
        self._code = code
        self._offer = offer or ViewOffer(name="a view", version="1.2")
        self._handlers = handlers or {}

    async def __call__(self, window: FakeWindow, framing: Framing) -> None:
        self.window, self.framing = window, framing
        handed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def heard(inbound: Inbound) -> None:
            message = json.loads(inbound.read())
            if message.get("method") == "ui/notifications/sandbox-resource-ready":
                self.handed = message["params"]
                handed.set_result(None)

        stop = window.listen(heard, lambda _: None)
        window.post(json.dumps(READY), "*")
        await handed
        stop()
        await self.may_start.wait()
        connection = Connection([Candidate(VIEW, parse_allowed_origins([HOST]), self._offer)])
        self.messages = messages = HostMessages(host_api)
        async with open_session(connection, window, intercept=messages) as self.session:
            assert isinstance(messages.handler, HostOfView)
            self.host = messages.handler
            serving = asyncio.ensure_future(self._serve())
            try:
                if self._code:
                    await self._code(self)
                self.done.set()
                await self.session.ended()
            finally:
                serving.cancel()
                messages.close()

    async def _serve(self) -> None:
        """Answer what the host asks of the view's own server."""
        read, _ = self.session.streams
        async for item in read:
            message = item.message
            answer = self._handlers.get(message.method)
            if answer is None:
                error = {"code": -32601, "message": "unknown"}
                self.session.post({"jsonrpc": "2.0", "id": message.id, "error": error})
            else:
                self.session.post({"jsonrpc": "2.0", "id": message.id, "result": answer(message.params or {})})
