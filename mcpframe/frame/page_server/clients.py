"""Clients of page servers (MCP-B), for pages in Python: `tab_client` and `iframe_client`.

    async with mcp.Client(tab_client()) as client:
        print(await client.list_tools())

Both wait until the server is ready, even one of npm's transports 0.1, which does not know the check for that. All
clients of a server receive each of its answers, so requests get ids that are unique in the window, and answers to other
clients are ignored. A request of the server reaches all of them. The capability `browser` of a server is among its
experimental ones.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcpframe.frame.compat import in_pyodide, sdk
from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.allowed_origins import AllowedOrigins
from mcpframe.frame.core.connection import Candidate, Connection, Options
from mcpframe.frame.core.dialect import TAB, TRANSPORT
from mcpframe.frame.core.events import Event, SessionBegun, Window
from mcpframe.frame.core.places import Framing, Place, allow_attribute, parse_address, parse_sandbox
from mcpframe.frame.core.roles import Role
from mcpframe.frame.dialects.mcp_b import roles
from mcpframe.frame.dialects.mcp_b.messages import IFRAME_CHANNEL, TAB_CHANNEL
from mcpframe.frame.hosting.shown_frame import find_place
from mcpframe.frame.session.session import open_session

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

EventHook = Callable[[Event], None]
Json = Mapping[str, Any]

_ID = re.compile(r":|-?[0-9]{1,16}\Z")
"""The rest of an id after the prefix: an integer, or a colon and a text."""


@asynccontextmanager
async def tab_client(
    *, channel: str = TAB_CHANNEL, options: Options | None = None, on_event: EventHook | None = None
) -> AsyncIterator[TransportStreams]:
    """Open a session with the page server in this page's own window, for the duration of the block.

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
    """Frame a page server, and open a session with it, for the duration of the block.

    An `iframe` element is used unchanged, and stays: its page decides on `sandbox`, `permissions` and `visible`. Pass
    one that has just been created, or one that is loaded.

    Args:
        url: the page's address. Messages are accepted from and posted to its origin only. An `iframe` element that has
            an address keeps its own.
        place: where to put the frame: a selector, an element of this page, or a `Place`; or an `iframe` element.
        visible: whether the frame is shown.
        sandbox: see `OuterFrame`; the page must keep its origin.
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
    if in_pyodide():
        from mcpframe.frame.browser.frame_places import absolute

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


class _PageMessages:
    """The messages of a session with a page server: `session.interfaces.Messages`, and `session.session.Intercept`."""

    def __init__(self) -> None:
        self._sdk = sdk.SdkMessages()
        self._prefix = f"{os.urandom(6).hex()}/"

    def read(self, body: Json) -> Any:
        """Return a message of the server in the SDK's form."""
        result = body.get("result")
        body = _of_mcp(body, result) if isinstance(result, Mapping) else body
        return self._sdk.read(dict(jsonrpc.answered_as(body, self._restored)))

    def text(self, item: Any) -> str:
        """Return the JSON text of a message to the server."""
        text, members = self._sdk.text(item), self._sdk.members(item)
        if jsonrpc.asked_as(members, self._own) is members:
            return text
        return payload.encode(jsonrpc.asked_as(json.loads(text), self._own))

    def members(self, item: Any) -> Json:
        """Return the members of a message to the server."""
        return jsonrpc.asked_as(self._sdk.members(item), self._own)

    def begun(self, session: Any, event: SessionBegun) -> None:
        """Do nothing."""

    def take(self, message: Json) -> bool:
        """Return whether a message is for another client."""
        if "method" not in message:
            return not self._is_own(message.get("id"))
        token = (message.get("params") or {}).get("progressToken")
        return message["method"] == "notifications/progress" and not self._is_own(token)

    def _own(self, id_: Any) -> str:
        return f"{self._prefix}{id_}" if isinstance(id_, int) else f"{self._prefix}:{id_}"

    def _is_own(self, id_: Any) -> bool:
        return isinstance(id_, str) and id_.startswith(self._prefix) and _ID.match(id_, len(self._prefix)) is not None

    def _restored(self, id_: Any) -> Any:
        """Return the SDK's own id. A forged id of this form matches no request."""
        if not self._is_own(id_):
            return id_
        own: str = id_.removeprefix(self._prefix)
        return own[1:] if own.startswith(":") else int(own)


def _of_mcp(body: Json, result: Json) -> Json:
    """Return an answer with MCP-B's additions moved to fields of the SDK's models."""
    metadata, capabilities = result.get("metadata"), result.get("capabilities")
    if isinstance(metadata, Mapping) and metadata.get("navigationInterrupted") is True:
        # Transports before 5 answer each request like this as their page is left: it is not a result.
        message = "The page server was left before it answered."
        error = {"code": jsonrpc.CONNECTION_CLOSED, "message": message, "data": {"navigationInterrupted": True}}
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
    messages = _PageMessages()
    async with open_session(connection, window, on_event=on_event, messages=messages, intercept=messages) as session:
        yield session.streams


def _place_of(place: Any) -> Place:
    if in_pyodide():
        from mcpframe.frame.browser.frame_places import iframe_place

        if (own := iframe_place(place)) is not None:
            return own
    return find_place(place, popup=True)
