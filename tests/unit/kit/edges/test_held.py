"""Calls that wait for their clients are counted until these come back, or for too long, or there are too many."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.kit.edges.http import held as module
from mcpframe.kit.edges.http.held import TASK_SECONDS, HeldForClients, task_held


def test_a_call_is_held_until_its_client_comes_or_its_time_ends() -> None:
    now = 0.0
    held = HeldForClients(lambda: now)
    for key, seconds in (("a", 10), ("b", 20), ("c", 5), ("a", 10)):
        now += 1
        held.add(key, seconds)
    assert len(held) == 3
    held.remove("b")
    held.remove("unknown")
    assert len(held) == 2
    now = 8  # the end of "c"; "a" was held again at 4
    assert len(held) == 1
    now = 14
    assert not held


def test_the_oldest_of_too_many_is_forgotten() -> None:
    held = HeldForClients(lambda: 0.0)
    for number in range(module._MOST + 1):
        held.add(number, 1)
    assert len(held) == module._MOST
    held.remove(0)
    assert len(held) == module._MOST
    held.remove(1)
    assert len(held) == module._MOST - 1


CALL = {"method": "tools/call", "params": {"name": "x"}}
GET = {"method": "tasks/get", "params": {"taskId": "t"}}
CANCEL = {"method": "tasks/cancel", "params": {"taskId": "t"}}
LISTEN = {"method": "subscriptions/listen", "params": {}}
WORKING = {"taskId": "t", "status": "working", "ttlMs": 2500}


@pytest.mark.parametrize(
    ("request_", "message", "held"),
    [
        (CALL, {"result": {**WORKING, "resultType": "task"}}, ("t", 2.5)),
        (CALL, {"result": {**WORKING, "resultType": "task", "ttlMs": None}}, ("t", TASK_SECONDS)),
        (CALL, {"result": {"content": []}}, None),
        (CALL, {"result": {"taskId": 5, "resultType": "task"}}, None),
        (CALL, {"error": {"code": -32603, "message": ""}}, None),
        (CALL, {"result": "none"}, None),
        (GET, {"result": WORKING}, None),
        (GET, {"result": {**WORKING, "status": "input_required"}}, None),
        (GET, {"result": {**WORKING, "status": "completed", "result": {}}}, ("t", 0)),
        (GET, {"result": {**WORKING, "status": "failed"}}, ("t", 0)),
        (GET, {"error": {"code": -32602, "message": ""}}, ("t", 0)),
        (CANCEL, {"result": {}}, ("t", 0)),
        (LISTEN, {"method": "notifications/tasks", "params": {**WORKING, "status": "cancelled"}}, ("t", 0)),
        (LISTEN, {"method": "notifications/tasks", "params": WORKING}, None),
        (GET, {"method": "notifications/message", "params": {}}, None),
    ],
)
def test_a_task_is_held_from_its_handle_until_its_client_has_the_end(
    request_: dict[str, Any], message: dict[str, Any], held: tuple[str, float] | None
) -> None:
    assert task_held(request_, message) == held
