"""The HTTP edge of a bridge: Streamable HTTP in both protocol eras.

Up to 2025-11-25 each client's session has a frame of its own, and the SDK's transport speaks HTTP with the client
(`sessions`). From 2026-07-28 on there are no sessions: all requests share one frame (`stateless`).
The header `MCP-Protocol-Version` decides between them, as in the SDK's own session manager.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import anyio
from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecuritySettings
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpframe.frame.core.errors import McpFrameError
from mcpframe.kit.edges.http.access import PATH, Access
from mcpframe.kit.edges.http.authorization import guarded, metadata_routes
from mcpframe.kit.edges.http.metrics import BridgeMetrics
from mcpframe.kit.edges.http.open_requests import OpenRequests
from mcpframe.kit.edges.http.posts import Screened
from mcpframe.kit.edges.http.response_headers import with_cors
from mcpframe.kit.edges.http.running import alongside, run_until_cancelled
from mcpframe.kit.edges.http.server_card import card_routes
from mcpframe.kit.edges.http.sessions import Sessions
from mcpframe.kit.edges.http.stateless import StatelessRequests
from mcpframe.kit.edges.link.early_answers import EarlyAnswers
from mcpframe.kit.edges.link.meter import UNMETERED, LinkMeter
from mcpframe.kit.edges.link.reopening_link import LinkedPage, OpenPage, ReopeningLink
from mcpframe.kit.edges.stdio.lines import LIMITS
from mcpframe.kit.web.serve import http_settings, listen

ALIVE, READY = "/healthz", "/readyz"
"""Paths for whoever runs the bridge: whether it runs, and whether it takes new clients."""
_DRAINING_INTERVAL = 1.0


class Spare:
    """Links to new frames. One is opened in advance, as opening is slow.

    Args:
        open_page: Opens the page of a link.
        meter: Counts the links' requests and pages.
        early: Returns answers for a new client until its page is open; None if there are none.

    Attributes:
        is_opening: Whether the link that is opened in advance is not open yet.
    """

    def __init__(
        self,
        open_page: OpenPage,
        meter: LinkMeter | None = None,
        early: Callable[[], EarlyAnswers | None] = lambda: None,
    ) -> None:
        self.is_opening = False
        self._open_page = open_page
        self._meter = meter or UNMETERED
        self._early = early
        self._spare: ReopeningLink | None = None

    @property
    def answers_early(self) -> bool:
        """Whether a new client is answered before its page is open."""
        return self._early() is not None

    async def open(self) -> None:
        """Open a link in advance.

        Raises:
            KitError: The link cannot be opened, and no client has taken it: one that has gets an error for each call.
        """
        link = self._spare = self._link()
        self.is_opening = True
        try:
            await link.open()
        except McpFrameError as error:
            if self._spare is link:
                raise
            link.on_note(str(error))
        finally:
            self.is_opening = False

    def take(self) -> ReopeningLink:
        """Return a link, which may not be open yet."""
        link, self._spare = self._spare, None
        return link or self._link()

    async def close(self) -> None:
        """Close the link that was opened in advance."""
        if self._spare is not None:
            await self._spare.close()

    def _link(self) -> ReopeningLink:
        return ReopeningLink(self._open_page, early=self._early(), meter=self._meter)


@dataclass(frozen=True, kw_only=True)
class EdgeOptions:
    """How a bridge serves over HTTP.

    Attributes:
        most_sessions: the largest number of sessions; None for the usual one.
        most_of_user: the largest number of sessions of one user; None for any.
        ready: whether there is a browser for a new client.
        early: returns answers for a new client until its page is open; None if there are none.
        drain_seconds: how long clients may go on after the cancellation; a second one ends that.
        name: the bridge's name, for balancers (`names`); empty for none.
        card: the server's card, to be served; None for none.
        metrics: what is counted, and served beside it.
    """

    most_sessions: int | None = None
    most_of_user: int | None = None
    ready: Callable[[], bool] = lambda: True
    early: Callable[[], EarlyAnswers | None] = lambda: None
    drain_seconds: float = 0
    name: str = ""
    card: Mapping[str, Any] | None = None
    metrics: BridgeMetrics | None = None


USUAL: Final = EdgeOptions()


class BridgeEndpoint:
    """The bridge as an ASGI application, `app`.

    Attributes:
        sessions: The clients up to 2025-11-25.
        requests: The requests from 2026-07-28 on.

    Args:
        port: The port at which it is reached on this machine.
        access: Who is answered.
    """

    def __init__(self, spare: Spare, port: int, access: Access, options: EdgeOptions = USUAL) -> None:
        settings = access.security(port)
        self._spare = spare
        self._ready = options.ready
        self._is_draining = False
        self._changed = asyncio.Event()
        self.sessions = Sessions(spare.take, settings, options.most_sessions, options.name, options.most_of_user)
        self.requests = StatelessRequests(spare.take, settings, options.name)
        limited = RequestBodyLimitMiddleware(self._by_era, LIMITS.max_message_bytes)
        routes = [Route(READY, self._report_ready)]
        routes += card_routes(options.card, PATH) if options.card is not None else []
        self.app = mcp_app(limited, access, settings, routes)

    async def _by_era(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with contextlib.suppress(ClientDisconnect):  # the client left in the middle of its request
                await (self.sessions if has_session(scope) else self.requests)(scope, receive, send)
        finally:
            self._changed.set()

    async def _report_ready(self, _: Request) -> Response:
        if self.is_ready():
            return PlainTextResponse("ready")
        reason = "ending" if self._is_draining else "starting" if self._spare.is_opening else "no browser"
        return PlainTextResponse(reason, 503)

    def is_ready(self) -> bool:
        """Return whether a new client can begin."""
        return not self._is_draining and not self._spare.is_opening and self._ready()

    async def drain(self, seconds: float) -> None:
        """Refuse new clients, and wait until the present ones have ended, or for so many seconds."""
        self._is_draining = self.sessions.is_draining = self.requests.is_draining = True
        with anyio.move_on_after(seconds):
            requests = self.requests
            while self.sessions.count or requests.pending or requests.questions or requests.tasks:
                self._changed.clear()
                with anyio.move_on_after(_DRAINING_INTERVAL):  # a session may also end without a request
                    await self._changed.wait()

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


def has_session(scope: Scope) -> bool:
    """Return whether a request is of the revisions with sessions, up to 2025-11-25."""
    version = Request(scope).headers.get(MCP_PROTOCOL_VERSION_HEADER)
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS


def mcp_app(
    app: ASGIApp, access: Access, settings: TransportSecuritySettings, further: Sequence[Route] = ()
) -> Starlette:
    """Return the web application of an MCP endpoint: who is answered, and by what it gets a token.

    Args:
        app: Answers the requests of MCP.
        settings: The hosts and origins that are answered.
        further: Routes beside the endpoint and `/healthz`.
    """
    endpoint = Endpoint(guarded(Screened(app, settings), access))
    routes = [Route(PATH, endpoint), Route(ALIVE, _alive), *metadata_routes(access), *further]
    return Starlette(routes=routes, middleware=with_cors(access.allowed_origins))


class Endpoint:
    """An ASGI application as a route's endpoint; a plain function would be called with a Request instead."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


async def serve_http(open_page: OpenPage, port: int, access: Access, options: EdgeOptions = USUAL) -> None:
    """Serve until cancelled: from the start if clients are answered early, else once the first page is open.

    Args:
        port: the port; 0 takes a free one.
        access: where it listens, and who is answered.

    Raises:
        KitError: the server cannot be opened, and no client has come.
        PortTaken: another program listens on the port.
        McpFrameError: as by `Access.check`.
    """
    access.check()
    metrics = options.metrics
    with listen(access.host, port) as listener:
        port = listener.getsockname()[1]
        # Without a browser no early answer: a client would begin where no call of it can succeed.
        spare = Spare(complete(open_page), metrics, lambda: options.early() if options.ready() else None)
        bridge = BridgeEndpoint(spare, port, access, options)
        try:
            async with contextlib.AsyncExitStack() as stack:
                if spare.answers_early:
                    await stack.enter_async_context(alongside(spare.open()))
                else:
                    await spare.open()
                await stack.enter_async_context(bridge.running())
                app: ASGIApp = bridge.app
                if metrics is not None:
                    app = metrics.counted(app)
                    await stack.enter_async_context(metrics.served(bridge.sessions, bridge.is_ready))
                draining = partial(bridge.drain, options.drain_seconds) if options.drain_seconds else None
                serving = Announced("mcpframe bridge", access.address(port))
                await serve_until_cancelled(app, listener, serving, bridge.end, draining)
        finally:
            await spare.close()


@dataclass(frozen=True)
class Announced:
    """A command and the address at which it serves."""

    command: str
    address: str


async def serve_until_cancelled(
    app: ASGIApp,
    listener: socket.socket,
    announced: Announced | None,
    ending: Callable[[], None] | None = None,
    draining: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Serve an application on a socket until cancelled.

    Args:
        listener: The socket, which listens.
        announced: What is printed at the start; None for nothing.
        ending: Called at the end, to answer the open requests; they then get a short time.
        draining: Called before that, while requests are still answered.
    """
    requests = OpenRequests(app)
    if announced is not None:
        print(announced.address, flush=True)
        print(f"{announced.command}: Ctrl-C ends it.", file=sys.stderr, flush=True)

    async def end() -> None:
        try:
            if draining is not None:
                await draining()
        finally:
            if ending is not None:
                ending()
            await requests.end()

    await run_until_cancelled(http_settings(requests), listener, end)


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


async def _alive(_: Request) -> Response:
    return PlainTextResponse("alive")
