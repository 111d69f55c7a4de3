"""The HTTP edge of a bridge: Streamable HTTP on this machine, in both protocol eras.

Up to 2025-11-25 each client's session has a frame of its own, and the SDK's transport speaks HTTP with the client
(`sessions`). From 2026-07-28 on there are no sessions: all requests share one frame (`stateless`).
The header `MCP-Protocol-Version` decides between them, as in the SDK's own session manager.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence

import uvicorn
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpframe.frame.core.origins import parse_allowed_origins
from mcpframe.kit.edges.http.open_requests import OpenRequests
from mcpframe.kit.edges.http.request_checks import security
from mcpframe.kit.edges.http.response_headers import with_cors
from mcpframe.kit.edges.http.sessions import Sessions
from mcpframe.kit.edges.http.stateless import StatelessRequests
from mcpframe.kit.edges.link.reopening_link import LinkedPage, OpenPage, ReopeningLink
from mcpframe.kit.edges.stdio.lines import LIMITS
from mcpframe.kit.web.serve import bind, http_settings

PATH = "/mcp"
HOST = "127.0.0.1"


class Spare:
    """Links to new frames. One is kept open in advance, as opening is slow."""

    def __init__(self, open_page: OpenPage) -> None:
        self._open_page = open_page
        self._spare: ReopeningLink | None = None

    async def open(self) -> None:
        """Open a link in advance.

        Raises:
            BridgeError: the link cannot be opened.
        """
        self._spare = ReopeningLink(self._open_page)
        await self._spare.open()

    def take(self) -> ReopeningLink:
        """Return a link, which may not be open yet."""
        link, self._spare = self._spare, None
        return link or ReopeningLink(self._open_page)

    async def close(self) -> None:
        """Close the link that was opened in advance."""
        if self._spare is not None:
            await self._spare.close()


class BridgeEndpoint:
    """The bridge as an ASGI application, `app`.

    Attributes:
        sessions: The clients up to 2025-11-25.
        requests: The requests from 2026-07-28 on.
    """

    def __init__(
        self, spare: Spare, port: int, allowed_origins: Sequence[str], most_sessions: int | None = None
    ) -> None:
        settings = security(port, allowed_origins)
        self.sessions = Sessions(spare.take, settings, most_sessions)
        self.requests = StatelessRequests(spare.take, settings)
        limited = RequestBodyLimitMiddleware(self._by_era, LIMITS.max_message_bytes)
        self.app = Starlette(routes=[Route(PATH, Endpoint(limited))], middleware=with_cors(allowed_origins))

    async def _by_era(self, scope: Scope, receive: Receive, send: Send) -> None:
        version = Request(scope).headers.get(MCP_PROTOCOL_VERSION_HEADER)
        legacy = version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
        with contextlib.suppress(ClientDisconnect):  # the client left in the middle of its request
            await (self.sessions if legacy else self.requests)(scope, receive, send)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve for the duration of the block."""
        try:
            async with self.sessions.run():
                yield
        finally:
            await self.requests.close()

    def end(self) -> None:
        """Answer the open requests: the server ends."""
        self.sessions.end()
        self.requests.end()


class Endpoint:
    """An ASGI application as a route's endpoint; a plain function would be called with a Request instead."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


async def serve_http(open_page: OpenPage, port: int, allowed_origins: Sequence[str] = ()) -> None:
    """Serve until cancelled.

    Args:
        port: the port; 0 takes a free one.
        allowed_origins: the origins of web pages that may send requests.

    Raises:
        BridgeError: the server cannot be opened.
        OriginError: an origin that can never match.
        PortTaken: another program listens on the port.
    """
    origins = list(parse_allowed_origins(allowed_origins)) if allowed_origins else []
    with bind(HOST, port) as listener:
        port = listener.getsockname()[1]
        spare = Spare(complete(open_page))
        bridge = BridgeEndpoint(spare, port, origins)
        try:
            await spare.open()
            async with bridge.running():
                await serve_until_cancelled(bridge.app, listener, "mcpframe bridge", bridge.end)
        finally:
            await spare.close()


async def serve_until_cancelled(
    app: ASGIApp,
    listener: socket.socket,
    command: str | None,
    ending: Callable[[], None] | None = None,
) -> None:
    """Serve an application on a socket until cancelled, and print its address.

    Args:
        listener: The socket, which listens on this machine.
        command: The name of the command in its output; None to print nothing.
        ending: Called at the end, to answer the open requests; they then get a short time.
    """
    requests = OpenRequests(app)
    if command is not None:
        print(f"http://{HOST}:{listener.getsockname()[1]}{PATH}", flush=True)
        print(f"{command}: Ctrl-C ends it.", file=sys.stderr, flush=True)

    async def end() -> None:
        if ending is not None:
            ending()
        await requests.end()

    await run_until_cancelled(http_settings(requests), listener, end)


async def run_until_cancelled(
    config: uvicorn.Config, listener: socket.socket, ending: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Run uvicorn on a socket until cancelled. Requests that are open after `ending` are closed."""
    server = _Server(config)
    serving = asyncio.create_task(server.serve([listener]))
    try:
        await asyncio.shield(serving)
    finally:
        try:
            if ending is not None:
                await ending()
        finally:
            server.should_exit = True
            await asyncio.wait([serving])


def complete(open_page: OpenPage) -> OpenPage:
    """Open pages with all files loaded: clients over HTTP allow less time for the first request than over stdio."""

    async def open_complete(link: ReopeningLink) -> LinkedPage:
        page = await open_page(link)
        try:
            await page.complete()
        except BaseException:
            await page.close()
            raise
        return page

    return open_complete


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signals to the bridge."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield
