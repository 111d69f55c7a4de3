"""The hub over Streamable HTTP, for any number of clients, in both protocol eras."""

from __future__ import annotations

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from mcpframe.hub.serving.server import HubServer
from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.edges.http.endpoint import Announced, mcp_app, serve_until_cancelled
from mcpframe.kit.edges.http.posts import CheckedPosts
from mcpframe.kit.edges.http.request_checks import without_events
from mcpframe.kit.edges.stdio.lines import LIMITS
from mcpframe.kit.web.serve import listen

_MOST_SESSIONS = 4096
"""The largest number of sessions. Many clients never end theirs: each costs some 40 KB, and ends after half an hour
without a request.
"""


async def serve_http(server: HubServer, port: int, access: Access) -> None:
    """Serve until cancelled.

    Args:
        server: The hub's server, which is running.
        port: The port; 0 takes a free one.
        access: Where it listens, and who is answered.

    Raises:
        PortTaken: Another program listens on the port.
        McpFrameError: As by `Access.check`.
    """
    access.check()
    with listen(access.host, port) as listener:
        port = listener.getsockname()[1]
        settings = access.security(port)
        sessions = StreamableHTTPSessionManager(
            server.server,
            security_settings=settings,
            max_request_body_size=LIMITS.max_message_bytes,
            max_sessions=_MOST_SESSIONS,
        )

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            await sessions.asgi_app(without_events(scope), receive, send)

        app = mcp_app(CheckedPosts(answer, settings), access, settings)
        async with sessions.run():
            announced = Announced("mcpframe hub", access.address(port))
            await serve_until_cancelled(app, listener, announced, server.end)
