"""The hub over Streamable HTTP on this machine, for any number of clients, in both protocol eras."""

from __future__ import annotations

from collections.abc import Sequence

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from mcpframe.frame.core.origins import parse_allowed_origins
from mcpframe.hub.serving.server import HubServer
from mcpframe.kit.edges.http.endpoint import HOST, PATH, Endpoint, serve_until_cancelled
from mcpframe.kit.edges.http.posts import CheckedPosts
from mcpframe.kit.edges.http.request_checks import security, without_events
from mcpframe.kit.edges.http.response_headers import with_cors
from mcpframe.kit.edges.stdio.lines import LIMITS
from mcpframe.kit.web.serve import bind

_MOST_SESSIONS = 4096
"""The largest number of sessions. Many clients never end theirs: each costs some 40 KB, and ends after half an hour
without a request.
"""


async def serve_http(server: HubServer, port: int, allowed_origins: Sequence[str] = ()) -> None:
    """Serve until cancelled.

    Args:
        server: The hub's server, which is running.
        port: The port; 0 takes a free one.
        allowed_origins: The origins of web pages that may send requests.

    Raises:
        OriginError: An origin that can never match.
        PortTaken: Another program listens on the port.
    """
    origins = list(parse_allowed_origins(allowed_origins)) if allowed_origins else []
    with bind(HOST, port) as listener:
        settings = security(listener.getsockname()[1], origins)
        sessions = StreamableHTTPSessionManager(
            server.server,
            security_settings=settings,
            max_request_body_size=LIMITS.max_message_bytes,
            max_sessions=_MOST_SESSIONS,
        )

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            await sessions.asgi_app(without_events(scope), receive, send)

        app = Starlette(routes=[Route(PATH, Endpoint(CheckedPosts(answer, settings)))], middleware=with_cors(origins))
        async with sessions.run():
            await serve_until_cancelled(app, listener, "mcpframe hub", server.end)
