"""Any message, in any order, in any state: nothing raised but what is documented, nothing sent but to the peer."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.errors import MessageError, SessionError, StateError
from mcpframe.frame.core.events import Closed, Inbound, Refused, Send
from mcpframe.frame.core.roles import Role, State
from mcpframe.frame.dialects.sep import roles as sep
from tests.support.driving import LOCALS, do
from tests.support.fake_window import STRANGER, inbound
from tests.support.sep import MESSAGES, connection, peer_of

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800")
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(sorted({key for message in MESSAGES.values() for key in message}))


@st.composite
def nearly_valid(draw: st.DrawFn) -> dict[str, Any]:
    """A valid message of some type, with some of its fields left out or replaced."""
    message = dict(MESSAGES[draw(st.sampled_from(sorted(MESSAGES)))])
    for key in draw(st.lists(fields, max_size=2)):
        if draw(st.booleans()):
            message.pop(key, None)
        else:
            message[key] = draw(anything)
    return message


valid = st.sampled_from([*MESSAGES.values()])
rpc = st.fixed_dictionaries(
    {
        "type": st.just("MCP_MESSAGE"),
        "payload": st.dictionaries(
            st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), anything | st.just("2.0")
        ),
    }
)
events = st.lists(
    st.tuples(
        st.just("hear"),
        valid | nearly_valid() | rpc | anything,
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


@given(st.sampled_from(sep.ROLES), events)
@settings(max_examples=400, deadline=None)
def test_any_sequence(role: Role, steps: list[tuple[str, Any, Any, Any]]) -> None:
    made = connection(role, Options(max_pending=3, max_nesting=5, max_message_bytes=2000))
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
                assert output.target_origin == (peer if made.origin else "*")
                assert made.origin or "HANDSHAKE" in output.text
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
