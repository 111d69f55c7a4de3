"""Which HTTP response a message of the server belongs to, as a table."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.kit.edges.http.routing import LOG_LEVEL_KEY, SUBSCRIPTION_KEY, Asked, request_for

ASKED = [
    Asked(1, "tools/call", {"progressToken": "a"}),
    Asked("two", "subscriptions/listen"),
    Asked(3, "tools/call", {"progressToken": 3, LOG_LEVEL_KEY: "info"}),
    Asked(4, "tools/call"),
]


def note(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"id": 1, "result": {}}, 1),
        ({"id": "two", "error": {}}, "two"),
        ({"id": None, "error": {}}, None),
        (note("notifications/progress", progressToken="a", progress=1), 1),
        (note("notifications/progress", progressToken=3, progress=1), 3),
        (note("notifications/progress", progressToken="gone", progress=1), None),
        (note("notifications/tools/list_changed"), None),
        (note("notifications/tools/list_changed", _meta={SUBSCRIPTION_KEY: "two"}), "two"),
        (note("notifications/resources/updated", uri="a://b", _meta={SUBSCRIPTION_KEY: "gone"}), None),
        (note("notifications/resources/updated", uri="a://b"), None),
        (note("notifications/message", level="info", data=1), 3),
        ({"id": 9, **note("sampling/createMessage")}, 4),
        ({"id": 9, "method": "ping"}, 4),
    ],
)
def test_where_it_belongs(message: dict[str, Any], expected: object) -> None:
    assert request_for(message, ASKED) == expected


def test_nobody_is_asked_while_nobody_waits() -> None:
    assert request_for(note("notifications/message"), []) is None
    assert request_for({"id": 9, "method": "ping"}, [ASKED[1]]) is None


def test_logs_go_to_the_youngest_where_none_has_asked_for_them() -> None:
    assert request_for(note("notifications/message"), [ASKED[0], ASKED[3]]) == 4
