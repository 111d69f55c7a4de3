"""`connect_to_host`: for a framed page that is not a server, such as the client of an inverted architecture.

    async def main(page: Page) -> None:
        async with mcp.Client(mcpframe.connect_to_host(allowed_origins=["https://app.example"])) as client:
            ...

MCP roles are independent of the frames: a server may be served in the block as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpframe.frame.core.allowed_origins import OriginLists
from mcpframe.frame.core.connection import Connection, Options
from mcpframe.frame.core.dialect import SETUP
from mcpframe.frame.core.errors import NoPeer, StateError
from mcpframe.frame.core.events import Event, SessionBegun
from mcpframe.frame.dialects.available import entries_of, phase_of, withheld
from mcpframe.frame.dialects.complete import client_candidates
from mcpframe.frame.session.session import open_session

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

    from mcpframe.frame.session.setup_phase import SetupResult


@dataclass(frozen=True)
class Defaults:
    """The page's configuration, for `connect_to_host`.

    Attributes:
        allowed_origins: the allowed origins of the host; None if the configuration has none.
        options: deadlines and limits.
        setup: returns the result of a setup of this page.
        note_session: called when a session with the host begins, and with None when it has ended without an error.
        dialects: the dialects that the page offers; empty for all.
    """

    allowed_origins: OriginLists | None
    options: Options
    setup: Callable[[], SetupResult]
    note_session: Callable[[SessionBegun | None], None] = lambda _: None
    dialects: Sequence[str] = ()


_defaults: Defaults | None = None


def configure(defaults: Defaults) -> None:
    """Set the configuration. Called once by boot."""
    global _defaults
    _defaults = defaults


@asynccontextmanager
async def connect_to_host(
    *,
    dialect: str | None = None,
    allowed_origins: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    options: Options | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> AsyncIterator[TransportStreams]:
    """Open a session with the page that frames or opened this one, for the duration of the block.

    If the host only runs this page's setup, it completes at once, and the block is never entered.

    Args:
        dialect: the dialect of a host that has to be asked for by name, such as `"plain_mcp"`; by default those in
            which either side may be the client.
        allowed_origins: the exact origins allowed as the host; by default those of `[tool.mcpframe]`.
        options: deadlines and limits; by default those of `[tool.mcpframe]`.
        on_event: called with every event of the connection but `Received`.

    Yields:
        `(read, write)` of the SDK: for `mcp.Client(connect_to_host(...))`, or for a server to serve.

    Raises:
        NoPeer: if the page was opened by itself.
        OriginError: if no origin is allowed, or one can never match.
        SessionError: if the handshake fails; see its subclasses.
        StateError: outside of a page bundle, or for a dialect that is not offered.
    """
    if _defaults is None:
        raise StateError('connect_to_host is for page bundles: set kind = "page" in [tool.mcpframe].')
    from mcpframe.frame.browser import window

    named = _defaults.allowed_origins if allowed_origins is None else None
    allowed = (named or entries_of(allowed_origins).with_own(window.own_origin()).parse()).without(
        withheld(_defaults.dialects)
    )
    candidates = client_candidates(allowed, dialect)
    host = window.host_window()
    if host is None:
        raise NoPeer("This page was opened by itself: there is no host around it to connect to.")
    used = options or _defaults.options
    if phase_of(window.fragment()) == SETUP:
        from mcpframe.frame.session import setup_phase

        connection = Connection(setup_phase.page_candidates(allowed), options=used, names_refusal=True)
        async with open_session(connection, host, on_event=on_event) as session:
            setup_phase.complete(session, _defaults.setup())
            await asyncio.get_running_loop().create_future()  # until the host removes the page
    if not candidates:
        which = "No dialect in which a page can be the client" if dialect is None else f"The dialect {dialect!r}"
        is_not = "is offered" if dialect is None else "is not offered, or no origin is allowed in it"
        raise StateError(f"{which} {is_not}: see `dialects` and `allowed_origins` of [tool.mcpframe].")
    connection = Connection(candidates, options=used, names_refusal=True)
    async with open_session(connection, host, on_event=on_event) as session:
        _defaults.note_session(session.started)
        yield session.streams
        _defaults.note_session(None)  # not after an error, which may end the page: its last words are for this host
