"""MCP Apps: every message, every noise and everything local, in every state of both roles.

What is expected is written down a second time, from the specification: nothing here imports mcpframe.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.vectors.generate.writing import DEAF, Effect, Given, Table, state_cases, state_tables, strangers_and_locals

Message = dict[str, Any]

ID = "mcpframe/initialize"
LATEST = "2026-01-26"
STATES = {
    "inner transport": ["idle", "calling", "open", "closed"],
    "outer transport": ["idle", "awaiting", "confirming", "open", "closed"],
    "outer transport behind a proxy": ["idle", "awaiting", "handed over", "confirming", "open", "closed"],
}
PROXIED = "outer transport behind a proxy"
RESOURCE = {"html": "<p>Hello", "sandbox": "allow-scripts"}
HANDED_OVER = {"jsonrpc": "2.0", "method": "ui/notifications/sandbox-resource-ready", "params": RESOURCE}
READY = {"jsonrpc": "2.0", "method": "ui/notifications/sandbox-proxy-ready", "params": {}}
ASKED = {"name": "v", "version": "1"}
HOST = {"name": "h", "version": "1"}
OURS = {
    "protocolVersion": LATEST,
    "hostInfo": {"name": "mcpframe", "version": "1"},
    "hostCapabilities": {"openLinks": {}},
    "hostContext": {"theme": "dark"},
}
CALL = {
    "jsonrpc": "2.0",
    "id": ID,
    "method": "ui/initialize",
    "params": {
        "appInfo": {"name": "a-view", "version": "1.2", "title": "A view"},
        "appCapabilities": {"tools": {"listChanged": True}},
        "protocolVersion": LATEST,
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "ui/notifications/initialized", "params": {}}


def _initialize(id_: Any = 0, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": id_, "method": "ui/initialize", "params": params}


def _answer(**result: Any) -> Message:
    return {"jsonrpc": "2.0", "id": ID, "result": result}


def _without(message: Message, member: str) -> Message:
    return {key: value for key, value in message.items() if key != member}


_FULL = {"appInfo": ASKED, "appCapabilities": {}, "protocolVersion": LATEST}
_RESULT = {"protocolVersion": LATEST, "hostInfo": HOST, "hostCapabilities": {}, "hostContext": {"theme": "light"}}
_TOOL = {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {"arguments": {"a": 1}}}
_MISSHAPEN: list[Any] = [None, 7, True, "a text", [], {}]


def _initializes() -> Iterator[tuple[str, Message, bool]]:
    """Return each form of `ui/initialize`, with its name and whether it is well-formed."""
    yield "today's form", _initialize(**_FULL), True
    yield "the revision before", _initialize("x", **{**_FULL, "protocolVersion": "2025-11-21"}), True
    yield "a revision that is not known", _initialize(**{**_FULL, "protocolVersion": "2099-01-01"}), True
    yield "the seed's form", _initialize(appCapabilities={}), True
    yield "no params", _without(_initialize(), "params"), True
    yield "no id", _without(_initialize(**_FULL), "id"), False
    yield "null as id", _initialize(None, **_FULL), False
    yield "params that are a list", {**_initialize(), "params": []}, False
    for name, wanted in (("appInfo", dict), ("appCapabilities", dict), ("protocolVersion", str)):
        for value in _MISSHAPEN:
            fits = value is None or isinstance(value, wanted)
            yield f"{name} is {json.dumps(value)}", _initialize(**{**_FULL, name: value}), fits


def _answers() -> Iterator[tuple[str, Message, str]]:
    """Return each form of the answer, with its name and what comes of it in a view that waits for it."""
    yield "today's form", _answer(**_RESULT), "open"
    yield "the revision before", _answer(**{**_RESULT, "protocolVersion": "2025-11-21"}), "open"
    yield "the seed's form", _answer(hostCapabilities={}, hostContext={"theme": "light"}), "open"
    yield "nothing in it", _answer(), "open"
    yield "another revision", _answer(**{**_RESULT, "protocolVersion": "2099-01-01"}), "VersionMismatch"
    error = {"jsonrpc": "2.0", "id": ID, "error": {"code": -32601, "message": "no"}}
    yield "an error", error, "HandshakeRefused"
    yield "an error without a code", {**error, "error": {"message": "no"}}, "malformed"
    yield "a result that is a list", {**_answer(), "result": []}, "malformed"
    yield "a result and an error", {**_answer(), "error": {"code": 1, "message": "no"}}, "malformed"
    for name, wanted in (
        ("protocolVersion", str),
        ("hostInfo", dict),
        ("hostCapabilities", dict),
        ("hostContext", dict),
    ):
        for value in _MISSHAPEN:
            fits = value is None or isinstance(value, wanted)
            version = name == "protocolVersion" and value is not None
            told = ("VersionMismatch" if version else "open") if fits else "malformed"
            yield f"{name} is {json.dumps(value)}", _answer(**{**_RESULT, name: value}), told


_OTHERS: dict[str, Message] = {
    "a request": {"jsonrpc": "2.0", "id": 7, "method": "tools/list"},
    "a request of the dialect": {"jsonrpc": "2.0", "id": 7, "method": "ui/resource-teardown", "params": {}},
    "a notification": {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}},
    "an unknown method": {"jsonrpc": "2.0", "method": "ui/notifications/of-tomorrow"},
    "an answer": {"jsonrpc": "2.0", "id": 5, "result": {}},
    "a prototype's name as method": {"jsonrpc": "2.0", "id": 7, "method": "constructor"},
}
_MALFORMED: dict[str, tuple[Message, Any]] = {
    "params that are a list": ({"jsonrpc": "2.0", "id": 7, "method": "m", "params": []}, 7),
    "null params": ({"jsonrpc": "2.0", "id": 7, "method": "m", "params": None}, 7),
    "a method that is a number": ({"jsonrpc": "2.0", "id": 7, "method": 7}, 7),
    "null as id": ({"jsonrpc": "2.0", "id": None, "method": "m"}, None),
}
NOISE: list[Any] = [
    *(None, True, 7, "", "a text", "[1, 2", "{}", '{"jsonrpc":"2.0"', [], {}),
    [{"jsonrpc": "2.0", "id": 7, "method": "m"}],
    {"jsonrpc": "1.0", "id": 7, "method": "m"},
    {"jsonrpc": 2.0, "id": 7, "method": "m"},
    {"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"},
    {"type": "ui-lifecycle-iframe-ready"},
    {"method": "ui/initialize", "id": 1},
]


def _refused(error: str, state: str) -> Effect:
    return ([] if state in DEAF else [{"refused": error}], state)


def _unexpected(message: Message, state: str) -> Effect:
    """Return what comes of a message without a rule: an open side answers a request."""
    outcome, following = _refused("UnexpectedMessage", state)
    asks = "method" in message and "id" in message
    answers = [{"answers": message["id"], "code": -32600, "to": "peer"}] if state == "open" and asks else []
    return ([*outcome, *answers], following)


def _malformed(id_: Any, state: str, *, asks: bool = True) -> Effect:
    outcome, following = _refused("MalformedMessage", state)
    answers = [{"answers": id_, "code": -32600, "to": "peer"}] if state == "open" and asks else []
    return ([*outcome, *answers], following)


def _on_initialize(role: str, state: str, message: Message, fits: bool) -> Effect:
    if role.startswith("inner"):
        return _refused("UnexpectedMessage", state) if "id" not in message else _unexpected(message, state)
    if not fits:
        return _malformed(message.get("id"), state, asks="id" in message)
    if role == PROXIED and state == "awaiting":  # a proxy has no view before it got one
        return _refused("UnexpectedMessage", state)
    if state == "open":
        return ([{"closed": "PeerGone"}], "closed")
    if state in DEAF:
        return ([], state)
    params = message.get("params") or {}
    version = params.get("protocolVersion")
    result = {**OURS, "protocolVersion": version if version in (LATEST, "2025-11-21") else LATEST}
    told = {"info": params.get("appInfo") or {}, "version": version}
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    return ([{"posts": answer, "to": "peer"}, {"view called": told}], "confirming")


def _on_proxy_ready(role: str, state: str, message: Message) -> Effect:
    if "id" in message:
        return _unexpected(message, state) if role.startswith("inner") else _malformed(message["id"], state)
    if role != PROXIED or state in DEAF:
        return _refused("UnexpectedMessage", state)
    if state in ("confirming", "open"):
        return ([{"closed": "PeerGone"}], "closed")
    return ([{"posts": HANDED_OVER, "to": "peer"}], "handed over")


def _on_answer(role: str, state: str, message: Message, told: str) -> Effect:
    if told == "malformed":
        return _refused("MalformedMessage" if role.startswith("inner") else "UnexpectedMessage", state)
    if role.startswith("outer"):
        return _refused("UnexpectedMessage", state)
    if state == "open" or state in DEAF:
        return ([], state)
    if told != "open":
        return ([{"closed": told}], "closed")
    result = message["result"]
    found = {
        "info": result.get("hostInfo") or {},
        "version": result.get("protocolVersion"),
        "context": result.get("hostContext") or {},
    }
    return ([{"posts": INITIALIZED, "to": "peer"}, {"host found": found}], "open")


def _on_initialized(role: str, state: str, message: Message) -> Effect:
    if role.startswith("inner"):
        return _unexpected(message, state)
    if "id" in message:
        return _malformed(message["id"], state)
    if state == "confirming":
        return ([{"opened": None}], "open")
    return ([], state) if state in ("open", *DEAF) else _refused("UnexpectedMessage", state)


def _on_tool_data(role: str, state: str, message: Message) -> Effect:
    if role.startswith("outer"):
        return _unexpected(message, state)
    if "id" in message:
        return _malformed(message["id"], state)
    return ([] if state in DEAF else [{"received": message}], state)


def _on_other(state: str, message: Message) -> Effect:
    return ([{"received": message}], state) if state == "open" else _unexpected(message, state)


def _local(role: str, state: str, local: str) -> Effect:
    inner, closed = role.startswith("inner"), ([{"closed": None}], "closed")
    gone: Effect = ([{"closed": "PeerGone"}], "closed")
    match local:
        case "start":
            if state != "idle":
                return ([{"raises": "StateError"}], state)
            return ([{"posts": CALL, "to": "*"}], "calling") if inner else ([], "awaiting")
        case "close":
            return closed if state != "closed" else ([], state)
        case "repeat is due":
            return ([{"posts": CALL, "to": "*"}], state) if state == "calling" else ([], state)
        case "deadline has passed":
            repeated = [{"posts": CALL, "to": "*"}] if state == "calling" else []
            waits = state in ("calling", "awaiting", "handed over", "confirming")
            return ([*repeated, {"closed": "HandshakeTimeout"}], "closed") if waits else ([], state)
        case "send":
            sent = {"posts": {"jsonrpc": "2.0", "method": "notifications/initialized"}, "to": "peer"}
            return ([sent] if state == "open" else [{"raises": "StateError"}], state)
        case "peer's document replaced":
            return gone if state == "open" and not inner else ([], state)
        case "peer's window removed":
            return gone if state not in DEAF else ([], state)
    raise AssertionError(local)


def tables() -> Iterator[tuple[str, Table]]:
    """Return the files of this part, each with its name."""
    return state_tables(STATES, _cases)


def _cases(role: str) -> Iterator[dict[str, Any]]:
    for case in state_cases(STATES[role], lambda state: _given(role, state)):
        if case["state"] == "handed over":
            case |= {"state": "awaiting", "before": [READY]}
        if case["next"] == "handed over":
            case["next"] = "awaiting"
        yield case


def _given(role: str, state: str) -> Given:
    for name, message, fits in _initializes():
        yield f"ui/initialize, {name}", {"message": message}, _on_initialize(role, state, message, fits)
    for name, message, told in _answers():
        yield f"the answer, {name}", {"message": message}, _on_answer(role, state, message, told)
    for name, message in {"": INITIALIZED, " with an id": {**INITIALIZED, "id": 7}}.items():
        yield f"initialized{name}", {"message": message}, _on_initialized(role, state, message)
    for name, message in {"": READY, " with an id": {**READY, "id": 7}}.items():
        yield f"proxy ready{name}", {"message": message}, _on_proxy_ready(role, state, message)
    for kind in ("input", "input-partial", "result", "cancelled", "of-tomorrow"):
        message = {**_TOOL, "method": f"ui/notifications/tool-{kind}"}
        yield f"tool-{kind}", {"message": message}, _on_tool_data(role, state, message)
    yield "tool-input with an id", {"message": {**_TOOL, "id": 7}}, _on_tool_data(role, state, {**_TOOL, "id": 7})
    for name, message in _OTHERS.items():
        yield name, {"message": message}, _on_other(state, message)
        yield f"{name}, as JSON text", {"message": json.dumps(message)}, _on_other(state, message)
    for name, (message, id_) in _MALFORMED.items():
        yield name, {"message": message}, _malformed(id_, state)
    for noise in NOISE:
        yield f"noise, {json.dumps(noise)}", {"message": noise}, ([], state)
    first = _answer(**_RESULT) if role.startswith("inner") else _initialize(**_FULL)
    yield from strangers_and_locals(state, "the handshake", first, lambda local: _local(role, state, local))
