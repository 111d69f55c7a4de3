"""What is a request, what answers it, and who waits behind a message that was too large to parse."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpframe.frame import jsonrpc
from mcpframe.frame.errors import TooManyPending

ids = st.integers(0, 2**53) | st.text(max_size=40)


def wire(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@given(ids, st.sampled_from(["first", "last"]))
def test_outline_finds_what_the_official_sdks_write(id_: Any, place: str) -> None:
    rest = {
        "first": lambda body: {"jsonrpc": "2.0", "id": id_, **body},
        "last": lambda body: {**body, "jsonrpc": "2.0", "id": id_},
    }
    big = {"x": 'y"}]' * 1000}
    assert jsonrpc.outline(wire(rest[place]({"method": "m", "params": big}))) == ("request", id_)
    assert jsonrpc.outline(wire(rest[place]({"result": big}))) == ("response", id_)
    assert jsonrpc.outline(wire(rest[place]({"error": big}))) == ("response", id_)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"id":1}', '{"jsonrpc":"2.0","method":"m","params":{}}', "x" * 5000])
def test_outline_guesses_nothing(text: str) -> None:
    assert jsonrpc.outline(text) is None


def test_pending_keeps_order_and_forgets_what_is_answered_or_cancelled() -> None:
    pending = jsonrpc.Pending(3)
    for n in (3, 1, 2):
        pending.asked({"jsonrpc": "2.0", "id": n, "method": "m"})
    with pytest.raises(TooManyPending):
        pending.asked({"jsonrpc": "2.0", "id": 4, "method": "m"})
    pending.asked({"jsonrpc": "2.0", "id": 3, "method": "m"})  # again: not one more
    pending.answered({"jsonrpc": "2.0", "id": 1, "result": {}})
    pending.answered({"jsonrpc": "2.0", "id": 99, "result": {}})
    pending.answered({"jsonrpc": "2.0", "id": None, "error": {}})
    pending.asked({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
    pending.asked({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [2]}})
    pending.asked({"jsonrpc": "2.0", "method": "notifications/cancelled"})
    assert list(pending) == [3]
    assert len(pending) == 1
