"""The matrix of bad input and attacks for plain MCP, in each of its three roles, as far as the connection decides.

    line                                                        what must happen
    before a peer has spoken                                    nothing is posted, but the ping of a client and a host
    strangers, before and after                                 dropped unread, and told nothing
    each member missing or wrong; batches; JSON as text         refused or noise; the state stays
    too large, too deep, prototype keys                         refused, and whoever waits gets an error
    an id that is in use, answers to ids never asked            an error, or nobody's; the session goes on
    floods of requests                                          bounded
    a frame that is reloaded or leaves in mid-request           the end: what waits fails, and nothing is heard after

After pinning nothing is posted to `*`, nor to any origin but the peer's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from mcpframe.frame.core.connection import Candidate, Connection, Options, parse_allowed_origins
from mcpframe.frame.core.errors import PeerGone
from mcpframe.frame.core.events import Closed, Departure, Inbound, Output, Received, Refused, Send
from mcpframe.frame.core.roles import Role, State
from mcpframe.frame.dialects.plain_mcp import further_roles
from mcpframe.frame.dialects.plain_mcp.roles import SERVER
from tests.hostile.values import ODD, POISON, Record, nested, strangers, unread
from tests.support.fake_window import inbound

Json = dict[str, Any]
PAGE, HOST = "https://tools.example", "https://chat.example"
PING: Json = {"jsonrpc": "2.0", "id": "mcpframe/ping", "method": "ping"}
PONG: Json = {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}}
INITIALIZE: Json = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
CALL: Json = {"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {}}
LIMITS = Options(max_message_bytes=100_000, max_nesting=100, max_pending=3)
OPENINGS = {
    "server": (SERVER, INITIALIZE),
    "client": (further_roles.CLIENT, PONG),
    "host": (further_roles.HOST, INITIALIZE),
}
"""Each seat, and the peer's message that opens it."""


class Seat:
    """A connection of one role.

    Attributes:
        posted: what it has posted, each with its target origin.
        received: what its session has got.
    """

    def __init__(self, name: str, *, allowed: list[str] | None = None, called: bool = False) -> None:
        self.role, self.opening = OPENINGS[name]
        self.peer = HOST if self.role.side == "inner" else PAGE
        self.own = PAGE if self.role.side == "inner" else HOST
        self.made = Connection([Candidate(self.role, parse_allowed_origins(allowed or [self.peer]))], options=LIMITS)
        self.posted: list[tuple[Json, str]] = []
        self.received: list[Json] = []
        self._note(self.made.start(0.0, called=called))

    def _note(self, outputs: list[Output]) -> list[Output]:
        self.posted += [(json.loads(out.text), out.target_origin) for out in outputs if isinstance(out, Send)]
        self.received += [out.payload for out in outputs if isinstance(out, Received)]
        return outputs

    def hears(self, message: Any, *, origin: str = "", from_peer: bool = True) -> list[Output]:
        return self._note(self.made.receive(inbound(message, origin=origin or self.peer, from_peer=from_peer), 1.0))

    def asks(self, message: Json) -> list[Output]:
        return self._note(self.made.send(json.dumps(message), message, 1.0))

    def tick(self, now: float) -> None:
        self._note(self.made.tick(now))

    def open(self) -> Seat:
        self.hears(self.opening)
        assert (self.made.state, self.made.origin) == (State.OPEN, self.peer)
        if "method" in self.opening:
            self.asks({"jsonrpc": "2.0", "id": self.opening["id"], "result": {}})
        self.received.clear()
        return self

    def works(self) -> None:
        """A request of the peer crosses, and so does its answer: to the peer, and to nobody else."""
        before = len(self.posted)
        self.hears({**CALL, "id": "good"})
        assert self.received[-1]["id"] == "good"
        self.asks({"jsonrpc": "2.0", "id": "good", "result": {}})
        assert self.posted[before:] == [({"jsonrpc": "2.0", "id": "good", "result": {}}, self.peer)]


@pytest.fixture(params=OPENINGS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def seat(name: str) -> Seat:
    return Seat(name)


def refused(outputs: list[Output]) -> list[str]:
    return [type(output.error).__name__ for output in outputs if isinstance(output, Refused)]


def test_nothing_is_posted_before_a_peer_has_spoken_but_a_ping(name: str, seat: Seat) -> None:
    seat.tick(4.0)
    assert {json.dumps(message) for message, _ in seat.posted} == ({json.dumps(PING)} if name != "server" else set())
    # The host knows whom it frames; of a host a page knows only which may be one.
    assert {target for _, target in seat.posted} <= {seat.peer}
    several = Seat(name, allowed=[seat.peer, "https://other.example"])
    several.tick(4.0)
    assert [target for _, target in several.posted] == {"server": [], "client": ["*"] * 2, "host": ["*"]}[name]
    several.posted.clear()
    several.open()
    several.tick(8.0)
    several.works()
    assert {target for _, target in several.posted} == {seat.peer}
    several.hears(CALL, origin="https://other.example")
    assert len(several.received) == 1


@pytest.mark.parametrize("opened", [False, True], ids=["before", "open"])
def test_strangers_are_dropped_unread(seat: Seat, opened: bool, record_property: Record) -> None:
    if opened:
        seat.open()
    seat.posted.clear()
    before = (seat.made.state, seat.made.origin, seat.made.deadline)
    lines = strangers(seat.peer, seat.own)
    for origin, from_peer in lines:
        for _ in range(100):
            outputs = seat.made.receive(Inbound(origin, from_peer, unread), 1.0)
            assert set(refused(outputs)) <= {"UnexpectedOrigin"}
            assert not [output for output in outputs if not isinstance(output, Refused)]
    assert (seat.made.state, seat.made.origin, seat.made.deadline, seat.posted) == (*before, [])
    if not opened:
        seat.open()
    seat.works()
    record_property("lines", len(lines))


def damaged(message: Json) -> Iterator[Any]:
    """Return a message with one thing wrong, for every member and every kind of value."""
    for member in message:
        wrong = {
            "jsonrpc": [odd for odd in ODD if odd != "2.0"],
            "id": [None, 1.5, True, [], [1], {}, 2**53, 1e400, -(2**60)],
            "method": [7, None, True, [], {}, "notifications/initialized"],
            "params": [odd for odd in ODD if not isinstance(odd, dict)],
            "result": [odd for odd in ODD if not isinstance(odd, dict)],
        }[member]
        yield from ({**message, member: value} for value in wrong)
    yield {**message, "error": {"code": 1, "message": "both"}}
    yield {name: value for name, value in message.items() if name != "jsonrpc"}
    yield [message]
    yield [[message], message]
    yield json.dumps(message)
    yield from ({**message, "more": poison} for poison in POISON)
    yield {**message, "more": "x" * 100_000}


@pytest.mark.parametrize("opened", [False, True], ids=["before", "open"])
def test_each_damaged_message_is_refused_or_noise(seat: Seat, opened: bool, record_property: Record) -> None:
    lines = [*damaged(INITIALIZE), *damaged(CALL), *damaged(PING), *damaged(PONG)]
    if opened:
        seat.open()
    for message in lines:
        seat.posted.clear()
        before = (seat.made.state, seat.made.origin, seat.made.deadline)
        outputs = seat.hears(message)
        assert (seat.made.state, seat.made.origin, seat.made.deadline) == before, message
        assert not seat.received, message
        assert len(refused(outputs)) <= 1
        asks = isinstance(message, dict) and message.get("jsonrpc") == "2.0" and {"id", "method"} <= message.keys()
        # Whoever waits in a session gets an error; where no id can be read, one without.
        assert [answer["error"]["code"] for answer, _ in seat.posted] == [-32600] * (asks and opened), message
        assert {target for _, target in seat.posted} <= {seat.peer}
    if not opened:
        seat.open()
    seat.works()
    record_property("lines", len(lines))


@pytest.mark.parametrize("odd", [nested(200), {"__proto__": 1}, "x" * 100_000], ids=["deep", "prototype", "large"])
def test_what_cannot_be_taken_fails_for_whoever_waits(seat: Seat, odd: Any) -> None:
    seat.open()
    seat.asks({**CALL, "id": "mine"})
    seat.hears({"jsonrpc": "2.0", "id": "mine", "result": {"odd": odd}})
    assert [(answer["id"], answer["error"]["code"]) for answer in seat.received] == [("mine", -32603)]
    seat.hears({**CALL, "id": "yours"})
    seat.asks({"jsonrpc": "2.0", "id": "yours", "result": {"odd": odd}})
    assert [(answer["id"], answer["error"]["code"]) for answer, _ in seat.posted[-1:]] == [("yours", -32603)]
    seat.works()


def test_ids_in_use_and_ids_never_asked(seat: Seat, record_property: Record) -> None:
    seat.open()
    seat.hears(CALL)
    again = seat.hears(CALL)
    assert refused(again) == ["UnexpectedMessage"]
    assert [(answer["id"], answer["error"]["code"]) for answer, _ in seat.posted[-1:]] == [(5, -32600)]
    seat.asks({"jsonrpc": "2.0", "id": 5, "result": {}})
    seat.received.clear()
    seat.asks({**CALL, "id": "mine"})
    guesses = ["", "min", "mine ", "Mine", 0, 5, -1, "mcpframe/initialize", "mcpframe/1", "mcpframe/ping"]
    for guess in guesses:
        seat.hears({"jsonrpc": "2.0", "id": guess, "result": {"forged": True}})
        seat.hears({"jsonrpc": "2.0", "id": guess, "error": {"code": -32601, "message": "forged"}})
        seat.hears({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": guess}})
    assert not [answer for answer in seat.received if answer.get("id") == "mine"]
    seat.hears({"jsonrpc": "2.0", "id": "mine", "result": {}})
    assert seat.received[-1] == {"jsonrpc": "2.0", "id": "mine", "result": {}}
    seat.works()
    record_property("lines", 3 * len(guesses))


def test_a_client_that_was_made_anew_begins_as_the_one_before(seat: Seat) -> None:
    """React's strict mode makes two, each of which numbers its requests from 0: one answer is for both."""
    seat.open()
    for method in ("initialize", "server/discover"):
        before = len(seat.posted)
        outputs = [output for _ in range(3) for output in seat.hears({**INITIALIZE, "id": method, "method": method})]
        assert [*map(type, outputs)] == [Received]
        seat.asks({"jsonrpc": "2.0", "id": method, "result": {}})
        assert [answer["id"] for answer, _ in seat.posted[before:]] == [method]
        assert len(seat.hears({**INITIALIZE, "id": method, "method": method})) == 1
    meta = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
    assert [*map(refused, [seat.hears({**CALL, "params": meta}) for _ in range(2)])] == [[], ["UnexpectedMessage"]]


def test_floods_are_bounded(seat: Seat) -> None:
    seat.open()
    for number in range(1000):
        seat.hears({**CALL, "id": f"flood {number}"})
    assert len(seat.received) == LIMITS.max_pending
    assert {answer["error"]["code"] for answer, _ in seat.posted if "error" in answer} == {-32603}
    for number in range(LIMITS.max_pending):
        seat.asks({"jsonrpc": "2.0", "id": f"flood {number}", "result": {}})
    for _ in range(1000):
        seat.hears(PING)
        seat.hears({"source": "ozwell-chat-widget", "type": "ready"})
        seat.hears({"jsonrpc": "2.0", "method": "notifications/of-tomorrow"})
    assert {target for message, target in seat.posted if message != PING} == {seat.peer}
    seat.works()


@pytest.mark.parametrize("departure", Departure)
def test_a_peer_that_leaves_in_mid_request_ends_it(name: str, seat: Seat, departure: Departure) -> None:
    seat.open()
    seat.hears(CALL)
    seat.asks({**CALL, "id": "mine"})
    seat.posted.clear()
    seat.received.clear()
    outputs = seat.made.peer_gone(departure, 2.0)
    if departure is Departure.REPLACED and name != "host":
        assert outputs == []  # a page would not outlive the document around it
        return
    (failed, closed) = outputs
    assert isinstance(failed, Received)
    assert (failed.payload["id"], failed.payload["error"]["code"]) == ("mine", -32000)
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, PeerGone)
    for message in (INITIALIZE, CALL, PING, PONG):
        assert seat.hears(message) == []
    seat.tick(1e9)
    assert seat.posted == []


def test_a_ping_pins_nobody(name: str) -> None:
    """An opener may navigate: whoever opens the session is its peer, and not who has only asked."""
    role: Role = OPENINGS[name][0]
    first, second = "https://one.example", "https://two.example"
    made = Connection([Candidate(role, parse_allowed_origins([first, second]))], options=LIMITS)
    made.start(0.0)
    (answer,) = made.receive(inbound({**PING, "id": 7}, origin=first), 1.0)
    assert isinstance(answer, Send)
    assert answer.target_origin == first
    assert made.origin is None
    made.receive(inbound(OPENINGS[name][1], origin=second), 1.0)
    assert (made.state, made.origin) == (State.OPEN, second)
    assert refused(made.receive(inbound(CALL, origin=first), 1.0)) == ["UnexpectedOrigin"]
