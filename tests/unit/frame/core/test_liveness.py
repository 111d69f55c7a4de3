"""When an outer frame asks a page whether it still answers, and what it says of one that does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpframe.frame.core.connection import Connection, Options
from mcpframe.frame.core.events import Closed, Output, Received, Refused, Send, Unresponsive, Wire
from mcpframe.frame.core.roles import State
from mcpframe.frame.dialects.sep import roles as sep
from tests.support.driving import NOTIFICATION, REQUEST, RESPONSE
from tests.support.sep import FRAME, MESSAGES, connection_in, hear

AFTER = 20.0
HALF = AFTER / 2


def opened(after: float | None = AFTER) -> Connection:
    return connection_in(sep.OUTER_TRANSPORT, State.OPEN, Options(unresponsive_after=after))


def request(made: Connection, now: float, id_: int = 1) -> None:
    made.send(json.dumps(REQUEST | {"id": id_}), REQUEST | {"id": id_}, now)


def say(made: Connection, payload: dict[str, Any], now: float) -> list[Output]:
    return hear(made, {"type": "MCP_MESSAGE", "payload": payload}, now=now)


def pass_to(made: Connection, now: float) -> list[Output]:
    """Let time pass, as an event loop does: call `tick` at each deadline."""
    outputs: list[Output] = []
    while made.deadline is not None and made.deadline <= now:
        outputs += made.tick(made.deadline)
    return outputs


def asked(outputs: list[Output]) -> str:
    """The id of the ping that is all there is of outputs."""
    [ping] = outputs
    assert isinstance(ping, Send)
    assert ping.target_origin == FRAME
    message = json.loads(ping.text)
    assert message["type"] == "MCP_MESSAGE"
    id_ = str(message["payload"].pop("id"))
    assert message["payload"] == {"jsonrpc": "2.0", "method": "ping"}
    assert id_.startswith("mcpframe-ping-")
    return id_


def test_an_idle_session_sets_no_timer() -> None:
    made = opened()
    assert made.deadline is None
    say(made, NOTIFICATION, 1.0)
    made.send(json.dumps(NOTIFICATION), NOTIFICATION, 2.0)
    say(made, REQUEST, 3.0)
    assert made.deadline is None
    request(made, 4.0)
    say(made, RESPONSE, 5.0)
    assert pass_to(made, 1e6) == []
    assert made.deadline is None


CANCEL = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}


def cancel(made: Connection, now: float, how: str = "cancelled") -> None:
    if how == "stopped":
        made.stop_calls("enough", now)
    else:
        made.send(json.dumps(CANCEL), CANCEL, now)


@pytest.mark.parametrize("how", ["cancelled", "stopped"])
def test_a_page_that_hangs_in_a_cancelled_request_is_found(how: str) -> None:
    made = opened()
    call = REQUEST | {"method": "tools/call"}
    made.send(json.dumps(call), call, 0.0)
    cancel(made, 3.0, how)
    assert pass_to(made, 3.9) == []
    asked(pass_to(made, 4.0))
    assert pass_to(made, 4.0 + HALF) == [Unresponsive(True)]
    assert made.deadline is None
    assert say(made, NOTIFICATION, 100.0)[0] == Unresponsive(False)
    assert pass_to(made, 1e6) == []


def test_a_page_that_answers_after_a_cancellation_is_left_alone() -> None:
    made = opened()
    request(made, 0.0)
    cancel(made, 3.0)
    say(made, NOTIFICATION, 3.5)  # may have been posted before it hung
    id_ = asked(pass_to(made, 3.5 + HALF))
    assert say(made, {"jsonrpc": "2.0", "id": id_, "error": {"code": -32601, "message": "no"}}, 14.0) == []
    assert pass_to(made, 1e6) == []
    assert made.deadline is None


def test_a_page_that_was_asked_before_a_cancellation_is_not_asked_again() -> None:
    made = opened()
    request(made, 0.0)
    asked(pass_to(made, HALF))
    cancel(made, HALF + 5)
    assert pass_to(made, AFTER) == [Unresponsive(True)]


def test_a_cancellation_of_what_does_not_wait_asks_nobody() -> None:
    made = opened()
    cancel(made, 1.0)
    assert made.deadline is None
    off = opened(None)
    request(off, 0.0)
    cancel(off, 1.0)
    assert off.deadline is None


def test_a_subscription_alone_is_no_request_that_waits() -> None:
    made = opened()
    stream = REQUEST | {"method": "subscriptions/listen", "id": 7}
    made.send(json.dumps(stream), stream, 0.0)
    assert made.deadline is None
    request(made, 1.0)
    say(made, RESPONSE, 2.0)
    assert pass_to(made, 1e6) == []


def test_a_page_that_speaks_is_not_asked() -> None:
    made = opened()
    request(made, 0.0)
    for now in range(9, 90, 9):
        assert pass_to(made, now) == []
        say(made, {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}, now)
    assert pass_to(made, 81 + HALF - 0.1) == []
    assert asked(pass_to(made, 81 + HALF))


@pytest.mark.parametrize("answer", [{"result": {}}, {"error": {"code": -32601, "message": "Method not found"}}])
def test_an_answer_to_a_ping_goes_no_further(answer: dict[str, Any]) -> None:
    made = opened()
    request(made, 0.0)
    ids = []
    for turn in range(1, 6):
        assert pass_to(made, turn * HALF - 0.1) == []
        ids.append(asked(made.tick(turn * HALF)))
        assert say(made, {"jsonrpc": "2.0", "id": ids[-1], **answer}, turn * HALF) == []
    assert len(set(ids)) == 5
    [received] = say(made, RESPONSE, 100.0)
    assert isinstance(received, Received)
    assert pass_to(made, 1e6) == []


def test_silence_is_told_once_and_speaking_again_is_too() -> None:
    made = opened()
    request(made, 0.0)
    id_ = asked(pass_to(made, HALF))
    request(made, HALF + 1, id_=2)
    assert pass_to(made, AFTER - 0.1) == []
    assert pass_to(made, AFTER) == [Unresponsive(True)]
    request(made, AFTER + 1, id_=3)
    assert made.deadline is None
    assert say(made, {"jsonrpc": "2.0", "id": id_, "result": {}}, 100.0) == [Unresponsive(False)]
    assert made.deadline == 100.0 + HALF
    again = asked(pass_to(made, 100.0 + HALF))
    assert again != id_
    assert pass_to(made, 100.0 + AFTER) == [Unresponsive(True)]


def test_a_silent_page_that_answers_the_last_request_is_left_in_peace() -> None:
    made = opened()
    request(made, 0.0)
    pass_to(made, AFTER)
    spoken, received = say(made, RESPONSE, 30.0)
    assert spoken == Unresponsive(False)
    assert isinstance(received, Received)
    assert made.deadline is None


def test_what_is_refused_is_no_answer() -> None:
    made = opened()
    request(made, 0.0)
    id_ = asked(pass_to(made, HALF))
    [refused] = say(made, {"jsonrpc": "2.0", "id": id_, "result": 5}, HALF + 1)
    assert isinstance(refused, Refused)
    assert pass_to(made, AFTER) == [Unresponsive(True)]


def test_the_end_clears_the_timer() -> None:
    for now in (1.0, HALF + 1, AFTER + 1):
        made = opened()
        request(made, 0.0)
        pass_to(made, now)
        failed, closed = made.close(now)
        assert isinstance(failed, Received)  # the request itself; nobody waits for the ping
        assert failed.payload["id"] == 1
        assert closed == Closed(None)
        assert made.deadline is None
        assert pass_to(made, 1e6) == []


def test_a_page_that_is_loaded_anew_is_not_said_to_answer() -> None:
    made = opened()
    request(made, 0.0)
    pass_to(made, AFTER)
    outputs = hear(made, MESSAGES["MCP_TRANSPORT_HANDSHAKE"], now=30.0)
    assert [type(output) for output in outputs] == [Received, Closed]


def test_no_two_connections_ask_with_one_id() -> None:
    ids = set()
    for _ in range(100):
        made = opened()
        request(made, 0.0)
        ids.add(asked(pass_to(made, HALF)))
    assert len(ids) == 100


def test_an_answer_to_the_ping_of_another_session_is_passed_on() -> None:
    """A client looks after answers that it did not ask for; and the page cannot know these ids before it is asked."""
    made, other = opened(), opened()
    request(made, 0.0)
    request(other, 0.0)
    id_ = asked(pass_to(other, HALF))
    [received] = say(made, {"jsonrpc": "2.0", "id": id_, "result": {}}, 1.0)
    assert isinstance(received, Received)


def test_a_request_of_the_page_with_the_id_of_a_ping_is_one() -> None:
    made = opened()
    request(made, 0.0)
    id_ = asked(pass_to(made, HALF))
    [received] = say(made, REQUEST | {"id": id_}, HALF)
    assert isinstance(received, Received)


def test_a_ping_takes_no_place_among_the_requests() -> None:
    made = connection_in(sep.OUTER_TRANSPORT, State.OPEN, Options(max_pending=1))
    request(made, 0.0)
    asked(pass_to(made, HALF))
    say(made, RESPONSE, HALF)
    [sent] = made.send(json.dumps(REQUEST), REQUEST, HALF)
    assert isinstance(sent, Send)


def test_a_log_of_the_wire_has_the_answer() -> None:
    made = opened()
    made.watched = True
    request(made, 0.0)
    id_ = asked(pass_to(made, HALF))
    [wire] = say(made, {"jsonrpc": "2.0", "id": id_, "result": {}}, HALF)
    assert isinstance(wire, Wire)
    assert wire.refused is None


def test_it_can_be_left_out_and_is_for_outer_frames() -> None:
    assert Options().unresponsive_after == 20.0
    for made in (opened(None), connection_in(sep.INNER_TRANSPORT, State.OPEN)):
        request(made, 0.0)
        assert made.deadline is None
        assert made.tick(1e9) == []
