"""Ports that a peer hands over: attended before a peer is pinned, adopted by a first message, and then the only way."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from mcpframe.frame.core.connection import Candidate, Connection, parse_allowed_origins
from mcpframe.frame.core.events import (
    Attend,
    Inbound,
    Large,
    Opened,
    Output,
    Received,
    Refused,
    Send,
    Unreadable,
)
from mcpframe.frame.core.roles import State
from mcpframe.frame.dialects.available import inner_candidates
from mcpframe.frame.dialects.plain_mcp import further_roles as plain_mcp
from mcpframe.frame.session.session import Session
from tests.support.fake_window import STRANGER, FakePort, FakeWindow, handing_over

HOST = "https://chat.example"
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
PING = {"jsonrpc": "2.0", "id": 5, "method": "ping"}
PROBE = {"jsonrpc": "2.0", "id": "mcpframe/ping", "method": "ping"}
MCP_B = {"channel": "mcp-iframe", "type": "mcp", "direction": "client-to-server", "payload": INITIALIZE}
APPS = {"jsonrpc": "2.0", "id": "mcpframe/initialize", "result": {"protocolVersion": "2026-01-26"}}


def page(*, opaque: bool = False) -> Connection:
    allowed = parse_allowed_origins([HOST], opaque=opaque)
    made = Connection(inner_candidates("transport", allowed, about={"name": "page", "version": "1"}))
    made.start(0.0)
    return made


def over(made: Connection, port: FakePort | None, message: Any, origin: str = HOST) -> list[Output]:
    return made.receive(Inbound(origin, True, lambda: json.dumps(message), port), 1.0)


def given(made: Connection, *ports: FakePort, **how: Any) -> list[Output]:
    return made.receive(handing_over(*ports, **{"origin": HOST, **how}), 1.0)


def sent(outputs: list[Output]) -> list[tuple[Any, Any]]:
    return [(json.loads(output.text), output.port) for output in outputs if isinstance(output, Send)]


def received(outputs: list[Output]) -> list[Any]:
    return [output.payload for output in outputs if isinstance(output, Received)]


@pytest.mark.parametrize("message", ["init", None, {"type": "port"}, 7, {"channel": "other"}], ids=json.dumps)
def test_a_port_comes_with_any_message_that_no_dialect_claims(message: Any) -> None:
    made, port = page(), FakePort()
    assert given(made, port, message=message) == [Attend(port, HOST)]
    assert made.adopted is None
    outputs = over(made, port, INITIALIZE)
    assert (Opened(dialect="plain_mcp", origin=HOST) in outputs, received(outputs)) == (True, [INITIALIZE])
    assert (made.origin, made.port, made.state) == (HOST, port, State.OPEN)


def unreadable() -> str:
    raise Unreadable("MessageTooDeep", "It is deep.", "{}")


def large() -> str:
    raise Large("{}", str)


@pytest.mark.parametrize("read", [unreadable, large, lambda: int("no JSON")], ids=["unreadable", "large", "no JSON"])
def test_it_may_come_with_a_message_that_cannot_be_read(read: Any) -> None:
    made, port = page(), FakePort()
    assert made.receive(Inbound(HOST, True, read, ports=lambda: [port]), 1.0) == [Attend(port, HOST)]


@pytest.mark.parametrize(
    "how", [{"origin": STRANGER}, {"origin": "null"}, {"from_peer": False}], ids=["origin", "opaque", "window"]
)
def test_a_stranger_s_port_is_not_even_taken(how: Any) -> None:
    def ports() -> Any:
        raise AssertionError("taken")

    made = page()
    event = handing_over(**{"origin": HOST, **how})
    outputs = made.receive(Inbound(event.origin, event.from_peer, event.read, ports=ports), 1.0)
    assert not [output for output in outputs if not isinstance(output, Refused)]
    assert over(made, FakePort(), INITIALIZE) == []
    assert made.adopted is None


def test_an_opaque_origin_is_that_of_its_port() -> None:
    made, port = page(opaque=True), FakePort()
    given(made, port, origin="null")
    over(made, port, INITIALIZE, origin="null")
    assert (made.origin, made.port) == ("null", port)


def test_more_than_one_port_is_none() -> None:
    made, ports = page(), [FakePort(), FakePort()]
    assert given(made, *ports) == []
    assert [over(made, port, INITIALIZE) for port in ports] == [[], []]
    assert made.adopted is None


def test_answers_take_the_way_of_their_request() -> None:
    made, one, two = page(), FakePort(), FakePort()
    given(made, one)
    given(made, two)
    for port in (one, None, two):
        [(answer, way)] = sent(over(made, port, PING))
        assert (answer["id"], way) == (5, port)
    assert made.adopted is None


def test_once_adopted_a_port_is_the_only_way() -> None:
    made, port, other = page(), FakePort(), FakePort()
    given(made, other)
    given(made, port)
    assert Attend(other, None) in over(made, port, INITIALIZE)
    for each in (other, None):
        assert over(made, each, LIST) == []
    assert given(made, FakePort()) == []
    assert received(over(made, port, LIST)) == [LIST]
    answer = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert sent(made.send(json.dumps(answer), answer, 2.0)) == [(answer, port)]


@pytest.mark.parametrize(
    ("first", "dialect"),
    [(INITIALIZE, "plain_mcp"), (MCP_B, "mcp_b"), (APPS, "mcp_apps")],
    ids=lambda one: str(one)[:9],
)
def test_once_the_window_is_adopted_a_port_is_none(first: Any, dialect: str) -> None:
    made, port = page(), FakePort()
    given(made, port)
    assert Attend(port, None) in over(made, None, first)
    assert (made.adopted and made.adopted.dialect, made.port) == (dialect, None)
    assert over(made, port, INITIALIZE) == over(made, port, PING) == []
    assert given(made, FakePort()) == []


@pytest.mark.parametrize("message", [MCP_B, APPS, {"type": "MCP_HANDSHAKE"}, "init"], ids=lambda one: str(one)[:9])
def test_no_other_dialect_is_spoken_over_a_port(message: Any) -> None:
    made, port = page(), FakePort()
    given(made, port)
    assert over(made, port, message) == []
    over(made, port, INITIALIZE)
    assert made.adopted
    assert made.adopted.dialect == "plain_mcp"


def test_few_ports_are_held_the_last_ones() -> None:
    made, ports = page(), [FakePort() for _ in range(20)]
    outputs = [output for port in ports for output in given(made, port)]
    left = [output.port for output in outputs if isinstance(output, Attend) and output.origin is None]
    assert left == ports[:12]
    assert over(made, ports[11], INITIALIZE) == []
    assert received(over(made, ports[12], INITIALIZE)) == [INITIALIZE]


def test_a_framed_client_pings_over_a_port_at_once() -> None:
    made, port = Connection([Candidate(plain_mcp.CLIENT, parse_allowed_origins([HOST]))]), FakePort()
    made.start(0.0)
    attends, *asks = given(made, port)
    assert (attends, sent(asks)) == (Attend(port, HOST), [(PROBE, port)])
    assert sent(made.tick(2.0)) == [(PROBE, None)]  # the window is still asked, too
    over(made, port, {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}})
    assert (made.state, made.port) == (State.OPEN, port)


async def test_a_session_over_a_port() -> None:
    window, port = FakeWindow("https://tools.example"), FakePort()
    session = Session(Connection(inner_candidates("transport", parse_allowed_origins([HOST]))), window)
    session.start()
    posted = len(window.posted)
    window.take(handing_over(port, origin=HOST))
    assert port.hear
    port.hear(lambda: json.dumps(INITIALIZE))
    async with asyncio.timeout(10):
        assert (await session.begun()).dialect == "plain_mcp"
        answer = {"jsonrpc": "2.0", "id": 0, "result": {}}
        session.post(answer)
        assert (port.posted, window.posted[posted:]) == ([answer], [])
        session.close()
        await session.ended()
    assert (port.closed, port.hear) == (True, None)
    session.streams[0].close()
