"""A session over fake windows, with the official SDK on both sides, in all four combinations of roles."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter

from mcpframe.frame.core.connection import Connection, Options, parse_allowed_origins
from mcpframe.frame.core.errors import (
    HandshakeTimeout,
    MalformedMessage,
    PeerGone,
    SessionError,
    StateError,
    VersionMismatch,
)
from mcpframe.frame.core.events import Closed, Departure, Event, Inbound, Inbox, Opened, Wire
from mcpframe.frame.core.roles import Role
from mcpframe.frame.core.setup import SetupReason, SetupRequired, SetupResult, SetupStarted
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.session import setup_phase
from mcpframe.frame.session.lines import PlainMessages
from mcpframe.frame.session.session import Session, encoded, open_session, transport
from tests.support.driving import NOTIFICATION, REQUEST
from tests.support.fake_window import FakeWindow, inbound
from tests.support.sep import FRAME, HOST, MESSAGES, SESSION, alone

ERAS = ["legacy", "2026-07-28"]


def halves(
    phase: str = "transport", options: Options | None = None
) -> tuple[tuple[Connection, FakeWindow], tuple[Connection, FakeWindow]]:
    """Return an outer and an inner connection, each with its window."""
    outer_role, inner_role = (
        (sep.OUTER_SETUP, sep.INNER_SETUP) if phase == "setup" else (sep.OUTER_TRANSPORT, sep.INNER_TRANSPORT)
    )
    outer_window, inner_window = FakeWindow.pair(HOST, FRAME)

    def make(role: Role, peer: str) -> Connection:
        return alone(role, parse_allowed_origins([peer]), options=options)

    return (make(outer_role, FRAME), outer_window), (make(inner_role, HOST), inner_window)


def shaken() -> tuple[Session, Connection, FakeWindow]:
    """Return a session of an inner frame after its handshake."""
    _, (inner, window) = halves()
    session = Session(inner, window)
    session.start()
    window.take(inbound(MESSAGES["MCP_TRANSPORT_HANDSHAKE_REPLY"], origin=HOST))
    return session, inner, window


def make_server() -> MCPServer:
    server = MCPServer("test")
    server_started = anyio.Event()

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool()
    def surrogate() -> str:
        return "\ud800"

    @server.tool()
    async def forever() -> str:
        server_started.set()
        await anyio.sleep_forever()
        raise AssertionError

    server.started = server_started  # type: ignore[attr-defined]
    return server


async def serve(server: MCPServer, connection: Connection, window: FakeWindow) -> Closed:
    async with open_session(connection, window, take_inbox=window.take_inbox) as session:
        target = server._lowlevel_server
        await target.run(*session.streams, target.create_initialization_options())
    return await session.ended()


@asynccontextmanager
async def serving(server: MCPServer, half: tuple[Connection, FakeWindow]) -> AsyncIterator[asyncio.Task[Closed]]:
    task = asyncio.create_task(serve(server, *half))
    yield task
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("architecture", ["standard", "inverted"])
async def test_a_call_in_every_combination_of_roles(architecture: str, mode: Any) -> None:
    outer, inner = halves()
    client_half, server_half = (outer, inner) if architecture == "standard" else (inner, outer)
    async with serving(make_server(), server_half), Client(transport(*client_half), mode=mode) as client:
        result = await client.call_tool("add", {"a": 1, "b": 2})
        assert result.structured_content == {"result": 3}
    for window, peer in ((outer[1], FRAME), (inner[1], HOST)):
        handshake = [target for message, target in window.posted if message["type"].endswith("_HANDSHAKE")]
        rest = {target for message, target in window.posted if not message["type"].endswith("_HANDSHAKE")}
        assert set(handshake) <= {"*"}
        assert rest == {peer}


async def test_what_arrives_before_the_server_reads_is_kept() -> None:
    session, _, window = shaken()
    for n in range(500):
        window.take(inbound({"type": "MCP_MESSAGE", "payload": REQUEST | {"id": n}}, origin=HOST))
    await session.begun()
    read, _ = session.streams
    got = [await read.receive() for _ in range(500)]
    assert [item.message.id for item in got if isinstance(item, SessionMessage)] == list(range(500))  # type: ignore[union-attr]
    session.close()
    read.close()


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("departure", list(Departure))
async def test_pending_calls_fail_clearly_when_the_frame_is_gone(departure: Departure, mode: Any) -> None:
    outer, inner = halves()
    server = make_server()
    events: list[Event] = []
    async with serving(server, inner), Client(transport(*outer, on_event=events.append), mode=mode) as client:
        call = asyncio.create_task(client.call_tool("forever", {}))
        await server.started.wait()  # type: ignore[attr-defined]
        outer[1].peer_departs(departure)
        with pytest.raises(MCPError, match="session is over"):
            await call
        with pytest.raises(MCPError, match=r"[Cc]losed"):
            await client.call_tool("add", {"a": 1, "b": 2})
    closed = events[-1]
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, PeerGone)
    assert not outer[1].listening


async def test_a_reloaded_frame_cannot_take_over_and_gets_a_new_session() -> None:
    outer, inner = halves()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(serving(make_server(), inner))
        session = await stack.enter_async_context(open_session(*outer))
        posted = len(outer[1].posted)
        outer[1].take(inbound(MESSAGES["MCP_TRANSPORT_HANDSHAKE"], origin=FRAME))
        closed = await session.ended()
        assert isinstance(closed.error, PeerGone)
        assert outer[1].posted[posted:] == []
    outer, inner = halves()
    async with serving(make_server(), inner), Client(transport(*outer)) as client:
        assert (await client.call_tool("add", {"a": 2, "b": 2})).structured_content == {"result": 4}


@pytest.mark.parametrize("phase", ["setup", "transport"])
@pytest.mark.parametrize("side", [0, 1], ids=["outer", "inner"])
async def test_nobody_there_ends_in_a_timeout(side: int, phase: str) -> None:
    connection, window = halves(phase, Options(handshake_timeout=0.05))[side]
    window.peer = None
    with pytest.raises(HandshakeTimeout, match="in time"):
        async with open_session(connection, window):
            raise AssertionError("no session without a peer")
    assert not window.listening


async def test_handshake_is_repeated_until_a_late_host_listens() -> None:
    outer, inner = halves(options=Options(repeat_interval=0.01))
    third = inner[1].when_posted(3)
    async with serving(make_server(), inner):
        await third
        async with Client(transport(*outer)) as client:
            assert (await client.call_tool("add", {"a": 1, "b": 1})).structured_content == {"result": 2}


async def test_setup_from_both_sides() -> None:
    outer, inner = halves("setup")
    result = SetupResult("Pi", ephemeral_message="Ready")

    async def set_up() -> None:
        async with open_session(*inner) as session:
            assert isinstance(session.started, SetupStarted)
            assert (session.id, session.origin) == (SESSION, HOST)
            setup_phase.complete(session, result)
            with pytest.raises(StateError):
                setup_phase.complete(session, result)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(set_up())
        async with open_session(*outer) as session:
            assert await setup_phase.result_of(session) == result


async def test_setup_that_is_abandoned_has_no_result() -> None:
    outer, inner = halves("setup")

    async def abandon() -> None:
        async with open_session(*inner):
            outer[1].peer_departs(Departure.REMOVED)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(abandon())
        async with open_session(*outer) as session:
            with pytest.raises(PeerGone):
                await setup_phase.result_of(session)


async def test_setup_is_required_while_serving() -> None:
    outer, inner = halves()
    events: list[Event] = []
    wanted = SetupRequired(SetupReason.AUTH_EXPIRED, "Sign in again", can_continue=True)
    async with asyncio.TaskGroup() as tasks:
        entered: asyncio.Future[Session] = asyncio.get_running_loop().create_future()

        async def inner_side() -> None:
            async with open_session(*inner) as session:
                entered.set_result(session)
                await session.ended()

        task = tasks.create_task(inner_side())
        asked = asyncio.Event()

        def on_event(event: Event) -> None:
            events.append(event)
            if event == wanted:
                asked.set()

        async with open_session(*outer, on_event=on_event):
            setup_phase.require(await entered, wanted.reason, wanted.message, wanted.can_continue)
            await asked.wait()
        task.cancel()
    assert isinstance(events[0], Opened)


async def test_writing_after_the_end_is_what_the_sdk_expects() -> None:
    outer, inner = halves()
    async with serving(make_server(), inner), open_session(*outer) as session:
        _, write = session.streams
        session.close()
        session.close()
        message = SessionMessage(jsonrpc_message_adapter.validate_json(json.dumps(REQUEST)))
        with pytest.raises(anyio.ClosedResourceError):
            await write.send(message)
        with pytest.raises(StateError, match="closed"):
            setup_phase.require(session, SetupReason.OTHER, "", can_continue=True)


async def test_closing_during_the_handshake_raises() -> None:
    connection, window = halves()[0]
    session = Session(connection, window)
    session.start()
    session.close()
    with pytest.raises(SessionError, match="during the handshake"):
        await session.begun()
    session.streams[0].close()


async def test_a_server_that_stops_reading_loses_no_session() -> None:
    session, inner, window = shaken()
    session.streams[0].close()
    window.take(inbound({"type": "MCP_MESSAGE", "payload": NOTIFICATION}, origin=HOST))
    assert inner.dropped["unread"] == 1
    session.close()


async def test_an_answer_without_an_id_is_an_exception_on_the_stream() -> None:
    session, _, window = shaken()
    bad = {"jsonrpc": "2.0", "error": {"code": 1, "message": "Whose?"}}  # nobody waits for it; the SDK wants an id
    window.take(inbound({"type": "MCP_MESSAGE", "payload": bad}, origin=HOST))
    assert isinstance(await session.streams[0].receive(), ValueError)
    session.close()
    session.streams[0].close()


@pytest.mark.parametrize(
    "bad", [{"error": {"message": "no code"}}, {"error": "text"}, {"error": {}}, {"result": None}, {"result": 5}]
)
async def test_an_answer_that_is_none_is_an_error_for_who_waits_for_it(bad: dict[str, Any]) -> None:
    session, _, window = shaken()
    session.send(SessionMessage(jsonrpc_message_adapter.validate_python(REQUEST)))
    window.take(inbound({"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": 1, **bad}}, origin=HOST))
    item = await session.streams[0].receive()
    assert isinstance(item, SessionMessage)
    assert isinstance(item.message, JSONRPCError)
    assert item.message.id == 1
    assert "was refused" in item.message.error.message
    session.close()
    session.streams[0].close()


class Awkward:
    """What no serializer knows."""


UNSENDABLE = {"a lone surrogate": "\ud800", "a key": {"\udfff": 1}, "an object": Awkward()}


@pytest.mark.parametrize("value", UNSENDABLE.values(), ids=UNSENDABLE)
async def test_what_cannot_be_written_fails_for_who_waits_and_the_session_lives(value: Any) -> None:
    outer, inner = halves()
    host = Session(*outer)
    host.start()
    async with open_session(*inner) as session:
        await host.begun()
        read, write = session.streams
        host_read, host_write = host.streams
        await host_write.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id="asked", method="x")))
        await read.receive()
        for message in (
            JSONRPCRequest(jsonrpc="2.0", id=5, method="x", params={"value": value}),
            JSONRPCNotification(jsonrpc="2.0", method="notifications/x", params={"value": value}),
            JSONRPCResponse(jsonrpc="2.0", id="asked", result={"value": value}),
        ):
            await write.send(SessionMessage(message))
        mine, theirs = await read.receive(), await host_read.receive()
        for item, id_ in ((mine, 5), (theirs, "asked")):
            assert isinstance(item, SessionMessage)
            assert isinstance(item.message, JSONRPCError)
            assert (item.message.id, item.message.error.code) == (id_, -32603)
        await write.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=6, method="still here")))
        still = await host_read.receive()
        assert isinstance(still, SessionMessage)
        assert isinstance(still.message, JSONRPCRequest)
    host.close()
    host_read.close()


@pytest.mark.parametrize("mode", ERAS)
async def test_a_tool_that_answers_a_lone_surrogate_is_an_error_and_the_server_lives(mode: Any) -> None:
    outer, inner = halves()
    async with serving(make_server(), inner), Client(transport(*outer), mode=mode) as client:
        with pytest.raises(MCPError):
            await client.call_tool("surrogate", {})
        assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"result": 3}


def early(*messages: str, called: bool = True, dropped: int = 0, origin: str = HOST, from_peer: bool = True) -> Inbox:
    events = (inbound(MESSAGES[kind], origin=origin, from_peer=from_peer) for kind in messages)
    return Inbox(tuple(events), dropped, called)


async def test_a_host_that_answered_early_gets_its_session_without_a_second_handshake() -> None:
    _, (connection, window) = halves(options=Options(repeat_interval=1e6))
    window.inbox = early("MCP_TRANSPORT_HANDSHAKE_REPLY", "MCP_MESSAGE")
    async with open_session(connection, window, take_inbox=window.take_inbox) as session:
        assert session.started == Opened(dialect="sep", origin=HOST, session_id=SESSION)
        item = await session.streams[0].receive()
        assert isinstance(item, SessionMessage)
        assert isinstance(item.message, JSONRPCRequest)
    assert [kind["type"] for kind, _ in window.posted] == ["MCP_TRANSPORT_ACCEPTED"]
    assert window.posted[0][1] == HOST


async def test_what_the_page_has_replied_before_is_not_posted_again() -> None:
    _, (connection, window) = halves(options=Options(repeat_interval=1e6))
    reply = {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": SESSION}
    window.inbox = replace(early("MCP_TRANSPORT_HANDSHAKE_REPLY"), replies=(json.dumps(reply),))
    wires: list[Wire] = []
    async with open_session(connection, window, on_wire=wires.append, take_inbox=window.take_inbox) as session:
        assert window.posted == []
        assert [json.loads(wire.text or "") for wire in wires if wire.direction == "sent"][-1] == reply
        session.post(reply)
    assert [message["payload"] for message, _ in window.posted] == [reply]  # a later one of the same text is posted


async def test_early_messages_come_before_live_ones_in_their_order() -> None:
    _, (connection, window) = halves()
    messages = [{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"n": n}} for n in range(6)]
    sent = [inbound({"type": "MCP_MESSAGE", "payload": message}, origin=HOST) for message in messages]
    reply = inbound(MESSAGES["MCP_TRANSPORT_HANDSHAKE_REPLY"], origin=HOST)
    window.inbox = Inbox((reply, *sent[:3]), called=True)
    async with open_session(connection, window, take_inbox=window.take_inbox) as session:
        for event in sent[3:]:
            window.take(event)
        got = [await session.streams[0].receive() for _ in messages]
    assert [item.message.params for item in got] == [message["params"] for message in messages]


async def test_a_host_that_did_not_hear_the_early_opening_is_called_at_once() -> None:
    outer, inner = halves(options=Options(repeat_interval=1e6))
    inner[1].inbox = early(called=True)
    async with serving(make_server(), inner), Client(transport(*outer)) as client:
        assert (await client.call_tool("add", {"a": 1, "b": 1})).structured_content == {"result": 2}
    handshakes = [kind for kind, _ in inner[1].posted if kind["type"] == "MCP_TRANSPORT_HANDSHAKE"]
    assert len(handshakes) == 1


@pytest.mark.parametrize(
    ("origin", "from_peer", "reason"), [(HOST, False, "source"), ("https://other.example", True, "origin")]
)
async def test_early_messages_of_strangers_are_dropped_unread(origin: str, from_peer: bool, reason: str) -> None:
    _, (connection, window) = halves()

    def read() -> str:
        raise AssertionError("it was read")

    strange = Inbound(origin, from_peer, read)
    answer = inbound(MESSAGES["MCP_TRANSPORT_HANDSHAKE_REPLY"], origin=HOST)
    window.inbox = Inbox((strange, strange, answer), called=True)
    async with open_session(connection, window, take_inbox=window.take_inbox):
        assert connection.dropped == {reason: 2}


async def test_lost_early_messages_are_counted_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    outer, inner = halves(options=Options(repeat_interval=1e6))
    inner[1].inbox = early("MCP_MESSAGE", dropped=99_999, origin="https://other.example")
    async with serving(make_server(), inner), Client(transport(*outer)):
        assert inner[0].dropped["inbox"] == 99_999
    [line] = [record.getMessage() for record in caplog.records if "before this page was ready" in record.getMessage()]
    assert line.startswith("99999 messages")


async def test_a_session_that_an_early_message_ends_leaves_nothing_behind() -> None:
    _, (connection, window) = halves()
    old = {**MESSAGES["MCP_TRANSPORT_HANDSHAKE_REPLY"], "protocolVersion": "2.0"}
    window.inbox = Inbox((inbound(old, origin=HOST), inbound(MESSAGES["MCP_MESSAGE"], origin=HOST)), called=True)
    with pytest.raises(VersionMismatch):
        async with open_session(connection, window, take_inbox=window.take_inbox):
            raise AssertionError("no session")
    assert not window.listening
    assert window.posted == []


def test_a_message_with_an_integer_that_javascript_lacks_fails_for_its_sender() -> None:
    body = {"jsonrpc": "2.0", "id": 1, "result": {"n": 10**400}}
    refused = encoded(PlainMessages(), (json.dumps(body), body))
    assert isinstance(refused, MalformedMessage)
    assert "beyond" in str(refused)
    body = {"jsonrpc": "2.0", "id": 1, "result": {"n": "9" * 400}}
    assert encoded(PlainMessages(), (json.dumps(body), body)) == json.dumps(body)
