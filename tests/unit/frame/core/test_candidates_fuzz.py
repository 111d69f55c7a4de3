"""Any messages of two dialects, in any order, to two candidates: adoption stays, and only the peer is sent to."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcpframe.frame.core.connection import Candidate, Connection, Options
from mcpframe.frame.core.errors import MessageError, SessionError, StateError
from mcpframe.frame.core.events import Closed, Departure, Inbound, Opened, Output, Refused, Send, Withdrawn
from mcpframe.frame.core.roles import State
from tests.support.fake_window import STRANGER, inbound
from tests.support.second_dialect import NOTIFICATION, REQUEST, RESPONSE, peer_of
from tests.support.vocabulary import ANYTHING, EVERY, candidate, messages_to

PAIRS = [
    (candidate(one, side), candidate(two, side)) for one, two in combinations(EVERY, 2) for side in ("inner", "outer")
]


@st.composite
def nearly(draw: st.DrawFn, messages: list[Any]) -> Any:
    """A valid message, mostly; or one with a member left out, replaced, or taken from another message."""
    message = dict(draw(st.sampled_from(messages)))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        key = draw(st.sampled_from(sorted(message) or ["id"]))
        match draw(st.sampled_from(["drop", "replace", "mix"])):
            case "drop":
                message.pop(key, None)
            case "replace":
                message[key] = draw(ANYTHING)
            case "mix":
                message |= draw(st.sampled_from(messages))
    return message


@st.composite
def steps(draw: st.DrawFn) -> tuple[tuple[Candidate, Candidate], list[tuple[str, Any, str, bool]]]:
    pair = draw(st.sampled_from(PAIRS))
    messages = [message for each in pair for message in messages_to(each.role)]
    hearing = st.tuples(
        st.just("hear"),
        nearly(messages) | ANYTHING,
        st.sampled_from(["peer", "peer", "peer", STRANGER, "null", ""]),
        st.sampled_from([True, True, True, False]),
    )
    text = st.tuples(
        st.just("text"), st.text(max_size=30) | st.sampled_from(["[" * 9, "{" * 9]), st.just("peer"), st.just(True)
    )
    acting = st.tuples(
        st.just("do"),
        st.sampled_from(["send", "close", "gone", "replaced", "tick", "late"]),
        st.just(""),
        st.just(True),
    )
    return pair, draw(st.lists(st.one_of(hearing, hearing, hearing, text, acting), max_size=14))


def do(made: Connection, what: str) -> list[Output]:
    match what:
        case "send":
            return [
                output
                for message in (REQUEST, RESPONSE, NOTIFICATION)
                for output in made.send(json.dumps(message), message, 0.0)
            ]
        case "close":
            return made.close(0.0)
        case "gone":
            return made.peer_gone(Departure.REMOVED, 0.0)
        case "replaced":
            return made.peer_gone(Departure.REPLACED, 0.0)
        case "tick":
            return made.tick(1.5)
    return made.tick(1e9)


@given(steps(), st.booleans())
@settings(max_examples=400, deadline=None)
def test_any_sequence(
    drawn: tuple[tuple[Candidate, Candidate], list[tuple[str, Any, str, bool]]], called: bool
) -> None:
    pair, happenings = drawn
    made = Connection(pair, options=Options(max_pending=3, max_nesting=5, max_message_bytes=2000))
    made.start(0.0, called=called)
    peer = peer_of(pair[0].role)
    begun = 0
    for kind, what, who, from_peer in happenings:
        before = (made.adopted, made.origin, made.session_id, made.state, made.deadline)
        if kind == "do":
            try:
                outputs = do(made, what)
            except StateError:
                outputs = []
        else:
            origin = peer if who == "peer" else who
            event = (
                inbound(what, origin=origin, from_peer=from_peer)
                if kind == "hear"
                else Inbound(origin, True, lambda what=what: what)
            )
            outputs = made.receive(event, 0.0)
            if not from_peer or origin != peer or before[3] is State.CLOSED:
                assert all(isinstance(output, Refused) for output in outputs)
        assert before[0] in (None, made.adopted)  # adoption never changes
        assert before[1] in (None, made.origin)
        assert made.origin in (None, peer)
        assert (made.adopted is None) == (made.origin is None)
        for output in outputs:
            if isinstance(output, Send):
                json.loads(output.text)
                output.text.encode()
                assert output.target_origin == peer or (output.target_origin == "*" and before[0] is None)
                assert made.adopted is None or output.target_origin == peer
            elif isinstance(output, Refused):
                assert isinstance(output.error, MessageError)
            elif isinstance(output, Opened):
                begun += 1
                assert made.adopted
                assert (output.dialect, output.origin) == (made.adopted.dialect, peer)
            elif isinstance(output, Withdrawn):
                assert made.adopted is None
                assert isinstance(output.error, SessionError)
            elif isinstance(output, Closed):
                assert output is outputs[-1]
                assert made.state is State.CLOSED
                assert output.error is None or isinstance(output.error, SessionError)
        assert begun <= 1
        if outputs and all(isinstance(output, Refused) for output in outputs):
            after = (made.adopted, made.origin, made.session_id, made.state)
            assert after == before[:4]
        assert made.deadline is None or made.state is not State.CLOSED
