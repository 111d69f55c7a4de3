"""One server object in connections of two dialects at once: neither knows of the other, and one ends alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.server.lowlevel import Server

from mcpframe.frame.compat import sdk
from mcpframe.frame.core.dialect import Dialect
from mcpframe.frame.core.events import Departure, Opened
from mcpframe.frame.serving import other_server
from mcpframe.frame.session.lines import PlainMessages
from mcpframe.frame.session.session import open_session
from tests.support.fake_window import FakeWindow
from tests.support.plain_client import PlainClient
from tests.support.second_dialect import DIRECTED, FRAME, HOST, PLAIN, connection, role_of

INNER = [role_of(each, "inner") for each in (PLAIN, DIRECTED)]
DIALECTS = [pytest.param(each, id=each.name) for each in (PLAIN, DIRECTED)]


class Gate:
    """Where calls of a tool wait for one another."""

    def __init__(self) -> None:
        self.inside = 0
        self.open = anyio.Event()
        self.changed = anyio.Event()

    async def wait(self, text: str) -> str:
        """Wait until the gate is opened, and return the text."""
        self.inside += 1
        self.changed.set()
        self.changed = anyio.Event()
        await self.open.wait()
        return text

    async def holds(self, count: int) -> None:
        while self.inside < count:
            await self.changed.wait()


def decorated(gate: Gate) -> Any:
    """Return a FastMCP of the SDK or the package that is here."""
    if sdk.has_fastmcp():
        from fastmcp import FastMCP  # type: ignore[import-not-found, unused-ignore]
    else:
        from mcp.server.fastmcp import FastMCP  # type: ignore[attr-defined, unused-ignore]
    server = FastMCP("unit")
    server.tool()(gate.wait)
    return server


def lowlevel(gate: Gate) -> Any:
    """Return a lowlevel server of mcp 1.x."""
    from mcp import types

    if sdk.major() != 1:
        pytest.skip("its decorators are those of mcp 1.x")
    server: Any = Server("unit")

    @server.list_tools()  # type: ignore[untyped-decorator, unused-ignore]
    async def list_tools() -> Any:
        return [types.Tool(name="wait", inputSchema={"type": "object"})]

    @server.call_tool()  # type: ignore[untyped-decorator, unused-ignore]
    async def call_tool(name: str, arguments: dict[str, Any]) -> Any:
        return [types.TextContent(type="text", text=await gate.wait(arguments["text"]))]

    return server


class Peer:
    """A host's side of a connection, and the page's."""

    def __init__(self, client: PlainClient, inner: FakeWindow, page: asyncio.Task[None]) -> None:
        self.client = client
        self.inner = inner
        self.page = page

    async def leave(self) -> None:
        """Let the host go away, and the page see it."""
        self.inner.peer_departs(Departure.REMOVED)
        await asyncio.wait([self.page])


@asynccontextmanager
async def connected(server: Any, dialect: Dialect) -> AsyncIterator[Peer]:
    """Connect one more host, which speaks this dialect, to a page that offers both."""
    outer, inner = FakeWindow.pair(HOST, FRAME)

    async def serve() -> None:
        async with open_session(connection(*INNER), inner, messages=PlainMessages()) as session:
            await other_server.serve(server, *session.streams)

    page = asyncio.create_task(serve())
    events: list[Any] = []
    made = connection(role_of(dialect, "outer"))
    async with open_session(made, outer, messages=PlainMessages(), on_event=events.append) as session:
        assert Opened(dialect=dialect.name, origin=FRAME) in events
        client = PlainClient(*session.streams)
        await client.initialize()
        yield Peer(client, inner, page)
        inner.peer_departs(Departure.REMOVED)
    await asyncio.wait([page])


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("make", [decorated, lowlevel])
async def test_one_connection_ends_without_the_other(make: Callable[[Gate], Any], dialect: Dialect) -> None:
    other = DIRECTED if dialect is PLAIN else PLAIN
    gate = Gate()
    server = make(gate)
    async with connected(server, dialect) as first, connected(server, other) as second:
        await first.client.ask("tools/call", name="wait", arguments={"text": "first"})
        pending = await second.client.ask("tools/call", name="wait", arguments={"text": "second"})
        await gate.holds(2)
        await first.leave()
        assert not second.page.done()
        gate.open.set()
        answer = await second.client.answer(pending)
        assert answer["result"]["content"][0]["text"] == "second"
        assert (await second.client.call("wait", text="again"))["content"][0]["text"] == "again"
        async with connected(server, dialect) as third:
            assert (await third.client.call("wait", text="third"))["content"][0]["text"] == "third"
        assert (await second.client.call("wait", text="last"))["content"][0]["text"] == "last"


async def test_answers_reach_their_own_connection() -> None:
    gate = Gate()
    server = decorated(gate)
    async with connected(server, PLAIN) as first, connected(server, DIRECTED) as second:
        peers = {"first": first, "second": second}
        ids = [await peer.client.ask("tools/call", name="wait", arguments={"text": at}) for at, peer in peers.items()]
        assert len(set(ids)) == 1
        await gate.holds(2)
        gate.open.set()
        for at, peer in peers.items():
            answer = await peer.client.answer(ids[0])
            assert answer["result"]["content"][0]["text"] == at
