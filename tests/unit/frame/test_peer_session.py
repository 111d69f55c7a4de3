"""`FrameServer.session` is the session of the peer that asks, also where one server serves several at once."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from typing import Any

import anyio
import pytest
from mcp import Client

from mcpframe import FrameServer
from mcpframe.frame import setup_phase
from mcpframe.frame.author import FrameSession, local_session
from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.origins import parse_allowed_origins
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.peer_session import PeerSession
from mcpframe.frame.session import open_session, transport
from tests.support.fake_window import FakeWindow
from tests.support.sep import FRAME, HOST, alone
from tests.unit.frame.test_boot import Rig, bounded, rig

__all__ = ["bounded", "rig"]

ONE, TWO = "session-of-the-first-peer", "session-of-the-second-peer"
SERVER = """
    import asyncio
    from contextlib import asynccontextmanager
    import anyio
    from mcpframe import FrameServer, Setup

    @asynccontextmanager
    async def lifespan(_):
        lived.append(server.session.id)
        yield

    server = FrameServer("test", allowed_origins=["https://chat.example"], lifespan=lifespan)
    lived, shown, clicks, late, sessions = [], [], [], {}, {}
    arrived = []
    both = asyncio.Event()

    @server.ui
    async def ui(session):
        shown.append((session.id, server.session is session))
        session.page.element("#mcpframe-app").on("click", lambda event: clicks.append((event.key, server.session.id)))

    @server.setup(visible=False)
    async def setup(session):
        await asyncio.sleep(0)
        assert server.session is session
        return Setup(title=session.id)

    async def ask():
        await asyncio.sleep(0)
        return server.session.id

    @server.tool()
    async def ids() -> list[str]:
        before = server.session.id
        sessions[before] = server.session
        arrived.append(before)
        if len(arrived) == 2:
            both.set()
        await both.wait()
        found = [before, server.session.id, await asyncio.create_task(ask()), await asyncio.to_thread(sync)]
        async with anyio.create_task_group() as tasks:
            async def add():
                found.append(await ask())
            tasks.start_soon(add)
        await server.session.storage.set("id", before)
        return found

    def sync():
        return server.session.id

    @server.tool()
    async def stay() -> None:
        over = asyncio.Event()

        async def outlive():
            await over.wait()
            return server.session

        late[server.session.id] = over, asyncio.create_task(outlive())

    @server.tool()
    async def closed() -> bool:
        return server.session.closed.is_set()
"""


async def served(
    rig: Rig, name: str, session_id: str, role: Any = sep.OUTER_TRANSPORT
) -> tuple[Connection, FakeWindow, Any]:
    """Boot the server of this name for one more host; return the host's connection and window, and the page's task."""
    outer, rig.inner = FakeWindow.pair(HOST, FRAME)
    connection = alone(role, parse_allowed_origins([FRAME]), session_id=session_id)
    page = rig.start(f"{name}:server")
    while not rig.inner.listening:
        await anyio.lowlevel.checkpoint()
    return connection, outer, page


async def test_two_peers_at_once_have_a_session_each(rig: Rig) -> None:
    rig.write(SERVER, "authored_two")

    async def ids(client: Client, name: str) -> None:
        assert (await client.call_tool("ids", {})).structured_content == {"result": [name] * 5}
        await client.call_tool("stay", {})

    connection, window, first_page = await served(rig, "authored_two", ONE)
    async with Client(transport(connection, window)) as first:
        connection, window, second_page = await served(rig, "authored_two", TWO)
        async with Client(transport(connection, window)) as second:
            author = sys.modules["authored_two"]
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ids, first, ONE)
                tasks.start_soon(ids, second, TWO)
            assert sorted(author.arrived) == sorted(author.lived) == [ONE, TWO]
            assert sorted(author.shown) == [(ONE, True), (TWO, True)]
            assert await rig.records.get(ONE, "id") == f'"{ONE}"'
            assert await rig.records.get(TWO, "id") == f'"{TWO}"'
            rig.browser.happen("#mcpframe-app", "click", key="a")  # as JavaScript calls: in a context without a peer
            assert sorted(author.clicks) == [("a", ONE), ("a", TWO)]
        await ended(second_page)
        assert author.sessions[TWO].closed.is_set()
        assert not author.sessions[ONE].closed.is_set()
        rig.browser.happen("#mcpframe-app", "click", key="b")
        assert author.clicks[2:] == [("b", ONE)]
        assert (await first.call_tool("closed", {})).structured_content == {"result": False}
        for name in (ONE, TWO):
            over, task = author.late[name]
            over.set()
            assert await task is author.sessions[name]
    await ended(first_page)
    assert author.sessions[ONE].closed.is_set()
    assert author.server.session.id == "local"


async def ended(page: asyncio.Task[None]) -> None:
    page.cancel()
    await asyncio.wait([page])


async def test_two_setups_at_once_have_a_session_each(rig: Rig) -> None:
    rig.write(SERVER, "authored_setups")
    rig.fragment = "#setup"
    opened = [await served(rig, "authored_setups", name, sep.OUTER_SETUP) for name in (ONE, TWO)]

    async def title(connection: Connection, window: FakeWindow, page: asyncio.Task[None]) -> str | None:
        async with open_session(connection, window) as session:
            result = await setup_phase.result_of(session)
        await page
        return result.title

    assert await asyncio.gather(*(title(*each) for each in opened)) == [ONE, TWO]


# Without a page


def sessions_of(server: FrameServer[Any], *sessions: FrameSession) -> list[PeerSession]:
    return [PeerSession(lambda session=session: session) for session in sessions]  # type: ignore[misc]


async def test_a_session_is_opened_when_it_is_first_asked_for_and_closed_with_its_peer() -> None:
    server = FrameServer("test", allowed_origins=["*"])
    opened: list[FrameSession] = []

    def open_one() -> FrameSession:
        opened.append(local_session())
        return opened[-1]

    with server.running_for(PeerSession(open_one)):
        assert opened == []
        assert server.session is server.session
        assert len(opened) == 1
        assert not opened[0].closed.is_set()
    assert opened[0].closed.is_set()


async def test_a_session_that_is_first_asked_for_after_the_end_is_over() -> None:
    server = FrameServer("test", allowed_origins=["*"])
    with server.running_for(PeerSession(local_session)):
        context = contextvars.copy_context()
    assert context.run(lambda: server.session).closed.is_set()


async def test_two_servers_of_one_process_have_sessions_of_their_own() -> None:
    one, two = (FrameServer(name, allowed_origins=["*"]) for name in ("one", "two"))
    mine = local_session()
    with one.running_for(PeerSession(lambda: mine)):
        assert one.session is mine
        assert two.session is not mine


async def test_in_a_page_there_is_no_session_outside_of_a_peers_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcpframe.frame.server.in_pyodide", lambda: True)
    server = FrameServer("test", allowed_origins=["*"])
    nobody = contextvars.copy_context()
    with server.running_for(PeerSession(local_session)):
        assert server.session.id == "local"
        with pytest.raises(StateError, match=r"use server\.session in tools"):
            nobody.run(lambda: server.session)
    with pytest.raises(StateError):
        _ = server.session


async def test_in_memory_clients_share_the_local_session() -> None:
    server = FrameServer("test", allowed_origins=["*"])

    @server.tool()
    async def keep(value: int) -> int:
        before: int = await server.session.storage.get("value", 0)
        await server.session.storage.set("value", value)
        return before

    async with Client(server) as one, Client(server) as two:
        await one.call_tool("keep", {"value": 7})
        assert (await two.call_tool("keep", {"value": 8})).structured_content == {"result": 7}
    assert await server.session.storage.get("value") == 8
