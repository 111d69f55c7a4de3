"""The relay of the page server in a window: a connection of MCP-B waits for the server, and the relay does the rest."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import anyio

from mcpframe.frame.core import payload
from mcpframe.frame.core.connection import Candidate, Connection, Options
from mcpframe.frame.core.dialect import TAB
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.events import Window
from mcpframe.frame.core.origins import AllowedOrigins
from mcpframe.frame.dialects.mcp_b import roles
from mcpframe.frame.dialects.mcp_b.messages import TAB_CHANNEL
from mcpframe.frame.hub.interfaces import Clock
from mcpframe.frame.hub.messages import Form, Json
from mcpframe.frame.hub.relay import Relay
from mcpframe.frame.lines import PlainMessages
from mcpframe.frame.session import Session, open_session


@asynccontextmanager
async def relay_page(
    window: Window,
    origin: str,
    to_hub: Callable[[Json], None],
    clock: Clock,
    *,
    url: str | None = None,
    form: Form = "json-rpc",
    channel: str = TAB_CHANNEL,
    options: Options | None = None,
) -> AsyncIterator[Relay]:
    """Wait for the page server of a window, and relay it for as long as the block lasts.

    Args:
        window: The page's own window.
        origin: The page's origin: nobody else is heard.
        to_hub: Posts a message to the hub.
        clock: The time.
        url: The page's address, for the hub.
        form: The form of the messages to the hub.
        channel: The name of the server's channel.
        options: Deadlines and limits; `handshake_timeout` bounds the wait for the server.

    Yields:
        The relay, to which the hub's messages go (`Relay.from_hub`).

    Raises:
        HandshakeTimeout: There is no server, or it is not ready in time.
    """
    candidate = Candidate(roles.client(TAB, channel), AllowedOrigins(frozenset({origin})))
    connection = Connection([candidate], options=options)
    async with open_session(connection, window, messages=PlainMessages()) as session:
        relay = Relay(_poster(session), to_hub, clock, url=url, form=form)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read, session, relay)
                relay.start()
                yield relay
                tasks.cancel_scope.cancel()
        finally:
            relay.close()


def _poster(session: Session) -> Callable[[Json], None]:
    def post(message: Json) -> None:
        with suppress(StateError):  # the server has stopped: `_read` says so
            session.send((payload.encode(message), message))

    return post


async def _read(session: Session, relay: Relay) -> None:
    async for message in session.streams[0]:
        relay.from_page(message)
    relay.page_ended()
