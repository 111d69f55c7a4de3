"""The relay of a document's tools (WebMCP): `web_mcp.client` makes a server of them, and the relay does the rest."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from mcpframe.frame.session.lines import PlainMessages
from mcpframe.frame.waiting.clock import Clock
from mcpframe.frame.webmcp.client import ToolSource, tools_session
from mcpframe.hub.core.messages import Form, Json
from mcpframe.hub.relay.relay import Relay


@asynccontextmanager
async def relay_tools(
    source: ToolSource,
    to_hub: Callable[[Json], None],
    clock: Clock,
    *,
    url: str | None = None,
    form: Form = "json-rpc",
) -> AsyncIterator[Relay]:
    """Relay the tools of a document for as long as the block lasts. At its end they are gone, and calls fail.

    Args:
        source: Where the tools are.
        to_hub: Posts a message to the hub.
        clock: The time.
        url: The page's address, for the hub.
        form: The form of the messages to the hub.

    Yields:
        The relay, to which the hub's messages go (`Relay.from_hub`).

    Raises:
        StateError: The tools cannot be listed.
    """
    async with tools_session(source, PlainMessages()) as (read, server):
        relay = Relay(server.take, to_hub, clock, url=url, form=form)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read, read, relay)
                relay.start()
                yield relay
                tasks.cancel_scope.cancel()
        finally:
            relay.page_ended()


async def _read(read: Any, relay: Relay) -> None:
    async for message in read:
        relay.from_page(message)
