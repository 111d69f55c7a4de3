"""`FrameServer.session` is the session of the peer that asks, also where one server serves several at once."""

from __future__ import annotations

import contextvars
from typing import Any

import pytest
from mcp import Client

from mcpframe import FrameServer
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.serving.frame_session import FrameSession, local_session
from mcpframe.frame.serving.framed import PeerSession

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
    monkeypatch.setattr("mcpframe.frame.serving.framed.in_pyodide", lambda: True)
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
