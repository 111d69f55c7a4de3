"""Several dialects at once: who is adopted, what becomes of the others, and what a hostile page can do about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NoReturn

import pytest

from mcpframe.frame.core.connection import Candidate, Connection, Options, parse_allowed_origins
from mcpframe.frame.core.errors import (
    HandshakeTimeout,
    MessageTooLarge,
    PeerGone,
    StateError,
    UnexpectedMessage,
    UnexpectedOrigin,
    VersionMismatch,
)
from mcpframe.frame.core.events import (
    Closed,
    Departure,
    Inbound,
    Opened,
    Output,
    Received,
    Refused,
    Send,
    Wire,
    Withdrawn,
)
from mcpframe.frame.core.roles import Role, State
from tests.support.fake_window import STRANGER, inbound
from tests.support.second_dialect import (
    ANSWERED,
    DIRECTED,
    FRAME,
    HELLO,
    HOST,
    MESSAGE,
    NOTIFICATION,
    PLAIN,
    READY,
    REQUEST,
    RESPONSE,
    connection,
    from_peer,
    peer_of,
    role_of,
)

INNER = (role_of(PLAIN, "inner"), role_of(DIRECTED, "inner"))
OUTER = (role_of(PLAIN, "outer"), role_of(DIRECTED, "outer"))
PAIRS = [pytest.param(roles, id=roles[0].side) for roles in (INNER, OUTER)]
WAYS_IN = {"inner": [ANSWERED], "outer": [HELLO, READY]}
WRONG_VERSION = {
    "inner": {"jsonrpc": "2.0", "id": "hello", "result": {"version": 2}},
    "outer": {"jsonrpc": "2.0", "id": "hello", "method": "hello", "params": {"version": 2}},
}


def hear(made: Connection, role: Role, kind: Any, *, origin: str | None = None, now: float = 0.0) -> list[Output]:
    """Let a connection receive what the peer of one of its candidates posts."""
    return made.receive(inbound(from_peer(role, kind), origin=origin or peer_of(role)), now)


def started(*roles: Role, **origins: Any) -> Connection:
    made = connection(*roles, **origins)
    made.start(0.0)
    return made


def opened(roles: tuple[Role, Role], which: Role, **origins: Any) -> Connection:
    made = started(*roles, **origins)
    for kind in WAYS_IN[which.side]:
        hear(made, which, kind)
    assert made.state is State.OPEN
    return made


def test_every_candidate_calls_out() -> None:
    made = connection(*INNER)
    outputs = made.start(0.0)
    assert [output.target_origin for output in outputs if isinstance(output, Send)] == ["*", "*"]
    claimed = [
        [name for name, role in zip(("plain", "directed"), OUTER, strict=True) if role.codec.kind(json.loads(o.text))]
        for o in outputs
        if isinstance(o, Send)
    ]
    assert claimed == [["plain"], ["directed"]]
    assert made.tick(1.0) == outputs


def test_what_the_page_has_posted_already_is_only_repeated() -> None:
    made, other = connection(*INNER), connection(*INNER)
    assert made.start(3.0, called=True) == []
    assert made.deadline == 3.0
    assert made.tick(3.0) == other.start(3.0)


@pytest.mark.parametrize("roles", PAIRS)
@pytest.mark.parametrize("index", [0, 1])
def test_the_first_that_gets_past_its_opening_is_adopted(roles: tuple[Role, Role], index: int) -> None:
    which = roles[index]
    made = started(*roles)
    assert (made.adopted, made.origin) == (None, None)
    first = WAYS_IN[which.side][0]
    outputs = [hear(made, which, first)]
    assert made.adopted is which
    assert made.origin == peer_of(which)
    outputs += [hear(made, which, kind) for kind in WAYS_IN[which.side][1:]]
    every = [output for each in outputs for output in each]
    assert [output for output in every if isinstance(output, Opened)] == [
        Opened(dialect=which.dialect, origin=peer_of(which))
    ]
    assert {output.target_origin for output in every if isinstance(output, Send)} == {peer_of(which)}
    assert made.session_id is None
    assert made.deadline is None  # those of the others are gone, too
    assert made.tick(1e9) == []


@pytest.mark.parametrize("roles", PAIRS)
@pytest.mark.parametrize("index", [0, 1])
def test_what_others_post_is_noise_then(roles: tuple[Role, Role], index: int) -> None:
    which, other = roles[index], roles[1 - index]
    made = opened(roles, which)
    made.watched = True
    for count, kind in enumerate((*WAYS_IN[other.side], MESSAGE, READY, WRONG_VERSION[other.side]), 1):
        [wire] = hear(made, other, kind)
        assert isinstance(wire, Wire)
        assert wire.refused
        assert made.dropped["noise"] == count
        assert (made.adopted, made.state) == (which, State.OPEN)
    assert hear(made, which, NOTIFICATION)[1:] == [Received(NOTIFICATION)]


@pytest.mark.parametrize("roles", PAIRS)
def test_a_message_out_of_place_is_refused_and_leaves_every_candidate(roles: tuple[Role, Role]) -> None:
    made = started(*roles)
    deadline = made.deadline
    for role in roles:
        [refused] = hear(made, role, MESSAGE)
        assert isinstance(refused, Refused)
        assert isinstance(refused.error, UnexpectedMessage)
        assert (made.adopted, made.deadline) == (None, deadline)
    hear(made, roles[1], WAYS_IN[roles[1].side][0])
    assert made.adopted is roles[1]


# Origins


def test_origins_are_checked_against_all_lists_before_anything_is_read() -> None:
    def read() -> NoReturn:
        raise AssertionError("a stranger's message was read")

    made = started(*INNER, plain=["https://one.example"], directed=["https://two.example"])
    [refused] = made.receive(Inbound(STRANGER, True, read), 0.0)
    assert isinstance(refused, Refused)
    assert isinstance(refused.error, UnexpectedOrigin)
    for origin in ("https://one.example", "https://two.example"):
        assert origin in str(refused.error)
    assert made.receive(Inbound("https://one.example", False, read), 0.0) == []


def test_each_candidate_has_its_own_origins() -> None:
    one, two = "https://one.example", "https://two.example"
    made = started(*INNER, plain=[one], directed=[two])
    for role, wrong, right in ((INNER[0], two, one), (INNER[1], one, two)):
        [refused] = hear(made, role, ANSWERED, origin=wrong)
        assert isinstance(refused, Refused)
        assert isinstance(refused.error, UnexpectedOrigin)
        assert right in str(refused.error)
        assert wrong not in str(refused.error).partition("allowed")[2]
        assert made.adopted is None
    said, _ = hear(made, INNER[1], ANSWERED, origin=two)
    assert isinstance(said, Send)
    assert said.target_origin == two
    assert hear(made, INNER[1], NOTIFICATION, origin=one) == []  # it was reported before
    assert (made.dropped["origin"], made.origin) == (3, two)


def test_everyone_is_allowed_to_one_candidate_only() -> None:
    made = started(*INNER, plain=["*"], directed=[HOST])
    assert isinstance(hear(made, INNER[1], ANSWERED, origin=STRANGER)[0], Refused)
    assert made.adopted is None
    hear(made, INNER[0], ANSWERED, origin=STRANGER)
    assert (made.adopted, made.origin) == (INNER[0], STRANGER)


# The end of a candidate


@pytest.mark.parametrize("roles", PAIRS)
@pytest.mark.parametrize("index", [0, 1])
def test_a_version_mismatch_removes_one_candidate_only(roles: tuple[Role, Role], index: int) -> None:
    wrong, right = roles[index], roles[1 - index]
    made = started(*roles)
    [withdrawn] = hear(made, wrong, WRONG_VERSION[wrong.side])
    assert isinstance(withdrawn, Withdrawn)
    assert (withdrawn.dialect, type(withdrawn.error)) == (wrong.dialect, VersionMismatch)
    assert (made.adopted, made.role) == (None, right)
    assert hear(made, wrong, WAYS_IN[wrong.side][0]) == []  # it is out for good
    assert made.dropped["noise"] == 1
    for kind in WAYS_IN[right.side]:
        hear(made, right, kind)
    assert (made.adopted, made.state) == (right, State.OPEN)


@pytest.mark.parametrize("roles", PAIRS)
def test_the_end_of_the_last_one_closes_with_the_most_telling_error(roles: tuple[Role, Role]) -> None:
    both = started(*roles)
    first, second = (output for role in roles for output in hear(both, role, WRONG_VERSION[role.side]))
    assert isinstance(first, Withdrawn)
    assert isinstance(second, Closed)
    assert second.error is first.error
    assert both.state is State.CLOSED
    one = started(*roles)
    hear(one, roles[0], WRONG_VERSION[roles[0].side])
    *_, closed = one.tick(1e9)
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, VersionMismatch)
    late = started(*roles)
    withdrawn, closed = (output for output in late.tick(1e9) if not isinstance(output, Send))
    assert isinstance(withdrawn, Withdrawn)
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, HandshakeTimeout)
    for made in (both, one, late):
        assert made.deadline is None
        assert made.close(0.0) == made.tick(1e9) == []


@pytest.mark.parametrize("roles", PAIRS)
def test_closing_and_the_peers_end_are_said_once(roles: tuple[Role, Role]) -> None:
    made = started(*roles)
    hear(made, roles[0], WRONG_VERSION[roles[0].side])
    assert made.close(0.0) == [Closed(None)]
    assert connection(*roles).close(0.0) == [Closed(None)]
    gone = started(*roles)
    [closed] = gone.peer_gone(Departure.REMOVED, 0.0)
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, PeerGone)


def test_nothing_is_sent_before_anybody_is_adopted() -> None:
    made = started(*INNER)
    with pytest.raises(StateError):
        made.send(json.dumps(REQUEST), REQUEST, 0.0)
    with pytest.raises(StateError):
        made.act("something else", now=0.0)
    with pytest.raises(StateError):
        made.start(0.0)


# What came before the connection began


@pytest.mark.parametrize("index", [0, 1])
def test_an_answer_from_before_is_taken_with_all_that_follows(index: int) -> None:
    """The page's inbox has posted the openings and kept what came: the connection gets it right after its start."""
    which, other = INNER[index], INNER[1 - index]
    made = connection(*INNER)
    assert made.start(5.0, called=True) == []
    kept = [(other, MESSAGE), (which, ANSWERED), (other, ANSWERED), (which, ANSWERED), (which, REQUEST)]
    outputs = [output for role, kind in kept for output in hear(made, role, kind, now=5.0)]
    shown = [output for output in outputs if not isinstance(output, Send | Refused)]
    assert shown == [Opened(dialect=which.dialect, origin=HOST), Received(REQUEST)]
    assert made.deadline is None


# Limits


@pytest.mark.parametrize("roles", PAIRS)
@pytest.mark.parametrize("index", [0, 1])
def test_whoever_waits_for_a_refused_message_hears_in_its_own_dialect(roles: tuple[Role, Role], index: int) -> None:
    which = roles[index]
    made = started(*roles, options=Options(max_message_bytes=400))
    large = {**REQUEST, "id": 7, "params": {"text": "x" * 500}}
    [refused] = hear(made, which, large)  # nobody waits yet, but it is claimed
    assert isinstance(refused, Refused)
    assert isinstance(refused.error, MessageTooLarge)
    for kind in WAYS_IN[which.side]:
        hear(made, which, kind)
    _, answer = hear(made, which, large)
    assert isinstance(answer, Send)
    other_side = role_of(PLAIN if which.dialect == "plain" else DIRECTED, "outer" if which.side == "inner" else "inner")
    message = json.loads(answer.text)
    assert other_side.codec.kind(message) == MESSAGE
    assert other_side.codec.decode(message)["id"] == 7
    made.send(json.dumps({**REQUEST, "id": 8}), {**REQUEST, "id": 8}, 0.0)
    _, failed = hear(made, which, {**RESPONSE, "id": 8, "result": {"text": "x" * 500}})
    assert isinstance(failed, Received)
    assert failed.payload["id"] == 8
    text = "[" * 300 + "x" * 400
    assert made.receive(Inbound(peer_of(which), True, lambda: text), 0.0) == []  # noise, as no codec claims it


# A hostile page


def interleavings(one: list[Any], two: list[Any]) -> Iterator[list[Any]]:
    for places in combinations(range(len(one) + len(two)), len(one)):
        left, right = iter(one), iter(two)
        yield [next(left if place in places else right) for place in range(len(one) + len(two))]


@pytest.mark.parametrize("roles", PAIRS)
def test_a_page_that_speaks_two_dialects_at_once_gets_one_session(roles: tuple[Role, Role]) -> None:
    """Its handshakes interleaved in every way, with messages between the steps."""
    scripts = [[(role, kind) for kind in (*WAYS_IN[role.side], REQUEST, NOTIFICATION)] for role in roles]
    for script in interleavings(*scripts):
        made = started(*roles)
        adopted = None
        begun = []
        for role, kind in script:
            outputs = hear(made, role, kind)
            begun += [output for output in outputs if isinstance(output, Opened)]
            assert adopted in (None, made.adopted)
            adopted = made.adopted
            if adopted is not None and role is not adopted:
                assert outputs == []
            for output in outputs:
                if isinstance(output, Send):
                    assert output.target_origin == peer_of(role)
                assert not isinstance(output, Closed | Withdrawn)
        assert [event.dialect for event in begun] == [made.role.dialect]
        assert adopted is script[0][0]  # who speaks first


# What cannot be a connection


def test_candidates_are_checked() -> None:
    with pytest.raises(ValueError, match="candidate"):
        Connection([])
    with pytest.raises(TypeError, match="offer"):
        Connection([Candidate(INNER[0], parse_allowed_origins([FRAME]), "an offer of something else")])
