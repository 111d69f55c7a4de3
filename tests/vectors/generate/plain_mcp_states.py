"""Plain MCP: every message, every noise and everything local, in every state of the three roles.

What is expected is written down a second time: nothing here imports mcpframe.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.vectors.generate.writing import DEAF, STRANGERS, Effect, Given, Table, state_cases, state_tables

Message = dict[str, Any]

STATES = {
    "inner transport": ["idle", "awaiting", "open", "closed"],
    "inner transport of a client": ["idle", "calling", "open", "closed"],
    "outer transport": ["idle", "awaiting", "open", "closed"],
}
NOBODY = object()
PING = {"jsonrpc": "2.0", "id": "mcpframe/ping", "method": "ping"}
REVISION = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}

FIRST: dict[str, Message] = {
    "initialize": {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {}},
    "initialize with a text as id": {"jsonrpc": "2.0", "id": "7", "method": "initialize"},
    "server/discover": {"jsonrpc": "2.0", "id": 7, "method": "server/discover", "params": {}},
    "a request of the newest era": {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": REVISION},
    "initialize with a member of tomorrow": {"jsonrpc": "2.0", "id": 7, "method": "initialize", "of": "tomorrow"},
}
LATER: dict[str, Message] = {
    "a request of an older era": {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {}},
    "a ping without an id": {"jsonrpc": "2.0", "method": "ping"},
    "a request with odd _meta": {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": 7}},
    "a notification": {"jsonrpc": "2.0", "method": "notifications/initialized"},
    "a notification of the newest era": {"jsonrpc": "2.0", "method": "notifications/progress", "params": REVISION},
    "a request of MCP Apps": {"jsonrpc": "2.0", "id": 7, "method": "ui/initialize", "params": {}},
    "an answer": {"jsonrpc": "2.0", "id": 5, "result": {}},
    "an error": {"jsonrpc": "2.0", "id": 5, "error": {"code": -32601, "message": "no"}},
}
FOREIGN: dict[str, Message] = {
    "an error for ui/initialize": {
        "jsonrpc": "2.0",
        "id": "mcpframe/initialize",
        "error": {"code": -32601, "message": "Method not found"},
    },
}
"""Answers to what the page posts in other dialects: noise at a server."""
PONG: dict[str, Message] = {
    "the answer to our ping": {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}},
    "an error for our ping": {"jsonrpc": "2.0", "id": "mcpframe/ping", "error": {"code": -32601, "message": "no"}},
}
MALFORMED: dict[str, tuple[Message, Any]] = {
    "an empty object with a version": ({"jsonrpc": "2.0"}, NOBODY),
    "params that are a list": ({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": []}, 7),
    "null params": ({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": None}, 7),
    "a method that is a number": ({"jsonrpc": "2.0", "id": 7, "method": 7}, 7),
    "null as id": ({"jsonrpc": "2.0", "id": None, "method": "initialize"}, None),
    "a fraction as id": ({"jsonrpc": "2.0", "id": 1.5, "method": "initialize"}, 1.5),
    "a request named as a notification": ({"jsonrpc": "2.0", "id": 7, "method": "notifications/cancelled"}, 7),
    "a result and an error": ({"jsonrpc": "2.0", "id": 5, "result": {}, "error": {"code": 1, "message": "m"}}, NOBODY),
}
"""Each with the id that an open side answers; `NOBODY` for what is no request."""
NOISE: list[Any] = [
    *(None, True, 7, "", "init", [], {}),
    {"source": "ozwell-chat-widget", "type": "ready"},
    {"type": "MCP_MESSAGE", "payload": FIRST["initialize"]},
    {"jsonrpc": "1.0", "id": 7, "method": "initialize"},
    {"id": 7, "method": "initialize"},
    [FIRST["initialize"]],
    json.dumps(FIRST["initialize"]),
    {"channel": "mcp-iframe", "type": "mcp", "direction": "client-to-server", "payload": FIRST["initialize"]},
]
LOCALS = (
    *("start", "repeat is due", "deadline has passed", "send", "a port was handed over"),
    *("peer's document replaced", "peer's window removed", "close"),
)


class Side:
    """What a role does in a state."""

    def __init__(self, role: str) -> None:
        self.role = role
        self.inner = role.startswith("inner")
        self.serves = role == "inner transport"
        self.opens = role != "inner transport of a client"
        self.asks = not self.serves

    def first(self, state: str, message: Message) -> Effect:
        if self.opens and state == "awaiting":
            return ([{"opened": None}, {"received": message}], "open")
        return self.later(state, message)

    def later(self, state: str, message: Message) -> Effect:
        if state == "open":
            return ([{"received": message}], state)
        waits = state == "awaiting" and not self.inner
        return ([] if state in DEAF or waits else [{"refused": "UnexpectedMessage"}], state)

    def foreign(self, state: str, message: Message) -> Effect:
        return ([], state) if self.serves else self.later(state, message)

    def ping(self, state: str, message: Message) -> Effect:
        if state == "open" and message["id"] != PING["id"]:
            return self.later(state, message)
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {}}
        return ([] if state in DEAF else [{"posts": answer, "to": "peer"}], state)

    def pong(self, state: str, message: Message) -> Effect:
        if self.serves or state in DEAF:
            return ([], state)
        return ([{"opened": None}] if state != "open" else [], "open")

    def over_port(self, state: str, message: Message) -> Effect:
        """Return what comes of a message over a port that was handed over in this state."""
        if state not in ("awaiting", "calling"):
            return ([], state)
        if message is PING:
            return ([{"posts": {"jsonrpc": "2.0", "id": PING["id"], "result": {}}, "to": "port"}], state)
        if message in FIRST.values() or (self.opens and message.get("method") == "tools/list" and "id" in message):
            return self.first(state, message)
        return self.pong(state, message) if message in PONG.values() else self.later(state, message)

    def malformed(self, state: str, id_: Any) -> Effect:
        if state in DEAF:
            return ([], state)
        answers = [{"answers": id_, "code": -32600, "to": "peer"}] if state == "open" and id_ is not NOBODY else []
        return ([{"refused": "MalformedMessage"}, *answers], state)

    def local(self, state: str, local: str) -> Effect:
        gone: Effect = ([{"closed": "PeerGone"}], "closed")
        probes = [{"posts": PING, "to": "peer"}] if self.asks and state in ("awaiting", "calling") else []
        match local:
            case "start":
                if state != "idle":
                    return ([{"raises": "StateError"}], state)
                return (probes_first(self), "awaiting" if self.opens else "calling")
            case "close":
                return ([{"closed": None}], "closed") if state != "closed" else ([], state)
            case "repeat is due":
                return (probes, state)
            case "deadline has passed":
                ends = state in ("awaiting", "calling")
                return ([*probes, {"closed": "HandshakeTimeout"}], "closed") if ends else ([], state)
            case "send":
                sent = {"posts": {"jsonrpc": "2.0", "method": "notifications/initialized"}, "to": "peer"}
                return ([sent] if state == "open" else [{"raises": "StateError"}], state)
            case "a port was handed over":
                takes = state in ("awaiting", "calling")
                asks = [{"posts": PING, "to": "port"}] if self.asks else []
                return ([{"attends": True}, *asks] if takes else [], state)
            case "peer's document replaced":
                return gone if state == "open" and not self.inner else ([], state)
            case "peer's window removed":
                return gone if state not in DEAF else ([], state)
        raise AssertionError(local)


def probes_first(side: Side) -> list[dict[str, Any]]:
    """Return what a role posts at its start: a host waits until the page has loaded."""
    return [] if side.opens else [{"posts": PING, "to": "peer"}]


def tables() -> Iterator[tuple[str, Table]]:
    """Return the files of this part, each with its name."""
    return state_tables(STATES, lambda role: _cases(Side(role)))


def _cases(side: Side) -> Iterator[dict[str, Any]]:
    return state_cases(STATES[side.role], lambda state: _given(side, state))


def _given(side: Side, state: str) -> Given:
    for name, message in FIRST.items():
        yield name, {"message": message}, side.first(state, message)
    for name, message in LATER.items():
        yield name, {"message": message}, side.later(state, message)
    for name, message in FOREIGN.items():
        yield name, {"message": message}, side.foreign(state, message)
    yield "our probe", {"message": PING}, side.ping(state, PING)
    yield "another ping", {"message": {**PING, "id": 7}}, side.ping(state, {**PING, "id": 7})
    for name, message in PONG.items():
        yield name, {"message": message}, side.pong(state, message)
    for name, (message, id_) in MALFORMED.items():
        yield name, {"message": message}, side.malformed(state, id_)
    for noise in NOISE:
        yield f"noise, {json.dumps(noise)}", {"message": noise}, ([], state)
    if state == "open":
        again = {**FIRST["initialize"], "id": "again"}
        yield "initialize as the one that waits", {"before": [again], "message": again}, ([], state)
    first = FIRST["initialize"] if side.serves else PONG["the answer to our ping"]
    for stranger, error in STRANGERS.items():
        outcome = [{"refused": error}] if error and state not in DEAF else []
        yield f"the first message from {stranger}", {"from": stranger, "message": first}, (outcome, state)
    for name, message in {**FIRST, **PONG, **LATER}.items():
        yield f"{name}, over a port", {"from": "port", "message": message}, side.over_port(state, message)
    yield "a ping over a port", {"from": "port", "message": PING}, side.over_port(state, PING)
    yield "noise over a port", {"from": "port", "message": "init"}, ([], state)
    for local in LOCALS:
        yield local, {"do": local}, side.local(state, local)
    if state == "awaiting" and not side.inner:
        due = "repeat is due"
        outcome = [{"posts": PING, "to": "peer"}, {"hands over": "init", "to": "peer"}]
        yield f"{due}, the second time", {"before": [due], "do": due}, (outcome, state)
