"""The page around hands over ports of its own: the first answer pins its way, and all else is noise from then on."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anyio
import pytest
from mcp import Client

from mcpframe.frame.core.connection import Candidate, Connection, Options, parse_allowed_origins
from mcpframe.frame.core.errors import HandshakeTimeout
from mcpframe.frame.core.events import Attend, Closed, Inbound, Opened, Output, Received, Send
from mcpframe.frame.core.places import Framing
from mcpframe.frame.core.roles import State
from mcpframe.frame.dialects.plain_mcp.further_roles import HOST
from mcpframe.frame.dialects.plain_mcp.roles import SERVER
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.frame.serving.server import serve
from mcpframe.frame.session.session import open_session
from tests.support.fake_place import FakePlace
from tests.support.fake_window import STRANGER, FakePort, FakeWindow, handing_over
from tests.unit.frame.hosting.test_outer_dialects import adder, framed_server

FRAME = "https://tools.example"
PROBE = {"jsonrpc": "2.0", "id": "mcpframe/ping", "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}}
NO = {"jsonrpc": "2.0", "id": "mcpframe/ping", "error": {"code": -32601, "message": "Method not found"}}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
SOON = Options(repeat_interval=0.01)


class Host:
    """A connection of the page around, whose time passes in probes; it has handed over a port with every other one."""

    def __init__(self, probes: int = 0, *, opaque: bool = False, options: Options | None = None) -> None:
        allowed = parse_allowed_origins([] if opaque else [FRAME], opaque=opaque)
        self.made = Connection([Candidate(HOST, allowed)], options=options)
        self.outputs = self.made.start(0.0)
        self.ports: list[FakePort] = []
        for _ in range(probes):
            self.probe()

    def probe(self) -> list[Output]:
        """Let time pass until the next probe."""
        assert self.made.deadline is not None
        now = self.made.deadline
        outputs = self.made.tick(now)
        for output in tuple(outputs):
            if isinstance(output, Send) and output.hands_over:
                self.ports.append(FakePort())
                outputs += self.made.handed_over(self.ports[-1], output.target_origin, now)
        self.outputs += outputs
        return outputs

    def hear(self, message: Any, port: FakePort | None = None, origin: str = FRAME) -> list[Output]:
        return self.made.receive(Inbound(origin, True, lambda: json.dumps(message), port), 100.0)

    def left(self, outputs: list[Output]) -> list[Any]:
        return [(each.port, each.close) for each in outputs if isinstance(each, Attend) and each.origin is None]


def sent(outputs: list[Output]) -> list[tuple[Any, str, Any]]:
    return [(json.loads(each.text), each.target_origin, each.port) for each in outputs if isinstance(each, Send)]


def test_the_window_is_asked_first_and_every_other_probe_hands_over_a_port() -> None:
    host = Host()
    assert sent(host.probe()) == [(PROBE, FRAME, None)]
    second = host.probe()
    [port] = host.ports
    assert sent(second) == [(PROBE, FRAME, None), ("init", FRAME, None), (PROBE, FRAME, port)]
    assert Attend(port, FRAME) in second
    assert sent(host.probe()) == [(PROBE, FRAME, None)]
    fourth = host.probe()
    assert sent(fourth)[1:] == [("init", FRAME, None), (PROBE, FRAME, host.ports[1])]
    assert len(set(map(id, host.ports))) == 2
    assert host.made.state is State.AWAITING


def test_nothing_is_handed_over_once_the_window_has_answered() -> None:
    host = Host(1)
    assert Opened(dialect="plain_mcp", origin=FRAME) in host.hear(PONG)
    assert host.made.tick(1e6) == []
    assert (host.ports, host.made.port) == ([], None)


@pytest.mark.parametrize("answer", [PONG, NO], ids=["result", "error"])
def test_a_port_that_answers_first_is_the_only_way(answer: Any) -> None:
    host = Host(4)
    first, second = host.ports
    outputs = host.hear(answer, second)
    assert Opened(dialect="plain_mcp", origin=FRAME) in outputs
    assert host.left(outputs) == [(first, True)]
    assert (host.made.origin, host.made.port) == (FRAME, second)
    for port in (first, None):
        assert host.hear(PONG, port) == host.hear(LIST, port) == []
    assert [each.payload for each in host.hear(LIST, second) if isinstance(each, Received)] == [LIST]
    answered = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert sent(host.made.send(json.dumps(answered), answered, 101.0)) == [(answered, FRAME, second)]
    assert not [each for each in host.made.tick(1e6) if isinstance(each, Send) and each.hands_over]


def test_a_window_that_answers_first_is_the_only_way() -> None:
    host = Host(4)
    assert host.left(host.hear(PONG)) == [(port, True) for port in host.ports]
    for port in host.ports:  # they answer late
        assert host.hear(PONG, port) == host.hear(LIST, port) == []
    assert host.made.port is None
    assert [each.payload for each in host.hear(LIST) if isinstance(each, Received)] == [LIST]


def test_an_earlier_port_may_answer_late() -> None:
    host = Host(6)
    assert host.left(host.hear(PONG, host.ports[0])) == [(port, True) for port in host.ports[1:]]
    assert host.made.port is host.ports[0]


def test_a_framed_client_may_begin_over_a_port() -> None:
    """The official `Client` initializes nothing where its transport has an id of a session."""
    host = Host(2)
    outputs = host.hear(LIST, host.ports[0])
    assert [each.payload for each in outputs if isinstance(each, Received)] == [LIST]
    assert (host.made.state, host.made.port) == (State.OPEN, host.ports[0])


@pytest.mark.parametrize(
    "message", ["init", {"jsonrpc": "2.0", "method": "tools/list"}, {"jsonrpc": "2.0", "id": 7, "result": {}}]
)
def test_other_messages_over_a_port_open_nothing(message: Any) -> None:
    host = Host(2)
    assert host.hear(message, host.ports[0]) == []
    assert (host.made.state, host.made.port) == (State.AWAITING, None)


def test_no_port_of_a_page_is_taken() -> None:
    """It has one that it was handed: another of its own is noise."""
    host, port = Host(2), FakePort()
    assert host.made.receive(handing_over(port, origin=FRAME), 3.0) == []
    assert host.hear(PONG, port) == []
    assert host.made.state is State.AWAITING


def test_a_stranger_s_answer_is_none_over_a_port_either() -> None:
    host = Host(2)
    assert not [each for each in host.hear(PONG, host.ports[0], STRANGER) if isinstance(each, Opened)]
    assert host.made.state is State.AWAITING


def test_an_opaque_page_gets_one_by_the_opt_in_of_its_host() -> None:
    host = Host(2, opaque=True)
    [port] = host.ports
    assert ("init", "*", None) in sent(host.outputs)
    assert Attend(port, "null") in host.outputs
    assert Opened(dialect="plain_mcp", origin="null") in host.hear(PONG, port, "null")


def test_few_ports_are_held_and_the_others_are_closed() -> None:
    host = Host(40, options=Options(handshake_timeout=None))
    assert len(host.ports) == 20
    assert host.left(host.outputs) == [(port, True) for port in host.ports[:12]]


def test_at_the_end_every_port_is_closed() -> None:
    for act in (lambda host: host.made.close(50.0), lambda host: host.made.tick(1e6)):
        host = Host(4)
        outputs = act(host)
        assert host.left(outputs) == [(port, True) for port in host.ports]
        assert isinstance(outputs[-1], Closed)
    host = Host(4)
    host.hear(PONG, host.ports[0])
    assert host.left(host.made.close(200.0)) == [(host.ports[0], True)]


def test_the_deadline_names_both_ways() -> None:
    [*_, closed] = Host(4).made.tick(1e6)
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, HandshakeTimeout)
    assert "window" in str(closed.error)
    assert "port" in str(closed.error)


async def on_a_port(window: FakeWindow, framing: Framing) -> None:
    """A framed server that listens to the first port that it is handed, and to nothing else."""
    given: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def hear(event: Inbound) -> None:
        if json.loads(event.read()) == "init" and not given.done():
            given.set_result(event.ports()[0])

    window.listen(hear, lambda _: None)
    port = await given
    inner = FakeWindow(FRAME)
    inner.post = lambda text, _: port.post(text)  # type: ignore[method-assign]
    port.listen(lambda read: inner.take(Inbound("https://chat.example", True, read)))
    page = Connection([Candidate(SERVER, parse_allowed_origins(["https://chat.example"]))])
    async with open_session(page, inner) as session:
        await serve(adder(), *session.streams)


@pytest.mark.parametrize("page", [on_a_port, framed_server])
async def test_a_client_around_a_framed_server(page: Any) -> None:
    place = FakePlace("https://chat.example", page)
    outer = OuterFrame(f"{FRAME}/", dialect="plain_mcp", options=SOON)
    with anyio.fail_after(60):
        async with Client(outer.connect(place)) as client:
            assert (await client.call_tool("add", {"a": 1, "b": 2})).content[0].text == "3"  # type: ignore[union-attr]
    (window,) = place.windows
    assert {target for _, target in window.posted} == {FRAME}
    assert all(port.closed and port.hear is None for port in window.ports)
