"""The machine: its table in every state, the gate, pinning, limits, pending requests, time."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any, NoReturn

import pytest

from mcpframe.frame.core.connection import Connection, Options, parse_allowed_origins
from mcpframe.frame.core.errors import (
    HandshakeTimeout,
    PeerGone,
    StateError,
    UnexpectedMessage,
    UnexpectedOrigin,
)
from mcpframe.frame.core.events import (
    Closed,
    Departure,
    Inbound,
    Large,
    Opened,
    Output,
    Received,
    Refused,
    Send,
    Unreadable,
    Wire,
)
from mcpframe.frame.core.roles import Local, Role, State
from mcpframe.frame.core.setup import Act, SetupResult, SetupStarted
from mcpframe.frame.dialects.sep import roles as sep
from tests.support.driving import LOCALS, REQUEST, RESPONSE, do
from tests.support.fake_window import STRANGER, inbound
from tests.support.sep import FRAME, HOST, MESSAGES, SESSION, alone, connection, connection_in, hear, peer_of, states_of

TABLE = Path(__file__).with_name("sep_table.txt")
TRANSPORT_ROLES = [sep.INNER_TRANSPORT, sep.OUTER_TRANSPORT]
EVERY_STATE = [pytest.param(role, state, id=f"{role.name}, {state}") for role in sep.ROLES for state in states_of(role)]


def snapshot(made: Connection) -> tuple[Any, ...]:
    """Everything a refused event must leave as it was."""
    return made.state, made.origin, made.session_id, made.deadline


def described(output: Output) -> str:
    if isinstance(output, Send):
        return f"{json.loads(output.text)['type']} to {'*' if output.target_origin == '*' else 'the pinned origin'}"
    if isinstance(output, Refused):
        return f"refused ({type(output.error).__name__})"
    if isinstance(output, Closed):
        return f"closed ({type(output.error).__name__ if output.error else 'no error'})"
    return type(output).__name__


def table() -> str:
    """Every role, every state, everything that can happen: what it leads to."""
    lines = []
    for role in sep.ROLES:
        for state in states_of(role):
            lines.append(f"\n{role.name}, {state}")
            for trigger in (*MESSAGES, *LOCALS):
                made = connection_in(role, state)
                try:
                    outputs = do(made, trigger) if trigger in LOCALS else hear(made, MESSAGES[trigger])
                except StateError:
                    what = "StateError"
                else:
                    what = ", ".join(map(described, outputs)) or "nothing"
                lines.append(f"    {trigger:<30} -> {made.state:<10}  {what}")
    return "\n".join(lines).lstrip() + "\n"


def test_every_state_and_every_event_do_what_the_table_says() -> None:
    """`sep_table.txt` is read by people; a change of behaviour shows as a change of that file."""
    assert table() == TABLE.read_text(), "write the new table with: python -m tests.unit.frame.core.test_connection"


@pytest.mark.parametrize(("role", "state"), EVERY_STATE)
@pytest.mark.parametrize("trigger", [*MESSAGES, *LOCALS])
def test_refused_event_changes_nothing(role: Role, state: State, trigger: str) -> None:
    made = connection_in(role, state)
    before = snapshot(made)
    try:
        outputs = do(made, trigger) if trigger in LOCALS else hear(made, MESSAGES[trigger])
    except StateError:
        outputs = []
    if not outputs or any(isinstance(output, Refused) for output in outputs):
        quiet = {Local.START, Local.DEADLINE, Local.REPEAT, Local.LAST_REFUSED}
        assert snapshot(made) == before or trigger in quiet


@pytest.mark.parametrize(("role", "state"), EVERY_STATE)
@pytest.mark.parametrize("kind", MESSAGES)
def test_stranger_is_dropped_unread(role: Role, state: State, kind: str) -> None:
    def read() -> NoReturn:
        raise AssertionError("a stranger's message was read")

    for origin, from_peer in ((STRANGER, True), (STRANGER, False), (peer_of(role), False), ("null", True)):
        made = connection_in(role, state)
        before = snapshot(made)
        outputs = made.receive(Inbound(origin, from_peer, read), 0.0)
        assert all(isinstance(o, Refused) and isinstance(o.error, UnexpectedOrigin) for o in outputs)
        assert snapshot(made) == before
        assert sum(made.dropped.values()) == 1


@pytest.mark.parametrize(("role", "state"), EVERY_STATE)
@pytest.mark.parametrize("trigger", [*MESSAGES, *LOCALS])
def test_watching_adds_what_passes_the_gate_and_changes_nothing_else(role: Role, state: State, trigger: str) -> None:
    plain, watched = connection_in(role, state), connection_in(role, state)
    watched.watched = True
    both: list[list[Output]] = []
    for made in (plain, watched):
        try:
            both.append(do(made, trigger) if trigger in LOCALS else hear(made, MESSAGES[trigger]))
        except StateError:
            both.append([])
    wires = [output for output in both[1] if isinstance(output, Wire)]
    others = [output for output in both[1] if not isinstance(output, Wire)]
    assert list(map(repr, others)) == list(map(repr, both[0]))  # errors are equal only to themselves
    assert snapshot(watched) == snapshot(plain)
    if trigger in LOCALS or state in (State.IDLE, State.CLOSED):
        assert wires == []  # what is sent is told by its Send
        return
    reasons = [str(output.error) for output in both[0] if isinstance(output, Refused)]
    [wire] = wires
    assert both[1][0] is wire
    assert (wire.direction, json.loads(wire.text or ""), wire.origin) == ("received", MESSAGES[trigger], peer_of(role))
    assert wire.refused == (reasons[0] if reasons else None)


@pytest.mark.parametrize("role", sep.ROLES, ids=lambda role: role.name)
def test_of_a_stranger_only_the_origin_is_told(role: Role) -> None:
    def read() -> NoReturn:
        raise AssertionError("a stranger's message was read")

    made = connection_in(role, states_of(role)[1])
    made.watched = True
    for origin, from_peer in ((STRANGER, True), (STRANGER, True), (peer_of(role), False)):
        wire = made.receive(Inbound(origin, from_peer, read), 0.0)[0]
        assert isinstance(wire, Wire)
        assert (wire.direction, wire.text, wire.origin) == ("received", None, origin)
        assert wire.refused


@pytest.mark.parametrize("role", sep.ROLES, ids=lambda role: role.name)
def test_wrong_origin_is_reported_once_each_and_a_few_at_most(role: Role) -> None:
    made = connection_in(role, states_of(role)[1])
    heard = [hear(made, {}, origin=f"https://{n}.example") for n in (1, 1, *range(100))]
    reported = [output for outputs in heard for output in outputs]
    assert len(reported) == 8
    assert isinstance(reported[0], Refused)
    assert "https://1.example" in str(reported[0].error)
    assert peer_of(role) in str(reported[0].error)


def test_inner_pins_the_origin_of_the_first_valid_reply() -> None:
    made = alone(sep.INNER_TRANSPORT, parse_allowed_origins([HOST, FRAME]))
    [call] = made.start(0.0)
    assert isinstance(call, Send)
    assert call.target_origin == "*"
    reply = MESSAGES["MCP_TRANSPORT_HANDSHAKE_REPLY"]
    assert isinstance(hear(made, reply | {"sessionId": ""}, origin=FRAME)[0], Refused)
    accepted, _ = hear(made, reply, origin=HOST)
    assert isinstance(accepted, Send)
    assert accepted.target_origin == HOST
    # Another allowed origin in the same window, and another session: too late.
    assert isinstance(hear(made, reply | {"sessionId": "other"}, origin=FRAME)[0], Refused)
    assert hear(made, reply | {"sessionId": "other"}, origin=HOST) == []
    assert (made.origin, made.session_id) == (HOST, SESSION)


@pytest.mark.parametrize("role", TRANSPORT_ROLES, ids=lambda role: role.name)
def test_everything_sent_goes_to_the_pinned_origin(role: Role) -> None:
    made = connection_in(role, State.OPEN)
    sent = [*do(made, Local.SEND), *hear(made, {"type": "MCP_MESSAGE", "payload": REQUEST})]
    sent += made.send(json.dumps(RESPONSE), RESPONSE, 0.0)
    targets = {output.target_origin for output in sent if isinstance(output, Send)}
    assert targets == {peer_of(role)}


def test_outer_never_posts_to_anyone_but_the_frames_origin() -> None:
    made = connection_in(sep.OUTER_TRANSPORT, State.AWAITING)
    [reply] = hear(made, MESSAGES["MCP_TRANSPORT_HANDSHAKE"])
    assert isinstance(reply, Send)
    assert reply.target_origin == FRAME


@pytest.mark.parametrize("role", TRANSPORT_ROLES, ids=lambda role: role.name)
def test_opaque_peer_needs_the_opt_in_and_gets_the_wildcard(role: Role) -> None:
    opening = "MCP_TRANSPORT_HANDSHAKE" if role.side == "outer" else "MCP_TRANSPORT_HANDSHAKE_REPLY"
    strict = connection(role)
    strict.start(0.0)
    assert isinstance(hear(strict, MESSAGES[opening], origin="null")[0], Refused)
    lenient = alone(role, parse_allowed_origins([], opaque=True))
    lenient.start(0.0)
    sent = [o for o in hear(lenient, MESSAGES[opening], origin="null") if isinstance(o, Send)]
    assert [send.target_origin for send in sent] == ["*"]
    assert lenient.origin == "null"


# Handshake, versions, time


def test_handshake_is_repeated_until_the_reply() -> None:
    made = connection(sep.INNER_TRANSPORT, Options(repeat_interval=1.0))
    first = made.start(10.0)
    assert made.deadline == 11.0
    assert made.tick(10.5) == []
    assert made.tick(11.0) == first
    assert made.deadline == 12.0
    hear(made, MESSAGES["MCP_TRANSPORT_HANDSHAKE_REPLY"], now=11.5)
    assert made.deadline is None


@pytest.mark.parametrize(
    ("role", "state", "field"),
    [
        (sep.INNER_SETUP, State.CALLING, "handshake_timeout"),
        (sep.INNER_TRANSPORT, State.CALLING, "handshake_timeout"),
        (sep.OUTER_SETUP, State.AWAITING, "handshake_timeout"),
        (sep.OUTER_TRANSPORT, State.AWAITING, "handshake_timeout"),
        (sep.OUTER_TRANSPORT, State.CONFIRMING, "accept_timeout"),
        (sep.INNER_SETUP, State.SETTING_UP, "setup_timeout"),
        (sep.OUTER_SETUP, State.SETTING_UP, "setup_timeout"),
    ],
)
def test_each_deadline_is_an_option_and_can_be_left_out(role: Role, state: State, field: str) -> None:
    slow = {"repeat_interval": 1e6}
    made = connection_in(role, state, Options(**slow, **{field: 5.0}))
    assert made.deadline == 5.0
    assert made.tick(4.9) == []
    *_, closed = made.tick(5.0)
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, HandshakeTimeout)
    assert made.deadline is None
    patient = connection_in(role, state, Options(**slow, **{field: None}))
    assert patient.deadline in (None, 1e6)


@pytest.mark.parametrize("patience", [90.0, 1.0, None])
def test_a_page_may_take_as_long_to_accept_as_to_send_its_handshake(patience: float | None) -> None:
    assert Options(handshake_timeout=patience).accept_timeout == patience
    assert Options(handshake_timeout=patience, accept_timeout=7.0).accept_timeout == 7.0
    assert Options(handshake_timeout=patience, accept_timeout=None).accept_timeout is None
    made = connection_in(sep.OUTER_TRANSPORT, State.CONFIRMING, Options(handshake_timeout=patience))
    assert made.deadline == patience


@pytest.mark.parametrize("called", [True, False])
def test_an_opening_that_was_posted_before_is_repeated_unless_it_was_answered(called: bool) -> None:
    for role in (sep.INNER_SETUP, sep.INNER_TRANSPORT):
        [reply] = (kind for kind in role.readers if kind.endswith("_HANDSHAKE_REPLY"))
        opening = connection(role).start(3.0)
        made = connection(role, Options(repeat_interval=1.0))
        assert made.start(3.0, called=called) == ([] if called else opening)
        assert made.deadline == (3.0 if called else 4.0)
        assert made.tick(4.0) == opening
        assert made.deadline == 5.0
        answered = connection(role)
        answered.start(3.0, called=called)
        assert any(isinstance(output, Opened | SetupStarted) for output in hear(answered, MESSAGES[reply], now=3.0))
        assert answered.tick(4.0) == []


@pytest.mark.parametrize("role", [sep.INNER_SETUP, sep.INNER_TRANSPORT], ids=lambda role: role.name)
def test_a_frame_whose_host_is_late_goes_on_calling_on_a_slow_beat(role: Role) -> None:
    made = connection(role, Options(handshake_timeout=1800.0, repeat_interval=1.0))
    made.start(0.0)
    calls: list[float] = []
    while (due := made.deadline) is not None and due < 600:
        assert all(isinstance(output, Send) for output in made.tick(due))
        calls.append(due)
    assert calls[:30] == [float(second) for second in range(1, 31)]
    assert {later - earlier for earlier, later in itertools.pairwise(calls[29:])} == {10.0}
    [reply] = (kind for kind in role.readers if kind.endswith("_HANDSHAKE_REPLY"))
    assert any(isinstance(output, Opened | SetupStarted) for output in hear(made, MESSAGES[reply], now=600.0))


@pytest.mark.parametrize("levels", [0, -1, 1001])
def test_nesting_has_a_bound_of_its_own(levels: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 1,000"):
        Options(max_nesting=levels)


def test_time_defaults() -> None:
    assert (Options().handshake_timeout, Options().accept_timeout, Options().setup_timeout) == (30.0, 30.0, 1800.0)


# The end


@pytest.mark.parametrize("role", TRANSPORT_ROLES, ids=lambda role: role.name)
@pytest.mark.parametrize(
    ("end", "error"),
    [(Local.CLOSE, type(None)), (Local.PEER_REPLACED, PeerGone), (Local.PEER_REMOVED, PeerGone)],
)
def test_the_end_fails_what_is_pending_and_is_final(role: Role, end: Local, error: type) -> None:
    made = connection_in(role, State.OPEN)
    for n in (7, "eight"):
        message = REQUEST | {"id": n}
        made.send(json.dumps(message), message, 0.0)
    *failed, closed = do(made, end)
    assert [(o.payload["id"], o.payload["error"]["code"]) for o in failed if isinstance(o, Received)] == [
        (7, -32000),
        ("eight", -32000),
    ]
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, error)
    assert made.state is State.CLOSED
    assert do(made, Local.CLOSE) == made.peer_gone(Departure.REMOVED, 0.0) == made.tick(1e9) == []
    assert hear(made, MESSAGES["MCP_MESSAGE"]) == []
    with pytest.raises(StateError, match="closed"):
        do(made, Local.SEND)


def test_answered_and_cancelled_requests_do_not_fail_at_the_end() -> None:
    made = connection_in(sep.OUTER_TRANSPORT, State.OPEN)
    for n in (1, 2, 3):
        made.send(json.dumps(REQUEST | {"id": n}), REQUEST | {"id": n}, 0.0)
    hear(made, {"type": "MCP_MESSAGE", "payload": RESPONSE})
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    made.send(json.dumps(cancel), cancel, 0.0)
    outputs = made.close(0.0)
    assert [o.payload["id"] for o in outputs if isinstance(o, Received)] == [3]


def test_calls_of_tools_are_stopped_and_their_late_answers_dropped() -> None:
    made = connection_in(sep.OUTER_TRANSPORT, State.OPEN)
    call = REQUEST | {"method": "tools/call", "params": {"name": "add"}}
    for message in (REQUEST | {"id": 1}, call | {"id": 2}, call | {"id": 3}, call | {"id": "four"}):
        made.send(json.dumps(message), message, 0.0)
    hear(made, {"type": "MCP_MESSAGE", "payload": RESPONSE | {"id": 3}})
    outputs = made.stop_calls("Enough.", 0.0)
    told = [json.loads(output.text)["payload"] for output in outputs if isinstance(output, Send)]
    assert [(each["method"], each["params"]) for each in told] == [
        ("notifications/cancelled", {"requestId": 2, "reason": "Enough."}),
        ("notifications/cancelled", {"requestId": "four", "reason": "Enough."}),
    ]
    failed = [output.payload for output in outputs if isinstance(output, Received)]
    error = {"code": -32000, "message": "Enough.", "data": {"reason": "stopped"}}
    assert [(each["id"], each["error"]) for each in failed] == [(2, error), ("four", error)]
    assert made.stop_calls("Again.", 0.0) == []
    assert hear(made, {"type": "MCP_MESSAGE", "payload": RESPONSE | {"id": 2}}) == []
    [still] = hear(made, {"type": "MCP_MESSAGE", "payload": RESPONSE | {"id": 1}})
    assert isinstance(still, Received)
    made.send(json.dumps(call | {"id": 2}), call | {"id": 2}, 0.0)  # an id may be used again
    [again] = hear(made, {"type": "MCP_MESSAGE", "payload": RESPONSE | {"id": 2}})
    assert isinstance(again, Received)


@pytest.mark.parametrize("state", [State.IDLE, State.AWAITING, State.CLOSED])
def test_nothing_is_stopped_outside_of_a_session(state: State) -> None:
    assert connection_in(sep.OUTER_TRANSPORT, state).stop_calls("Enough.", 0.0) == []


@pytest.mark.parametrize("role", TRANSPORT_ROLES, ids=lambda role: role.name)
def test_no_progress_and_no_answer_leaves_for_a_request_that_the_peer_has_cancelled(role: Role) -> None:
    made = connection_in(role, State.OPEN)
    request = REQUEST | {"params": {"_meta": {"progressToken": 5}}}
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 5, "progress": 1}}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request["id"]}}

    def sent(message: dict[str, Any]) -> list[type[Output]]:
        return [type(output) for output in made.send(json.dumps(message), message, 0.0)]

    hear(made, {"type": "MCP_MESSAGE", "payload": request})
    assert sent(progress) == [Send]
    hear(made, {"type": "MCP_MESSAGE", "payload": cancel})
    assert sent(progress) == sent(RESPONSE) == []
    assert sent(progress | {"params": {"progressToken": 6, "progress": 1}}) == [Send]
    hear(made, {"type": "MCP_MESSAGE", "payload": request})
    assert sent(progress) == sent(RESPONSE) == [Send]


# Limits


@pytest.mark.parametrize("levels", range(1, 8))
@pytest.mark.parametrize("size", [0, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 100])
def test_what_one_side_may_send_the_other_side_takes(levels: int, size: int) -> None:
    options = Options(max_message_bytes=150, max_nesting=6)
    value: Any = "y" * size
    for _ in range(levels):
        value = [value]
    message = REQUEST | {"params": {"x": value}}
    text = json.dumps(message, separators=(",", ":"))
    sent = connection_in(sep.INNER_TRANSPORT, State.OPEN, options).send(text, message, 0.0)
    heard = hear(connection_in(sep.OUTER_TRANSPORT, State.OPEN, options), {"type": "MCP_MESSAGE", "payload": message})
    assert isinstance(sent[0], Send) == isinstance(heard[0], Received)


@pytest.mark.parametrize("role", TRANSPORT_ROLES, ids=lambda role: role.name)
def test_a_request_whose_answer_cannot_be_sent_is_pending_no_more(role: Role) -> None:
    made = connection_in(role, State.OPEN, Options(max_pending=1))
    for n in (1, 2):
        assert isinstance(hear(made, {"type": "MCP_MESSAGE", "payload": REQUEST | {"id": n}})[0], Received)
        answer = {"jsonrpc": "2.0", "id": n, "result": {"__proto__": {}}}
        refused, told = made.send(json.dumps(answer), answer, 0.0)
        assert isinstance(refused, Refused)
        assert isinstance(told, Send)
        assert json.loads(told.text)["payload"]["error"]


# Noise and malformed messages


@pytest.mark.parametrize("text", ["", "{", "[1,]", '{"a":NaN}', '"\\ud800"', "[" * 100_000, "9" * 5000])
def test_what_is_not_json_is_noise(text: str) -> None:
    made = connection_in(sep.INNER_TRANSPORT, State.OPEN)
    assert made.receive(Inbound(HOST, True, lambda: text), 0.0) == []


def test_what_has_no_json_form_is_noise() -> None:
    def read() -> NoReturn:
        raise ValueError("Converting circular structure to JSON")

    made = connection_in(sep.INNER_TRANSPORT, State.OPEN)
    assert made.receive(Inbound(HOST, True, read), 0.0) == []


@pytest.mark.parametrize("role", TRANSPORT_ROLES, ids=lambda role: role.name)
@pytest.mark.parametrize("name", ["MessageTooLarge", "MessageTooDeep", "MalformedMessage", "RangeError"])
def test_whoever_waits_for_what_has_no_json_form_hears(role: Role, name: str) -> None:
    def read() -> NoReturn:
        outline = {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": 7, "method": ""}}
        raise Unreadable(name, "A BigInt is not JSON data.", json.dumps(outline))

    made = connection_in(role, State.OPEN)
    made.watched = True
    wire, refused, answer = made.receive(Inbound(peer_of(role), True, read), 0.0)
    assert isinstance(wire, Wire)
    assert (wire.text, wire.refused) == (None, "A BigInt is not JSON data.")
    assert isinstance(refused, Refused)
    assert type(refused.error).__name__ == name.replace("RangeError", "MalformedMessage")
    assert isinstance(answer, Send)
    assert json.loads(answer.text)["payload"]["id"] == 7


def test_a_large_message_is_read_only_if_its_head_is_claimed() -> None:
    made = connection_in(sep.INNER_TRANSPORT, State.OPEN)
    message: Any = {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": 7, "method": "m"}}
    reads: list[str] = []

    def large(head: Any) -> Inbound:
        def whole() -> str:
            reads.append("whole")
            return json.dumps(message)

        def read() -> NoReturn:
            raise Large(json.dumps(head), whole)

        return Inbound(HOST, True, read)

    for head in (None, {}, {"type": "foreign", "payload": None}, {"jsonrpc": "2.0", "id": 1, "method": "m"}):
        assert made.receive(large(head), 0.0) == []
    assert (reads, made.dropped["noise"]) == ([], 4)
    [received] = made.receive(large({"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": None}}), 0.0)
    assert received == Received(message["payload"])
    assert reads == ["whole"]


def test_unknown_type_and_wrong_direction_reach_the_error_hook() -> None:
    made = connection_in(sep.INNER_TRANSPORT, State.OPEN)
    for kind in ("MCP_", "MCP_NOTHING", "MCP_" + "x" * 10_000, "MCP_TRANSPORT_HANDSHAKE", "MCP_SETUP_COMPLETE"):
        [refused] = hear(made, {"type": kind})
        assert isinstance(refused, Refused)
        assert isinstance(refused.error, UnexpectedMessage)
        assert len(str(refused.error)) < 200


def test_an_outer_frame_without_a_session_id_is_refused() -> None:
    with pytest.raises(StateError, match="session_id"):
        connection(sep.OUTER_TRANSPORT, session_id="")


def test_setup_ends_with_its_result_in_both_spellings() -> None:
    made = connection_in(sep.INNER_SETUP, State.SETTING_UP)
    said, closed = made.act(Act.COMPLETE_SETUP, SetupResult("Pi", visibility_message="See"), now=0.0)
    assert isinstance(said, Send)
    assert said.target_origin == HOST
    message = json.loads(said.text)
    assert message["serverTitle"] == message["displayName"] == "Pi"
    assert message["transportVisibility"] == {"requirement": "hidden", "optionalMessage": "See", "description": "See"}
    assert closed == Closed(None)


def test_inbound_helper_reads_lazily() -> None:
    assert json.loads(inbound({"a": 1}, origin=HOST).read()) == {"a": 1}


if __name__ == "__main__":
    TABLE.write_text(table())
