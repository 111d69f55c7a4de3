"""The official client and server over a dialect made for the tests, whichever of a page's candidates is answered."""

from __future__ import annotations

import asyncio

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer

from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.dialect import Dialect
from mcpframe.frame.core.events import Event, Inbox, Opened
from mcpframe.frame.serving.server import serve
from mcpframe.frame.session.session import open_session, transport
from tests.support.fake_window import FakeWindow, inbound
from tests.support.second_dialect import (
    ANSWERED,
    DIRECTED,
    FRAME,
    HOST,
    PLAIN,
    candidates,
    connection,
    from_peer,
    role_of,
)

PATIENCE = 60.0
DIALECTS = [pytest.param(each, id=each.name) for each in (PLAIN, DIRECTED)]
INNER = [role_of(each, "inner") for each in (PLAIN, DIRECTED)]


async def serve_page(made: Connection, window: FakeWindow) -> None:
    server = MCPServer("test")
    server.add_tool(lambda a, b: a + b, name="add", description="add", structured_output=False)
    async with open_session(made, window) as session:
        await serve(server, *session.streams)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_client_of_either_dialect_is_served_by_the_same_page(dialect: Dialect, mode: str) -> None:
    outer, inner = FakeWindow.pair(HOST, FRAME)
    events: list[Event] = []
    page = asyncio.create_task(serve_page(connection(*INNER), inner))
    connecting = transport(connection(role_of(dialect, "outer")), outer, on_event=events.append)
    async with asyncio.timeout(PATIENCE), Client(connecting, mode=mode) as client:
        added = await client.call_tool("add", {"a": 1, "b": 2})
        assert added.content[0].text == "3"  # type: ignore[union-attr]
    assert Opened(dialect=dialect.name, origin=FRAME) in events
    assert {target for _, target in outer.posted} == {FRAME}
    openings = [target for _, target in inner.posted if target == "*"]
    assert len(openings) == 2
    assert inner.posted[0][1] == inner.posted[1][1] == "*"
    page.cancel()
    await asyncio.wait([page])


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_answer_from_before_the_page_was_up_needs_no_second_opening(dialect: Dialect) -> None:
    _, window = FakeWindow.pair(HOST, FRAME)
    role = role_of(dialect, "inner")
    other = next(each for each in INNER if each is not role)
    kept = [inbound(from_peer(each, ANSWERED), origin=HOST) for each in (role, other, role)]
    made = Connection(candidates(*INNER))
    async with (
        asyncio.timeout(PATIENCE),
        open_session(made, window, take_inbox=lambda: Inbox(tuple(kept), 0, True)) as session,
    ):
        assert session.started == Opened(dialect=dialect.name, origin=HOST)
        assert [target for _, target in window.posted] == [HOST]  # that it is ready
        assert made.dropped["noise"] == 1
