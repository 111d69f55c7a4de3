"""Any message, in any order, in any state: nothing raised but what is documented, nothing sent but to the peer."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcpframe.frame.core.connection import Candidate, Connection, Options, parse_allowed_origins
from mcpframe.frame.core.errors import MessageError, SessionError, StateError
from mcpframe.frame.core.events import Closed, Inbound, Refused, Send
from mcpframe.frame.core.roles import Role, State
from mcpframe.frame.dialects.available import dialect, spoken_names
from tests.support.driving import LOCALS, do
from tests.support.fake_window import STRANGER, inbound
from tests.support.sep import MESSAGES, connection, peer_of
from tests.support.vocabulary import ANYTHING
from tests.vectors.parts import parts

ROLES = [(name, role) for name in spoken_names() for role in parts(name).roles.values()]


def messages_of(name: str) -> list[Any]:
    """Return valid messages of a dialect, in both directions."""
    return [*MESSAGES.values()] if name == "sep" else [*parts(name).messages]


def made_for(name: str, role: Role, options: Options) -> Connection:
    """Return a connection of this role for its usual peer."""
    if name == "sep":
        return connection(role, options)
    offer = dialect(name).host_offer(session_id="a session") if role.side == "outer" else None
    return Connection([Candidate(role, parse_allowed_origins([peer_of(role)]), offer)], options=options)


@st.composite
def nearly_valid(draw: st.DrawFn, messages: list[Any]) -> dict[str, Any]:
    """A valid message of some type, with some of its fields left out or replaced."""
    message = dict(draw(st.sampled_from(messages)))
    fields = st.sampled_from(sorted({key for each in messages for key in each}))
    for key in draw(st.lists(fields, max_size=2)):
        if draw(st.booleans()):
            message.pop(key, None)
        else:
            message[key] = draw(ANYTHING)
    return message


rpc = st.fixed_dictionaries(
    {
        "type": st.just("MCP_MESSAGE"),
        "payload": st.dictionaries(
            st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), ANYTHING | st.just("2.0")
        ),
    }
)


@st.composite
def talks(draw: st.DrawFn) -> tuple[str, Role, list[tuple[str, Any, Any, Any]]]:
    """A role, and what happens to it."""
    name, role = draw(st.sampled_from(ROLES))
    messages = messages_of(name)
    happenings = st.lists(
        st.tuples(
            st.just("hear"),
            st.sampled_from(messages) | nearly_valid(messages) | rpc | ANYTHING,
            st.sampled_from(["peer", STRANGER, "null", ""]),
            st.booleans(),
        )
        | st.tuples(
            st.just("text"),
            st.text(max_size=30)
            | st.sampled_from(
                [
                    '{"type":"MCP_MESSAGE","payload":',
                    '{"type":"MCP_MESSAGE","payload":{"id":"\ud800","method":"m","jsonrpc":"2.0"}}',
                    '{"type":"MCP_\ud800"}',
                ]
            ),
            st.just("peer"),
            st.just(True),
        )
        | st.tuples(st.just("do"), st.sampled_from(LOCALS), st.none(), st.none()),
        max_size=12,
    )
    return name, role, draw(happenings)


@given(talks())
@settings(max_examples=800, deadline=None)
def test_any_sequence(talk: tuple[str, Role, list[tuple[str, Any, Any, Any]]]) -> None:
    name, role, steps = talk
    made = made_for(name, role, Options(max_pending=3, max_nesting=5, max_message_bytes=2000))
    made.start(0.0)
    peer = peer_of(role)
    for kind, what, who, from_peer in steps:
        before = (made.state, made.origin, made.session_id)
        if kind == "do":
            try:
                outputs = do(made, what)
            except StateError:
                outputs = []
                assert (made.state, made.origin, made.session_id) == before
        else:
            origin = peer if who == "peer" else who
            event = (
                inbound(what, origin=origin, from_peer=from_peer)
                if kind == "hear"
                else Inbound(origin, True, lambda what=what: what)
            )
            outputs = made.receive(event, 0.0)
            if not from_peer or origin != peer or before[0] is State.CLOSED:
                assert not [o for o in outputs if not isinstance(o, Refused)]
        for output in outputs:
            if isinstance(output, Send):
                json.loads(output.text)
                output.text.encode()
                # Before the peer has spoken a page calls anybody, and a host the page that it frames.
                assert output.target_origin == peer or (role.side == "inner" and output.target_origin == "*")
                assert output.target_origin == peer or made.origin is None
            if isinstance(output, Refused):
                assert isinstance(output.error, MessageError)
            if isinstance(output, Closed):
                assert output is outputs[-1]
                assert made.state is State.CLOSED
                assert output.error is None or isinstance(output.error, SessionError)
        if outputs and all(isinstance(output, Refused) for output in outputs):
            assert (made.state, made.origin, made.session_id) == before
        assert made.origin in (None, peer)
        assert made.deadline is None or made.state is not State.CLOSED
