"""Metrics of a bridge for Prometheus, at an address of their own.

Their own, as a balancer passes the bridge's on to its clients, who may not see how busy others are. Labels have values
that the bridge itself has chosen, never a client's: their number is limited, and nobody's data is in them.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp_types.methods import SPEC_CLIENT_METHODS
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpframe.kit.browser.devtools.browsers import BrowserState
from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.edges.http.running import run_until_cancelled
from mcpframe.kit.edges.http.sessions import Sessions
from mcpframe.kit.edges.link.meter import PageOutcome, RequestOutcome
from mcpframe.kit.web.serve import bracketed, http_settings, is_loopback, listen

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Metric

PATH: Final = "/metrics"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Seconds. Tools, and starts of pages, may take longer than Prometheus' own buckets, which end at 10."""
_ADDRESS = re.compile(r"(?:(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\]):)?(\d{1,5})")
_HIGHEST_PORT = 65535


def parse_address(text: str) -> tuple[str, int]:
    """Return the host and the port of `PORT`, on this machine only, or of `IP:PORT`.

    Raises:
        ValueError: It is neither; the message says what to write.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match[2]) > _HIGHEST_PORT:
        raise ValueError(
            "write a port, such as 9464, or an IP address of this machine and a port, such as 10.0.0.5:9464"
        )
    return (match[1] or "127.0.0.1").strip("[]"), int(match[2])


class BridgeMetrics:
    """The metrics of a bridge: a `LinkMeter`, and the server that shows them.

    Args:
        host: the IP address at which they are served. On a loopback address, `Host` has to be a name of this machine.
        port: the port; 0 takes a free one.
        browsers: returns how each browser is.
    """

    def __init__(self, host: str, port: int, browsers: Callable[[], Sequence[BrowserState]]) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector

        self._host = host
        self._port = port
        self._browsers = browsers
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "mcpframe_requests", "Requests of clients that have ended.", ["method", "outcome"], registry=registry
        )
        self._seconds = Histogram(
            "mcpframe_request_duration_seconds",
            "Times of requests, from their arrival to the answer.",
            ["method"],
            buckets=_BUCKETS,
            registry=registry,
        )
        self._pages = Counter(
            "mcpframe_pages", "Pages that started, failed, or were lost.", ["outcome"], registry=registry
        )
        self._starts = Histogram(
            "mcpframe_page_start_seconds", "Times of pages' starts.", buckets=_BUCKETS, registry=registry
        )
        self._responses = Counter("mcpframe_http_responses", "HTTP responses.", ["status"], registry=registry)

    def request(self, method: str, outcome: RequestOutcome, seconds: float) -> None:
        known = method if method in SPEC_CLIENT_METHODS else "other"
        self._requests.labels(known, outcome).inc()
        self._seconds.labels(known).observe(seconds)

    def page(self, outcome: PageOutcome, seconds: float = 0) -> None:
        self._pages.labels(outcome).inc()
        if outcome == "started":
            self._starts.observe(seconds)

    def counted(self, app: ASGIApp) -> ASGIApp:
        """Return an application whose responses are counted."""

        async def counting(scope: Scope, receive: Receive, send: Send) -> None:
            async def count(message: MutableMapping[str, Any]) -> None:
                if message["type"] == "http.response.start":
                    self._responses.labels(str(message["status"])).inc()
                await send(message)

            await app(scope, receive, count)

        return counting

    @contextlib.asynccontextmanager
    async def served(self, sessions: Sessions, is_ready: Callable[[], bool]) -> AsyncIterator[None]:
        """Serve them for the duration of the block.

        Args:
            sessions: the sessions of clients up to 2025-11-25.
            is_ready: returns whether a new client can begin.

        Raises:
            PortTaken: another program listens on the port.
            ServeError: it is no address of this machine.
        """
        self._registry.register(_State(sessions, is_ready, self._browsers))
        with listen(self._host, self._port) as listener:
            port = listener.getsockname()[1]
            print(
                f"mcpframe bridge: metrics at http://{bracketed(self._host)}:{port}{PATH}", file=sys.stderr, flush=True
            )
            settings = Access(self._host).security(port) if is_loopback(self._host) else None
            shown = _Shown(self._registry, settings)
            serving = asyncio.create_task(
                run_until_cancelled(http_settings(Starlette(routes=[Route(PATH, shown)])), listener)
            )
            try:
                yield
            finally:
                serving.cancel()
                await asyncio.wait([serving])


class _Shown:
    """The metrics as an ASGI application.

    Args:
        settings: the hosts that are answered at a loopback address, which a web page must not reach by a name of its
            own; None for any.
    """

    def __init__(self, registry: CollectorRegistry, settings: TransportSecuritySettings | None) -> None:
        from prometheus_client import make_asgi_app

        self._app: ASGIApp = make_asgi_app(registry)
        self._security = None if settings is None else TransportSecurityMiddleware(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        refused = self._security and await self._security.validate_request(Request(scope))
        await (refused or self._app)(scope, receive, send)


class _State:
    """The current state of the bridge and its browsers, as a collector of prometheus-client."""

    def __init__(
        self, sessions: Sessions, is_ready: Callable[[], bool], browsers: Callable[[], Sequence[BrowserState]]
    ) -> None:
        self._sessions = sessions
        self._is_ready = is_ready
        self._browsers = browsers

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        yield GaugeMetricFamily("mcpframe_ready", "Whether new clients can begin.", self._is_ready())
        yield GaugeMetricFamily("mcpframe_sessions", "Sessions of clients up to 2025-11-25.", self._sessions.count)
        yield GaugeMetricFamily("mcpframe_sessions_limit", "The most sessions.", self._sessions.most)
        up = GaugeMetricFamily("mcpframe_browser_up", "Whether a browser is connected.", labels=["browser"])
        tabs = GaugeMetricFamily("mcpframe_browser_tabs", "Tabs of a browser that are open.", labels=["browser"])
        connections = CounterMetricFamily(
            "mcpframe_browser_connections", "How often a browser was connected.", labels=["browser"]
        )
        for number, state in enumerate(self._browsers(), 1):  # an address may have a token, and two the same host
            up.add_metric([str(number)], state.devtools is not None)
            tabs.add_metric([str(number)], state.tabs)
            connections.add_metric([str(number)], state.connections)
        yield from (up, tabs, connections)
