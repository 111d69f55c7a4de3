"""`page_server`: make the page of a page bundle a page server (MCP-B) for the scripts of its own window.

async def main(page: Page) -> None:
    await mcpframe.page_server(server)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcpframe.frame.compat import sdk
from mcpframe.frame.core.connection import Candidate, Connection, Options, parse_allowed_origins
from mcpframe.frame.core.dialect import TAB
from mcpframe.frame.core.errors import OriginError
from mcpframe.frame.core.events import Event
from mcpframe.frame.dialects.mcp_b import roles
from mcpframe.frame.dialects.mcp_b.messages import TAB_CHANNEL
from mcpframe.frame.serving.framed import browser_capability
from mcpframe.frame.serving.server_module import server_module
from mcpframe.frame.session.many_clients import serve_clients
from mcpframe.frame.session.session import open_session


async def page_server(
    server: Any,
    *,
    allowed_origins: Sequence[str] | None = None,
    channel: str = TAB_CHANNEL,
    browser: Mapping[str, Any] | None = None,
    options: Options | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> None:
    """Serve the clients in this page's own window, such as extensions, until cancelled.

    Args:
        server: the server object.
        allowed_origins: the origins of these clients; must include the page's own, the default.
        channel: the name of the channel, which is unique to each server of a window.
        browser: the capability `browser`, in place of the one of the `FrameServer`.
        options: deadlines and limits.
        on_event: called with every event of the connection but `Received`.

    Raises:
        OriginError: if `allowed_origins` is empty, or the page's own origin is not in it.
        EntryError: if `server` is not a server object.
    """
    from mcpframe.frame.browser import window

    own = window.own_origin()
    allowed = parse_allowed_origins([own] if allowed_origins is None else allowed_origins)
    if own not in allowed:
        raise OriginError(f"Only scripts of this page can be clients: list its origin {own!r} in allowed_origins.")
    sdk.prepare()
    servers = server_module(target=server)
    messages = servers.messages()
    connection = Connection([Candidate(roles.server(TAB, channel), allowed)], options=options)
    async with open_session(connection, window.own_window(), on_event=on_event, messages=messages) as session:

        async def serve(read: Any, write: Any) -> None:
            await servers.serve(server, read, write)

        capabilities = browser_capability(server) if browser is None else {"browser": dict(browser)}
        await serve_clients(
            session.streams,
            messages,
            session.post,
            serve,
            capabilities=capabilities,
            before_leaving=window.before_leaving,
        )
