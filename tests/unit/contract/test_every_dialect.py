"""The rules of every dialect: each of mcpframe's, and a toy that a folder alone adds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer

from mcpframe.frame.core.connection import Candidate, Connection, Options, parse_allowed_origins
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.errors import HandshakeTimeout, PeerGone
from mcpframe.frame.core.events import Closed, Departure, Opened, Output, Received, Refused, Send
from mcpframe.frame.core.roles import State
from mcpframe.frame.dialects.available import dialect, dialects, entries_of, inner_candidates, spoken_names
from mcpframe.frame.serving.server import serve
from mcpframe.frame.session.session import open_session, transport
from mcpframe.frame.session.wire import read_wire
from mcpframe.kit.bundle.assembly.description import ServerDescription
from mcpframe.kit.bundle.assembly.inbox import inbox_data
from mcpframe.kit.bundle.assembly.offered import lists_of, ways
from mcpframe.kit.project.pyproject import McpframeConfig
from tests.support.fake_window import STRANGER, FakeWindow, inbound
from tests.support.toy_dialects import TOY, installed
from tests.vectors.parts import Parts, parts

HOST = "https://chat.example"
FRAME = "https://tools.example"
PEERS = {"inner": HOST, "outer": FRAME}
SIDES = tuple(PEERS)
LIMITS = Options(max_message_bytes=2000, max_nesting=20, max_pending=3)
ABOUT = {"name": "page", "version": "1"}
SHIPPED = spoken_names()


@pytest.fixture(autouse=True)
def with_toy() -> Iterator[None]:
    with installed():
        yield


@pytest.fixture(params=[*SHIPPED, TOY])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def of(name: str) -> Parts:
    return parts(name)


def candidate(name: str, side: str) -> Candidate:
    spoken = dialect(name)
    offer = spoken.page_offer(**ABOUT) if side == "inner" else spoken.host_offer(session_id="a session")
    return Candidate(parts(name).side(side), parse_allowed_origins([PEERS[side]]), offer)


class Talk:
    """The two sides of a dialect, each with what the other has posted."""

    def __init__(self, name: str, options: Options = LIMITS) -> None:
        self.parts = parts(name)
        self.sides = {side: Connection([candidate(name, side)], options=options) for side in SIDES}
        self.events: dict[str, list[Output]] = {side: [] for side in SIDES}
        self.sent: list[tuple[str, Send]] = []
        self.asks, self.answers = ("outer", "inner") if self.parts.is_client else ("inner", "outer")

    def carry(self, side: str, outputs: list[Output]) -> None:
        """Note what a side reports, and deliver what it posts."""
        for output in outputs:
            if not isinstance(output, Send):
                self.events[side].append(output)
                continue
            self.sent.append((side, output))
            other, own_origin = ("outer", FRAME) if side == "inner" else ("inner", HOST)
            if output.target_origin in ("*", PEERS[side]):
                heard = inbound(json.loads(output.text), origin=own_origin)
                self.carry(other, self.sides[other].receive(heard, 0.0))

    def send(self, side: str, message: Mapping[str, Any]) -> None:
        self.carry(side, self.sides[side].send(json.dumps(message), dict(message), 0.0))

    def received(self, side: str) -> list[Any]:
        return [event.payload for event in self.events[side] if isinstance(event, Received)]

    def open(self) -> Talk:
        """Begin, and let one request cross and be answered: some roles open with it."""
        for side in ("outer", "inner"):
            self.carry(side, self.sides[side].start(0.0))
        if self.sides[self.asks].state is not State.OPEN:  # a host that has to find out whether its page listens
            self.carry(self.asks, self.sides[self.asks].tick(2.0))
        self.send(self.asks, self.parts.request)
        self.send(self.answers, {"jsonrpc": "2.0", "id": self.parts.request["id"], "result": {"response": {}}})
        assert {made.state for made in self.sides.values()} == {State.OPEN}
        return self


def test_both_sides_open_pin_each_other_and_carry_a_call(name: str) -> None:
    talk = Talk(name).open()
    for side, made in talk.sides.items():
        (opened,) = (event for event in talk.events[side] if isinstance(event, Opened))
        assert (opened.dialect, opened.origin) == (name, made.origin) == (name, PEERS[side])
    (request,) = talk.received(talk.answers)
    (answer,) = talk.received(talk.asks)
    assert (request["id"], request["method"]) == (talk.parts.request["id"], talk.parts.request["method"])
    assert answer["id"] == request["id"]
    assert "result" in answer
    assert not [event for events in talk.events.values() for event in events if isinstance(event, Refused)]


def test_only_a_page_that_calls_posts_to_any_origin(name: str) -> None:
    talk = Talk(name).open()
    assert {side for side, sent in talk.sent if sent.target_origin == "*"} <= {"inner"}
    assert {sent.target_origin for side, sent in talk.sent if side == "outer"} == {FRAME}
    assert {sent.target_origin for side, sent in talk.sent if side == "inner"} <= {"*", HOST}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("is_open", [False, True], ids=["before", "open"])
def test_messages_of_strangers_change_nothing(name: str, of: Parts, side: str, is_open: bool) -> None:
    talk = Talk(name)
    made = talk.open().sides[side] if is_open else talk.sides[side]
    if not is_open:
        made.start(0.0)
    state, peer = made.state, PEERS[side]
    for message in of.messages:
        for origin, from_peer in ((STRANGER, True), ("null", True), (peer, False)):
            outputs = made.receive(inbound(message, origin=origin, from_peer=from_peer), 0.0)
            assert all(isinstance(output, Refused) for output in outputs)
            assert made.state is state


@pytest.mark.parametrize("side", SIDES)
def test_messages_of_other_dialects_are_noise(name: str, of: Parts, side: str) -> None:
    made = Talk(name).open().sides[side]
    foreign = [message for other in dialects() if other.name != name for message in parts(other.name).messages]
    foreign = [message for message in foreign if not of.owns(message)]
    assert len(foreign) > 10
    assert [output for each in foreign for output in made.receive(inbound(each, origin=PEERS[side]), 0.0)] == []
    assert made.state is State.OPEN


def deep(levels: int) -> Any:
    value: Any = "deep"
    for _ in range(levels):
        value = [value]
    return value


FILLINGS = {
    "MessageTooLarge": "x" * 3000,
    "MessageTooDeep": deep(30),
    "PrototypeKey": {"__proto__": {"polluted": True}},
}


@pytest.mark.parametrize("error", FILLINGS)
def test_limits_and_poisoned_keys_refuse_a_message_and_the_session_goes_on(name: str, of: Parts, error: str) -> None:
    talk = Talk(name).open()
    made = talk.sides["inner"]
    bad = {**of.call, "filling": FILLINGS[error]}
    refused = [out for out in made.receive(inbound(bad, origin=HOST), 0.0) if isinstance(out, Refused)]
    assert [type(out.error).__name__ for out in refused] == [error]
    assert [*map(type, made.receive(inbound(of.call, origin=HOST), 0.0))] == [Received]


def test_requests_that_wait_are_bounded_and_fail_with_the_peer(name: str, of: Parts) -> None:
    talk = Talk(name).open()
    before = len(talk.received(talk.asks))
    for number in range(4):
        talk.send(talk.asks, {**of.request, "id": f"mcpframe/{number + 10}"})
    (too_many,) = talk.received(talk.asks)[before:]
    assert too_many["id"] == "mcpframe/13"
    made = talk.sides[talk.asks]
    outputs = made.peer_gone(Departure.REMOVED, 0.0)
    failed = [out.payload for out in outputs if isinstance(out, Received)]
    assert sorted(payload["id"] for payload in failed) == ["mcpframe/10", "mcpframe/11", "mcpframe/12"]
    assert all("error" in payload for payload in failed)
    closed = outputs[-1]
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, PeerGone)
    assert made.receive(inbound(of.call, origin=PEERS[talk.asks]), 0.0) == []


@pytest.mark.parametrize("side", SIDES)
def test_a_peer_that_never_speaks_runs_into_the_deadline(name: str, of: Parts, side: str) -> None:
    made = Connection([candidate(name, side)], options=replace(LIMITS, handshake_timeout=5.0))
    made.start(0.0)
    assert not [output for output in made.tick(4.0) if isinstance(output, Closed)]
    if of.side(side).opening not in of.side(side).waits:
        assert made.tick(1e9) == []
        return
    closed = made.tick(1e9)[-1]
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, HandshakeTimeout)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_official_client_calls_a_page_that_would_speak_any_dialect(name: str, of: Parts, mode: str) -> None:
    if not of.is_client:
        pytest.skip("its hosts are not clients")
    outer, inner = FakeWindow.pair(HOST, FRAME)
    server = MCPServer("test")
    server.add_tool(lambda a, b: a + b, name="add", description="add", structured_output=False)

    async def serve_page() -> None:
        page = Connection(
            inner_candidates(TRANSPORT, parse_allowed_origins([HOST]), about={"name": "p", "version": "1"})
        )
        async with open_session(page, inner) as session:
            await serve(server, *session.streams)

    serving = asyncio.create_task(serve_page())
    connecting = transport(Connection([candidate(name, "outer")]), outer)
    async with asyncio.timeout(60), Client(connecting, mode=mode) as client:
        added = await client.call_tool("add", {"a": 1, "b": 2})
    assert added.content[0].text == "3"  # type: ignore[union-attr]
    serving.cancel()
    await asyncio.wait([serving])


def test_the_build_and_the_inspector_know_it(name: str, of: Parts) -> None:
    spoken = dialect(name)
    assert spoken.for_hosts in [way["hosts"] for way in ways([name])]
    assert McpframeConfig.model_validate({"dialects": [name]}).dialects == [name]
    config = McpframeConfig(dialects=[name])  # type: ignore[list-item]
    inbox = inbox_data(ServerDescription("p"), config, ABOUT, lists_of([name], entries_of([HOST]), opaque=False))
    posted = [out for out in Connection([candidate(name, "inner")]).start(0.0) if isinstance(out, Send)]
    openings = inbox["phases"][-1]["openings"]
    assert [of.owns(opening) for opening in openings] == [True for _ in posted]
    found = read_wire(of.call, name)
    assert found
    assert (found.dialect, bool(found.body)) == (name, True)
    assert set(spoken.steps) <= {kind for role in of.roles.values() for kind in role.readers}
