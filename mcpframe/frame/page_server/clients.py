"""Clients of page servers (MCP-B), for pages in Python: `tab_client` and `iframe_client`.

    async with mcp.Client(mcpframe.tab_client()) as client:
        print(await client.list_tools())

Both wait until the server is ready, also one of npm's transports 0.1, which does not know the check for that. Other
clients may use the same server: requests get ids that no other has, and answers to others are passed over. A request
that the server makes reaches all of them. The capability `browser` of a server is among its experimental ones.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.connection import Candidate, Connection, Options
from mcpframe.frame.core.dialect import TAB, TRANSPORT
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.events import Event, Window
from mcpframe.frame.core.jsonrpc import CONNECTION_CLOSED
from mcpframe.frame.core.origins import AllowedOrigins
from mcpframe.frame.core.roles import Role
from mcpframe.frame.dialects.mcp_b import roles
from mcpframe.frame.dialects.mcp_b.messages import IFRAME_CHANNEL, TAB_CHANNEL
from mcpframe.frame.page_server.own_ids import OwnIds
from mcpframe.frame.session.places import Framing, Place, allow_attribute, parse_address, parse_sandbox
from mcpframe.frame.session.session import open_session

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

EventHook = Callable[[Event], None]


@asynccontextmanager
async def tab_client(
    *, channel: str = TAB_CHANNEL, options: Options | None = None, on_event: EventHook | None = None
) -> AsyncIterator[TransportStreams]:
    """Open a session with the page server in this page's own window, for as long as the block lasts.

    Args:
        channel: the name of the server's channel.
        options: deadlines and limits; `handshake_timeout` bounds the wait for the server.
        on_event: called with every event of the connection but `Received`.

    Yields:
        `(read, write)` of the SDK, for `mcp.Client(tab_client())`.

    Raises:
        HandshakeTimeout: if there is no server, or it is not ready in time.
    """
    from mcpframe.frame.browser import window

    async with _session(
        roles.client(TAB, channel), window.own_origin(), window.own_window(), options, on_event
    ) as streams:
        yield streams


@asynccontextmanager
async def iframe_client(
    url: str,
    place: Any = "body",
    *,
    visible: bool = False,
    sandbox: str | None = "standard",
    permissions: Iterable[str] = (),
    channel: str = IFRAME_CHANNEL,
    options: Options | None = None,
    on_event: EventHook | None = None,
) -> AsyncIterator[TransportStreams]:
    """Frame a page server, and open a session with it, for as long as the block lasts.

    An `iframe` element is used as it is, and stays: `sandbox`, `permissions` and `visible` are up to the page. Pass one
    that has just been made, or one that is loaded.

    Args:
        url: the page's address. Only its origin is heard and posted to. An `iframe` element that has an address keeps
            its own.
        place: where to put the frame: a selector, an element of this page, or a `Place`; or an `iframe` element.
        visible: whether the frame is shown.
        sandbox: as for `OuterFrame`; the page must keep its origin.
        permissions: the browser permissions that the page gets.
        channel: the name of the server's channel.
        options: deadlines and limits; `handshake_timeout` covers loading and starting the page.
        on_event: called with every event of the connection but `Received`.

    Yields:
        `(read, write)` of the SDK, for `mcp.Client(iframe_client(url))`.

    Raises:
        OriginError: for an address, a sandbox or a permission that cannot work.
        HandshakeTimeout: if no page server was ready in time.
        StateError: if there is no such place.
    """
    if sys.platform == "emscripten":
        from mcpframe.frame.browser.frames import absolute

        url = absolute(url)
    address, origin = parse_address(url)
    framing = Framing(
        url=address,
        title=origin,
        sandbox=parse_sandbox(sandbox, opaque=False),
        allow=allow_attribute(permissions),
        visible=visible,
    )
    async with (
        _place_of(place)(framing) as window,
        _session(roles.client(TRANSPORT, channel), origin, window, options, on_event) as streams,
    ):
        yield streams


class _Answers(OwnIds):
    """The messages of a page server, as the SDK has them."""

    def read(self, body: Mapping[str, Any]) -> Any:
        """Return a message of the server as the SDK has it."""
        result = body.get("result")
        return super().read(_of_mcp(body, result) if isinstance(result, Mapping) else body)


def _of_mcp(body: Mapping[str, Any], result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an answer with what MCP-B adds where the SDK's models have a place for it."""
    metadata, capabilities = result.get("metadata"), result.get("capabilities")
    if isinstance(metadata, Mapping) and metadata.get("navigationInterrupted") is True:
        # What transports before 5 answer to each request as their page is left, which is no result of it.
        message = "The page server was left before it answered."
        error = {"code": CONNECTION_CLOSED, "message": message, "data": {"navigationInterrupted": True}}
        return {"jsonrpc": "2.0", "id": body.get("id"), "error": error}
    if isinstance(capabilities, Mapping) and isinstance(browser := capabilities.get("browser"), Mapping):
        others = capabilities.get("experimental")
        experimental = {**(others if isinstance(others, Mapping) else {}), "browser": browser}
        return {**body, "result": {**result, "capabilities": {**capabilities, "experimental": experimental}}}
    return body


@asynccontextmanager
async def _session(
    role: Role, origin: str, window: Window, options: Options | None, on_event: EventHook | None
) -> AsyncIterator[TransportStreams]:
    connection = Connection([Candidate(role, AllowedOrigins(frozenset({origin})))], options=options)
    ids = _Answers()
    async with open_session(connection, window, on_event=on_event, messages=ids, intercept=ids) as session:
        yield session.streams


def _place_of(place: Any) -> Place:
    if sys.platform == "emscripten":
        from mcpframe.frame.browser.frames import iframe_place, place_of

        return iframe_place(place) or place_of(place)
    if callable(place):
        made: Place = place
        return made
    raise StateError(f"{place!r} is a place in a browser's page: outside of one pass a `Place`.")
