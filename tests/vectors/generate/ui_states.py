"""mcp-ui's embeddable UI: every message, every noise and everything local, in every state of both roles.

What is expected is written down a second time, from the seed: nothing here imports mcpframe.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.vectors.generate.writing import DEAF, Effect, Given, Table, state_cases, state_tables, strangers_and_locals

Message = dict[str, Any]

STATES = {
    "inner transport": ["idle", "calling", "confirming", "open", "closed"],
    "outer transport": ["idle", "awaiting", "open", "closed"],
}
READY = {"type": "ui-lifecycle-iframe-ready"}
REQUEST = {"type": "ui-request-render-data", "messageId": "mcpframe/render-data"}
DATA = {"theme": "dark"}
RENDER_DATA = {"type": "ui-lifecycle-iframe-render-data", "payload": {"renderData": DATA}}
PAYLOADS: dict[str, Message] = {
    "tool": {"toolName": "get-weather", "params": {"city": "Tokyo"}},
    "intent": {"intent": "create-task", "params": {"title": "Buy groceries"}},
    "prompt": {"prompt": "What is the weather in Tokyo?"},
    "notify": {"message": "cart-updated"},
    "link": {"url": "https://www.google.com"},
    "ui-request-data": {"requestType": "get-payment-methods", "params": {}},
}
IDS: list[Any] = ["123", "", 7, -1, 0]
NO_IDS: list[Any] = [True, 1.5, 2**53, [], {}]
NOISE: list[Any] = [
    *(None, True, 7, "", "tool", '{"type":"tool"}', [], {}, [READY]),
    {"type": 7},
    {"type": "tools"},
    {"type": "constructor", "payload": {}},
    {"type": "ui-proxy-iframe-ready"},
    {"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"},
    {"jsonrpc": "2.0", "id": 1, "method": "ui/initialize", "params": {}},
]


def _rpc(**members: Any) -> Message:
    return {"jsonrpc": "2.0", **members}


# What a host posts to a page


def _for_frame() -> Iterator[tuple[str, Message, Any]]:
    """Return each message, with its name and what is in it: its kind, and what of it reaches an open page."""
    told = [{"received": _rpc(method=RENDER_DATA["type"], params={"renderData": DATA})}]
    nothing = [{"received": _rpc(method=RENDER_DATA["type"], params={"renderData": None})}]
    late = {**RENDER_DATA, "messageId": "mcpframe/a/1"}
    yield "render data", RENDER_DATA, ("data", told)
    yield "render data, an answer to the opening", {**RENDER_DATA, "messageId": REQUEST["messageId"]}, ("data", told)
    yield "render data, of another's request", {**RENDER_DATA, "messageId": "123"}, ("data", told)
    answer = _rpc(id="mcpframe/a/1", result={"renderData": DATA})
    yield "render data, an answer", late, ("data", [{"received": answer}])
    failed = {**late, "payload": {"error": "none"}}
    yield "an error in place of render data", failed, ("none", [{"fails": "mcpframe/a/1", "code": -32603}])
    yield "an error that was not asked for", {**failed, "messageId": "1"}, ("none", [])
    for name, payload in {"without a payload": None, "with an empty payload": {}}.items():
        message = {"type": RENDER_DATA["type"], "payload": payload}
        yield f"render data, {name}", message, ("none", nothing)
    for value in ("text", 7, [1]):
        message = {"type": RENDER_DATA["type"], "payload": value}
        yield f"render data, whose payload is {json.dumps(value)}", message, ("malformed", None)
    ours = "mcpframe/a/1"
    progress = _rpc(method="notifications/progress", params={"progressToken": ours, "progress": 0})
    yield "received", {"type": "ui-message-received", "messageId": ours}, ("sign", [{"received": progress}])
    for id_ in (None, "123", 7, REQUEST["messageId"]):
        yield (
            f"received, {json.dumps(id_)}",
            {"type": "ui-message-received", "messageId": id_},
            ("sign", []),
        )
    for id_ in (None, "123", 7):
        message = {"type": "ui-message-response", "messageId": id_, "payload": {"response": 1}}
        yield f"response, {json.dumps(id_)}", message, ("sign", [])
    opening = {"type": "ui-message-response", "messageId": REQUEST["messageId"], "payload": {}}
    yield "response to the opening", opening, ("opening", [])
    for response in (None, True, 7, "text", [], {"a": 1}, {"content": []}):
        message = {"type": "ui-message-response", "messageId": ours, "payload": {"response": response}}
        result = _rpc(id=ours, result={"response": response})
        yield f"response {json.dumps(response)}", message, ("sign", [{"received": result}])
    for name, payload in {"nothing": None, "neither": {}, "no error": {"response": 1, "error": None}}.items():
        response = (payload or {}).get("response")
        result = _rpc(id=ours, result={"response": response})
        message = {"type": "ui-message-response", "messageId": ours, "payload": payload}
        yield f"response with {name}", message, ("sign", [{"received": result}])
    for error, code, text in (
        ("no", -32603, "no"),
        ({"message": "no", "name": "TypeError"}, -32603, "no"),
        ({"message": "no", "code": -32601}, -32601, "no"),
        ({"message": 7, "code": "x"}, -32603, '{"message": 7, "code": "x"}'),
        ({}, -32603, "{}"),
        ([1], -32603, "[1]"),
        (7, -32603, "7"),
        (None, -32603, "null"),
    ):
        message = {"type": "ui-message-response", "messageId": ours, "payload": {"error": error}}
        told = [{"received": _rpc(id=ours, error={"code": code, "message": text, "data": error})}]
        yield f"error {json.dumps(error)}", message, ("sign", told)
    for value in NO_IDS:
        for kind in ("ui-message-received", "ui-message-response"):
            message = {"type": kind, "messageId": value, "payload": {}}
            yield f"{kind} with the id {json.dumps(value)}", message, ("malformed", None)
    wrong = {"type": "ui-message-response", "messageId": ours, "payload": 7}
    yield "response, whose payload is a number", wrong, ("malformed", None)


def _on_frame_message(state: str, waits: bool, kind: str, told: Any) -> Effect:
    if state in DEAF:
        return ([], state)
    if kind == "malformed":
        return ([{"refused": "MalformedMessage"}], state)
    if state == "open":
        return (told, state)
    if kind == "data":
        return ([{"embedder found": DATA}], "open")
    if kind == "none" or (kind == "opening" and state == "confirming"):
        return ([{"embedder found": None}], "open")
    if state == "confirming" or waits:
        return ([], "confirming")
    return ([{"embedder found": None}], "open")


# What a page posts to a host


def _for_host() -> Iterator[tuple[str, Message, Any]]:
    """Return each message, with its name and what comes of it in an open host: what it posts, or what its session gets.

    A malformed one has None, and the id whose sender gets an error.
    """
    yield "ready", READY, [{"posts": RENDER_DATA, "to": "peer"}]
    yield "ready, with more", {**READY, "messageId": 7, "payload": 7}, [{"posts": RENDER_DATA, "to": "peer"}]
    for id_ in (None, *IDS):
        answer = RENDER_DATA if id_ is None else {**RENDER_DATA, "messageId": id_}
        message = {"type": REQUEST["type"], "messageId": id_}
        yield f"a request for render data, {json.dumps(id_)}", message, [{"posts": answer, "to": "peer"}]
    yield "a request for render data with no id", {"type": REQUEST["type"], "messageId": {}}, ("malformed", None)
    sizes: list[Any] = [{}, {"height": 300}, {"width": 1.5, "height": 2}, {"height": 0, "more": 1}, {"width": None}]
    for size in sizes:
        params = {key: value for key, value in size.items() if value is not None and key != "more"}
        message = {"type": "ui-size-change", "payload": size}
        yield f"size {json.dumps(size)}", message, [{"received": _rpc(method="ui-size-change", params=params)}]
    for value in ("300px", True, [], {}):
        message = {"type": "ui-size-change", "payload": {"height": value}}
        yield f"a height that is {json.dumps(value)}", message, ("malformed", None)
    for kind, payload in PAYLOADS.items():
        yield kind, {"type": kind, "payload": payload}, [{"received": _rpc(method=kind, params=payload)}]
        for id_ in IDS:
            message = {"type": kind, "messageId": id_, "payload": payload}
            told = [{"received": _rpc(id=id_, method=kind, params=payload)}]
            yield f"{kind}, {json.dumps(id_)}", message, told
        message = {"type": kind, "messageId": None, "payload": payload}
        yield f"{kind}, null", message, [{"received": _rpc(method=kind, params=payload)}]
        for value in NO_IDS:
            answered = value if isinstance(value, int | float) and not isinstance(value, bool) else None
            waits = not isinstance(value, list | dict)
            message = {"type": kind, "messageId": value, "payload": payload}
            yield f"{kind} with the id {json.dumps(value)}", message, ("malformed", answered if waits else None)
        field = next(iter(payload))
        for value in (None, 7, [], {}):
            message = {"type": kind, "messageId": "x", "payload": {**payload, field: value}}
            yield f"{kind} whose {field} is {json.dumps(value)}", message, ("malformed", "x")
        for value in (None, 7, "text", []):
            message = {"type": kind, "messageId": "x", "payload": value}
            yield f"{kind} whose payload is {json.dumps(value)}", message, ("malformed", "x")
        if "params" in payload:
            for value in (7, "text", []):
                message = {"type": kind, "messageId": "x", "payload": {**payload, "params": value}}
                yield f"{kind} whose params are {json.dumps(value)}", message, ("malformed", "x")
            bare = {field: payload[field]}
            yield (
                f"{kind} without params",
                {"type": kind, "payload": bare},
                [{"received": _rpc(method=kind, params=bare)}],
            )


def _on_host_message(state: str, told: Any) -> Effect:
    if state in DEAF:
        return ([], state)
    if isinstance(told, tuple):
        _, id_ = told
        answers = [{"answers": id_, "code": -32600, "to": "peer"}] if state == "open" and id_ is not None else []
        return ([{"refused": "MalformedMessage"}, *answers], state)
    return ([*([{"opened": None}] if state == "awaiting" else []), *told], "open")


# What happens besides


def _local(inner: bool, state: str, local: str) -> Effect:
    gone: Effect = ([{"closed": "PeerGone"}], "closed")
    calls = [{"posts": READY, "to": "*"}, {"posts": REQUEST, "to": "*"}]
    match local:
        case "start":
            if state != "idle":
                return ([{"raises": "StateError"}], state)
            return (calls, "calling") if inner else ([], "awaiting")
        case "close":
            return ([{"closed": None}], "closed") if state != "closed" else ([], state)
        case "repeat is due":
            return (calls[1:], state) if state == "calling" else ([], state)
        case "deadline has passed":
            repeated = calls[1:] if state == "calling" else []
            waits = state in ("calling", "confirming")
            return ([*repeated, {"closed": "HandshakeTimeout"}], "closed") if waits else ([], state)
        case "send":  # a message of MCP, which has no form here
            sent = [] if inner else [{"refused": "MalformedMessage"}]
            return (sent if state == "open" else [{"raises": "StateError"}], state)
        case "send render data on load" | "send other render data":
            sent = DATA if local == "send render data on load" else {"theme": "light"}
            posted = [{"posts": {**RENDER_DATA, "payload": {"renderData": sent}}, "to": "peer"}]
            knows = not inner and state in ("awaiting", "open")
            return (posted if knows else [{"raises": "StateError"}], state)
        case "peer's document replaced":
            posted = [{"posts": RENDER_DATA, "to": "peer"}]
            return (posted if not inner and state not in DEAF else [], state)
        case "peer's window removed":
            return gone if state not in DEAF else ([], state)
    raise AssertionError(local)


LOCALS = (
    *("start", "repeat is due", "deadline has passed", "send", "send render data on load", "send other render data"),
    *("peer's document replaced", "peer's window removed", "close"),
)


def tables() -> Iterator[tuple[str, Table]]:
    """Return the files of this part, each with its name."""
    return state_tables(STATES, _cases)


def _cases(role: str) -> Iterator[dict[str, Any]]:
    return state_cases(STATES[role], _given_to_frame if role.startswith("inner") else _given_to_host)


def _given_to_frame(state: str) -> Given:
    for name, message, (kind, told) in _for_frame():
        yield name, {"message": message}, _on_frame_message(state, state == "confirming", kind, told)
        if state == "calling":
            effect = _on_frame_message(state, True, kind, told)
            yield f"{name}, to a page that waits", {"message": message, "waits": True}, effect
    for kind, payload in PAYLOADS.items():
        yield f"noise, {kind}", {"message": {"type": kind, "payload": payload}}, ([], state)
    yield from _others(True, state, RENDER_DATA)


def _given_to_host(state: str) -> Given:
    for name, message, told in _for_host():
        yield name, {"message": message}, _on_host_message(state, told)
    for kind in ("ui-message-received", "ui-message-response", RENDER_DATA["type"]):
        yield f"noise, {kind}", {"message": {"type": kind, "messageId": "1"}}, ([], state)
    yield from _others(False, state, READY)


def _others(inner: bool, state: str, first: Message) -> Given:
    for noise in NOISE:
        yield f"noise, {json.dumps(noise)}", {"message": noise}, ([], state)
    yield from strangers_and_locals(state, first["type"], first, lambda local: _local(inner, state, local), LOCALS)
