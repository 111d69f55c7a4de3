"""Every field of the JSON-RPC message in an `MCP_MESSAGE`, and who hears of it where it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.vectors.generate.sep_fields import PAIRS, TOO_LONG
from tests.vectors.generate.writing import Table

LARGEST = 2**53 - 1
REQUEST = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"a": [1]}}
NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/note", "params": {"a": None}}
ANSWER = {"jsonrpc": "2.0", "id": 5, "result": {"a": [1]}}
ERROR = {"jsonrpc": "2.0", "id": 5, "error": {"code": -1, "message": "No", "data": [None]}}

NO_VERSIONS: list[Any] = [None, "", "1.0", "2", "2.00", " 2.0", 2, 2.5, True, [], {}, ["2.0"]]
NO_OBJECTS: list[Any] = [None, "", "x", 0, 7, True, False, [], [{}]]
NO_TEXTS: list[Any] = [None, 0, 7, True, False, [], {}, ["m"]]
NOTIFICATIONS = ["notifications/", "notifications/cancelled", "notifications/progress", "notifications/x"]
METHODS = ["Notifications/cancelled", "notifications", "", "m", "__proto__", "constructor", "\x00", TOO_LONG, PAIRS]
IDS: list[Any] = ["", "7", "__proto__", TOO_LONG, PAIRS, 0, 1, -1, LARGEST, -LARGEST]
NO_IDS: list[Any] = [None, True, False, 1.5, -0.5, LARGEST + 1, -LARGEST - 1, 1e21, 1e300, [], [7], {}, {"id": 7}]
CODES: list[Any] = [0, 1, -32000, -32603, LARGEST, -LARGEST]
NO_CODES: list[Any] = [None, "", "1", 1.5, True, LARGEST + 1, [], {}]
_MISSING = object()


def tables() -> Iterator[tuple[str, Table]]:
    """Return the one file of this part."""
    about = "Every field of a payload in an open session, and who hears of a refusal. Generated: do not edit."
    cases = [case for role in ("inner transport", "outer transport") for case in _cases(role)]
    yield "fields_message", {"about": about, "generated": True, "state": "open", "cases": cases}


def _cases(role: str) -> Iterator[dict[str, Any]]:
    for name, payload, outcome in _payloads():
        message = {"type": "MCP_MESSAGE"} if payload is _MISSING else {"type": "MCP_MESSAGE", "payload": payload}
        waits = {"asked": [5]} if "answer" in name or "error" in name else {}
        case = {"role": role, **waits, "message": message, "outcome": outcome, "next": "open"}
        yield {"name": f"{role}, open: {name}", **case}


def malformed_payloads() -> Iterator[tuple[str, dict[str, Any]]]:
    """Return each `MCP_MESSAGE` that is refused, with its name."""
    for name, payload, outcome in _payloads():
        if _refused()[0] in outcome:
            yield name, {"type": "MCP_MESSAGE", **({} if payload is _MISSING else {"payload": payload})}


def _payloads() -> Iterator[tuple[str, Any, list[dict[str, Any]]]]:
    yield "payload missing", _MISSING, _refused()
    for value in [*NO_OBJECTS, [REQUEST], "{}"]:
        yield f"payload {value!r}", value, _refused()
    yield "payload empty", {}, _refused()
    for base, name in ((REQUEST, "request"), (NOTIFICATION, "notification")):
        yield from _calls(base, name)
    yield from _ids()
    for base, name in ((ANSWER, "answer"), (ERROR, "error")):
        yield from _answers(base, name)
    yield from _results()


def _calls(base: dict[str, Any], name: str) -> Iterator[tuple[str, Any, list[dict[str, Any]]]]:
    answer = [_answered(7)] if "id" in base else []
    yield f"a {name}", base, _received(base)
    yield f"a {name}, members in another order", _reversed(base), _received(base)
    yield f"a {name} with a member that nobody knows", {**base, "more": 1}, _received({**base, "more": 1})
    yield f"a {name} without params", _without(base, "params"), _received(_without(base, "params"))
    yield f"a {name} without jsonrpc", _without(base, "jsonrpc"), _refused(*answer)
    yield f"a {name} without method", _without(base, "method"), _refused()
    for value in METHODS:
        yield f"a {name}, method {value!r}", {**base, "method": value}, _received({**base, "method": value})
    for value in NOTIFICATIONS:
        changed = {**base, "method": value}
        yield f"a {name}, method {value!r}", changed, _refused(*answer) if answer else _received(changed)
    for field, values in {"jsonrpc": NO_VERSIONS, "method": NO_TEXTS, "params": NO_OBJECTS}.items():
        for value in values:
            yield f"a {name}, {field} {value!r}", {**base, field: value}, _refused(*answer)
    for more in ({"result": {}}, {"error": {"code": 1, "message": "x"}}, {"result": None}, {"error": None}):
        yield f"a {name} that is an outcome, {more}", {**base, **more}, _refused(*answer)


def _ids() -> Iterator[tuple[str, Any, list[dict[str, Any]]]]:
    for value in IDS:
        yield f"a request, id {value!r}", {**REQUEST, "id": value}, _received({**REQUEST, "id": value})
    for value in NO_IDS:
        known = value if isinstance(value, int | float) and not isinstance(value, bool) else None
        yield f"a request, id {value!r}", {**REQUEST, "id": value}, _refused(_answered(known))


def _answers(base: dict[str, Any], name: str) -> Iterator[tuple[str, Any, list[dict[str, Any]]]]:
    fails = {"fails": 5, "code": -32603}
    yield f"an {name}", base, _received(base)
    yield f"an {name}, members in another order", _reversed(base), _received(base)
    yield f"an {name} with a member that nobody knows", {**base, "more": 1}, _received({**base, "more": 1})
    for value in IDS:
        yield f"an {name}, id {value!r}", {**base, "id": value}, _received({**base, "id": value})
    yield f"an {name} without jsonrpc", _without(base, "jsonrpc"), _refused(fails)
    for value in NO_VERSIONS:
        yield f"an {name}, jsonrpc {value!r}", {**base, "jsonrpc": value}, _refused(fails)
    for value in [_MISSING, *NO_IDS]:
        changed = _without(base, "id") if value is _MISSING else {**base, "id": value}
        nobody = value is None or value is _MISSING
        shown = "missing" if value is _MISSING else repr(value)
        # JSON-RPC 2.0, section 5: an error whose request could not be told has no id.
        yield f"an {name}, id {shown}", changed, _received(changed) if nobody and "error" in base else _refused()


def _results() -> Iterator[tuple[str, Any, list[dict[str, Any]]]]:
    fails = {"fails": 5, "code": -32603}
    yield "neither answer nor error", _without(ANSWER, "result"), _refused()
    yield "both answer and error", {**ANSWER, **ERROR}, _refused(fails)
    yield "an answer with null as error", {**ANSWER, "error": None}, _refused(fails)
    for value in NO_OBJECTS:
        yield f"an answer, result {value!r}", {**ANSWER, "result": value}, _refused(fails)
        yield f"an error {value!r}", {**ERROR, "error": value}, _refused(fails)
    yield "an error, empty", {**ERROR, "error": {}}, _refused(fails)
    for value in CODES:
        changed = {**ERROR, "error": {"code": value, "message": "No"}}
        yield f"an error, code {value!r}", changed, _received(changed)
    for value in NO_CODES:
        yield f"an error, code {value!r}", {**ERROR, "error": {"code": value, "message": "No"}}, _refused(fails)
    for value in NO_TEXTS:
        yield f"an error, message {value!r}", {**ERROR, "error": {"code": 1, "message": value}}, _refused(fails)
    for value in ("", TOO_LONG):
        changed = {**ERROR, "error": {"code": 1, "message": value}}
        yield f"an error, message {value!r}", changed, _received(changed)


def _answered(id_: Any) -> dict[str, Any]:
    return {"answers": id_, "code": -32600, "to": "peer"}


def _received(payload: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"received": payload}]


def _refused(*waits: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"refused": "MalformedMessage"}, *waits]


def _without(payload: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in payload.items() if name != key}


def _reversed(payload: dict[str, Any]) -> dict[str, Any]:
    return dict(reversed(payload.items()))
