"""Requests, their answers, and the ids that come back unchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.errors import MalformedMessage, TooManyPending, UnexpectedMessage


@pytest.mark.parametrize(
    ("written", "usable", "answerable"),
    [
        ("1", 1, 1), ("-1", -1, -1), ("0", 0, 0), ("-0", 0, 0), ("1.0", 1, 1.0), ("1e2", 100, 100.0), ('""', "", ""),
        ('"1"', "1", "1"), ("9007199254740991", 2**53 - 1, 2**53 - 1), ("-9007199254740991", 1 - 2**53, 1 - 2**53),
        ("9007199254740992", None, 2**53), ("1e300", None, 1e300), ("1.5", None, 1.5), ("1e400", None, None),
        ("null", None, None), ("true", None, None), ("[1]", None, None), ("{}", None, None),
    ],
)  # fmt: skip
def test_which_ids_come_back_as_they_were(written: str, usable: Any, answerable: Any) -> None:
    value = json.loads(written)
    assert repr(jsonrpc.usable_id(value)) == repr(usable)
    assert repr(jsonrpc.answerable_id(value)) == repr(answerable)


def test_an_id_with_a_fraction_of_zero_is_the_integer_for_everybody_behind_the_gate() -> None:
    message = {"jsonrpc": "2.0", "id": 1.0, "method": "m"}
    assert repr(jsonrpc.with_usable_id(message)["id"]) == "1"
    same = {"jsonrpc": "2.0", "id": 1, "method": "m"}
    assert jsonrpc.with_usable_id(same) is same


@pytest.mark.parametrize(
    "answer",
    [
        {"result": 5}, {"result": None}, {"result": []}, {"error": {}}, {"error": "x"}, {"error": None},
        {"error": {"code": "1", "message": "x"}}, {"error": {"code": 1.5, "message": "x"}},
        {"error": {"code": 1}}, {"error": {"code": True, "message": "x"}}, {"error": {"code": 1, "message": None}},
    ],
    ids=json.dumps,
)  # fmt: skip
def test_answers_that_are_none(answer: dict[str, Any]) -> None:
    with pytest.raises(MalformedMessage):
        jsonrpc.request_id({"jsonrpc": "2.0", "id": 1, **answer})


def test_an_error_that_quotes_what_cannot_be_written_can_be_written() -> None:
    json.dumps(jsonrpc.error_response(1, 1, "\ud800 is not a name"), ensure_ascii=False).encode()


def test_pending_keeps_order_and_forgets_what_is_answered_or_cancelled() -> None:
    pending = jsonrpc.Pending(3)
    for n in (3, 1, 2):
        pending.asked({"jsonrpc": "2.0", "id": n, "method": "m"})
    with pytest.raises(TooManyPending):
        pending.asked({"jsonrpc": "2.0", "id": 4, "method": "m"})
    for full in (True, False):
        with pytest.raises(UnexpectedMessage):
            pending.asked({"jsonrpc": "2.0", "id": 3, "method": "m"})
        if full:
            pending.answered({"jsonrpc": "2.0", "id": 1, "result": {}})
    pending.answered({"jsonrpc": "2.0", "id": 1, "result": {}})
    pending.answered({"jsonrpc": "2.0", "id": 99, "result": {}})
    pending.answered({"jsonrpc": "2.0", "id": None, "error": {}})
    pending.asked({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
    pending.asked({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [2]}})
    pending.asked({"jsonrpc": "2.0", "method": "notifications/cancelled"})
    pending.asked({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": None})
    pending.asked({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [2]})
    assert list(pending) == [3]
    assert len(pending) == 1


def _request(id_: Any, token: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": "m", "params": {"_meta": {"progressToken": token}}}


def _cancel(id_: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id_}}


def _progress(token: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}}


def test_nothing_is_wanted_of_a_cancelled_request_until_its_id_or_token_is_used_again() -> None:
    pending = jsonrpc.Pending(3)
    answers = [{"jsonrpc": "2.0", "id": n, "result": {}} for n in (1, 2)]
    pending.asked(_request(1, "a"))
    pending.asked(_request(2, None))
    assert pending.wants(_progress("a"))
    pending.asked(_cancel(99))
    pending.asked(_cancel(1))
    assert [pending.wants(message) for message in (_progress("a"), *answers)] == [False, False, True]
    for odd in (_progress(None), _progress([1]), {"jsonrpc": "2.0", "method": "notifications/progress"}):
        assert pending.wants(odd)
    assert pending.wants({"jsonrpc": "2.0", "id": 1, "method": "ping"}), "a request of the side that answers"
    pending.asked(_request(3, "a"))
    assert pending.wants(_progress("a"))
    pending.asked(_cancel(2))
    assert pending.wants(_progress("a"))
    assert not pending.wants(answers[1])
    pending.asked(_request(2, 7))
    assert pending.wants(answers[1])


def test_as_many_cancelled_requests_are_remembered_as_may_be_pending() -> None:
    pending = jsonrpc.Pending(2)
    for n in range(3):
        pending.asked(_request(n, n))
        pending.asked(_cancel(n))
    assert [pending.wants(_progress(n)) for n in range(3)] == [True, False, False]


@pytest.mark.parametrize(
    ("function", "message", "renamed"),
    [
        (
            jsonrpc.asked_as,
            {"id": 1, "method": "m", "params": {"a": 1, "_meta": {"progressToken": 2, "b": 3}}},
            {"id": "x1", "method": "m", "params": {"a": 1, "_meta": {"progressToken": "x2", "b": 3}}},
        ),
        (jsonrpc.asked_as, {"id": 1, "method": "m"}, {"id": "x1", "method": "m"}),
        (
            jsonrpc.asked_as,
            {"method": "notifications/cancelled", "params": {"requestId": 1, "reason": ""}},
            {"method": "notifications/cancelled", "params": {"requestId": "x1", "reason": ""}},
        ),
        (jsonrpc.answered_as, {"id": 1, "result": {}}, {"id": "x1", "result": {}}),
        (
            jsonrpc.answered_as,
            {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
            {"method": "notifications/progress", "params": {"progressToken": "x1", "progress": 1}},
        ),
    ],
)
def test_ids_on_the_wire_may_be_others(function: Any, message: Any, renamed: Any) -> None:
    assert function(message, lambda id_: f"x{id_}") == renamed


def test_messages_that_name_no_request_are_not_copied() -> None:
    for message in (
        {"id": 1, "result": {}},
        {"method": "notifications/progress", "params": {"progressToken": 1}},
        {"method": "notifications/cancelled"},
    ):
        assert jsonrpc.asked_as(message, str) is message
    for message in ({"id": 1, "method": "m"}, {"method": "notifications/progress"}, {"method": "n", "params": {}}):
        assert jsonrpc.answered_as(message, str) is message


def test_several_clients_may_use_the_same_id() -> None:
    pending = jsonrpc.Pending(1, shared=True)
    for _ in range(2):
        pending.asked({"jsonrpc": "2.0", "id": 3, "method": "m"})
    assert list(pending) == [3]


@pytest.mark.parametrize("method", [jsonrpc.CANCELLED, jsonrpc.PROGRESS])
def test_a_request_with_the_name_of_a_notification_is_none(method: str) -> None:
    message = {"jsonrpc": "2.0", "id": 2, "method": method, "params": {"requestId": 1, "progressToken": 1}}
    with pytest.raises(MalformedMessage):
        jsonrpc.request_id(message)
    assert jsonrpc.cancelled_id(message) is None
    assert jsonrpc.asked_as(message, lambda _: 9) == {**message, "id": 9}
    assert jsonrpc.answered_as(message, lambda _: 9) is message
    pending = jsonrpc.Pending(3)
    pending.asked(_request(1, 1))
    pending.asked(message)
    assert list(pending) == [1, 2]
    pending.asked(jsonrpc.cancellation(1, ""))
    assert pending.wants(message)
