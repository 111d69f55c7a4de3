"""MCP-B: every payload, every noise and everything local, in every state of the four roles.

What is expected is written down a second time, from the checklist: nothing here imports mcpframe.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.vectors.generate.writing import DEAF, Effect, Given, Table, state_cases, state_tables, strangers_and_locals

Message = dict[str, Any]

STATES = {
    "inner transport": ["idle", "calling", "open", "closed"],
    "inner tab": ["idle", "calling", "open", "closed"],
    "outer transport": ["idle", "awaiting", "open", "closed"],
    "outer tab": ["idle", "awaiting", "open", "closed"],
}
WAITING = ("calling", "awaiting")
CHECK, READY, STOPPED = "mcp-check-ready", "mcp-server-ready", "mcp-server-stopped"
DIRECTIONS = {"inner": ("client-to-server", "server-to-client"), "outer": ("server-to-client", "client-to-server")}
PING = {"jsonrpc": "2.0", "id": "mcpframe/ping", "method": "ping"}

JSON_RPC: dict[str, Message] = {
    "a request": {"jsonrpc": "2.0", "id": 7, "method": "tools/list"},
    "a request with a text as id": {"jsonrpc": "2.0", "id": "7", "method": "initialize", "params": {}},
    "a notification": {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
    "an unknown method": {"jsonrpc": "2.0", "id": 7, "method": "browser/executeTool", "params": {"toolName": "a"}},
    "an answer": {"jsonrpc": "2.0", "id": 5, "result": {}},
    "an error": {"jsonrpc": "2.0", "id": 5, "error": {"code": -32601, "message": "no"}},
    "an error without a request": {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no"}},
    "a member of tomorrow": {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "of": "tomorrow"},
}
PONG: dict[str, Message] = {
    "the answer to our ping": {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}},
    "an error for our ping": {"jsonrpc": "2.0", "id": "mcpframe/ping", "error": {"code": -32601, "message": "no"}},
}
MALFORMED: dict[str, tuple[Any, Any]] = {
    "a text that is not a signal": ("mcp-server-sleepy", None),
    "an empty text": ("", None),
    "null": (None, None),
    "a number": (7, None),
    "a list": ([], None),
    "an empty object": ({}, None),
    "a batch": ([{"jsonrpc": "2.0", "id": 7, "method": "m"}], None),
    "JSON text": ('{"jsonrpc":"2.0","id":7,"method":"m"}', None),
    "another version": ({"jsonrpc": "1.0", "id": 7, "method": "m"}, 7),
    "no version": ({"id": 7, "method": "m"}, 7),
    "params that are a list": ({"jsonrpc": "2.0", "id": 7, "method": "m", "params": []}, 7),
    "null params": ({"jsonrpc": "2.0", "id": 7, "method": "m", "params": None}, 7),
    "a method that is a number": ({"jsonrpc": "2.0", "id": 7, "method": 7}, 7),
    "null as id": ({"jsonrpc": "2.0", "id": None, "method": "m"}, None),
    "a fraction as id": ({"jsonrpc": "2.0", "id": 1.5, "method": "m"}, None),
    "a result and an error": ({"jsonrpc": "2.0", "id": 5, "result": {}, "error": {"code": 1, "message": "m"}}, None),
}
"""Each with the id that an open side answers; None where nobody could take the answer."""


class Side:
    """A role, and the envelope of its messages."""

    def __init__(self, role: str) -> None:
        self.role = role
        self.inner = role.startswith("inner")
        self.tab = role.endswith("tab")
        self.channel = "mcp-default" if self.tab else "mcp-iframe"
        self.reads, self.writes = DIRECTIONS[role.split()[0]]

    def hears(self, payload: Any) -> Message:
        return {"channel": self.channel, "type": "mcp", "direction": self.reads, "payload": payload}

    def posts(self, payload: Any, to: str = "peer") -> dict[str, Any]:
        message = {"channel": self.channel, "type": "mcp", "direction": self.writes, "payload": payload}
        return {"posts": message, "to": to}

    def json_rpc(self, state: str, payload: Message) -> Effect:
        if state in DEAF:
            return ([], state)
        return ([*([{"opened": None}] if state in WAITING else []), {"received": payload}], "open")

    def pong(self, state: str, payload: Message) -> Effect:
        if self.inner or state in DEAF:
            return self.json_rpc(state, payload)
        return ([{"opened": None}] if state in WAITING else [], "open")

    def signal(self, state: str, signal: str) -> Effect:
        if state in DEAF:
            return ([], state)
        if self.inner and signal == CHECK:
            return ([self.posts(READY)], state)
        if not self.inner and signal == READY:
            return ([{"opened": None}] if state in WAITING else [], "open")
        if not self.inner and signal == STOPPED:
            return ([], state) if state in WAITING else ([{"closed": "PeerGone"}], "closed")
        return self.malformed(state, None)

    def malformed(self, state: str, id_: Any) -> Effect:
        if state in DEAF:
            return ([], state)
        answers = [{"answers": id_, "code": -32600, "to": "peer"}] if state == "open" and id_ is not None else []
        return ([{"refused": "MalformedMessage"}, *answers], state)

    def noise(self) -> Iterator[tuple[str, Any]]:
        check = self.hears(CHECK if self.inner else READY)
        request = self.hears(JSON_RPC["a request"])
        for name in ("channel", "type", "direction", "payload"):
            yield f"no {name}", {key: value for key, value in request.items() if key != name}
        yield "its own message", {**request, "direction": self.writes}
        yield "its own signal", {**check, "direction": self.writes}
        yield "another channel", {**request, "channel": "mcp-iframe" if self.tab else "mcp-default"}
        yield "a channel that is a list", {**request, "channel": [self.channel]}
        yield "another type", {**request, "type": "MCP"}
        yield "another direction", {**request, "direction": "sideways"}
        yield "its JSON text", json.dumps(request)
        yield "in a list", [request]
        for value in (None, True, 7, "", "mcp-check-ready", [], {}):
            yield json.dumps(value), value
        yield "of the SEP", {"type": "MCP_MESSAGE", "payload": JSON_RPC["a request"]}
        yield "of MCP Apps", {"jsonrpc": "2.0", "id": 1, "method": "ui/initialize"}

    def local(self, state: str, local: str) -> Effect:
        gone: Effect = ([{"closed": "PeerGone"}], "closed")
        check, ping = self.posts(CHECK), self.posts(PING)
        match local:
            case "start":
                if state != "idle":
                    return ([{"raises": "StateError"}], state)
                if self.inner:
                    return ([self.posts(READY, "*")], "calling")
                return ([check] if self.tab else [], "awaiting")
            case "close":
                tells = self.inner and (state == "open" or (state == "calling" and self.tab))
                said = [self.posts(STOPPED, "peer" if state == "open" else "*")] if tells else []
                return ([*said, {"closed": None}], "closed") if state != "closed" else ([], state)
            case "repeat is due":
                return ([check, ping], state) if state == "awaiting" else ([], state)
            case "deadline has passed":
                if state == "awaiting":
                    return ([check, ping, {"closed": "HandshakeTimeout"}], "closed")
                waits = state == "calling" and not self.tab
                return ([{"closed": "HandshakeTimeout"}], "closed") if waits else ([], state)
            case "send":
                sent = self.posts({"jsonrpc": "2.0", "method": "notifications/initialized"})
                return ([sent] if state == "open" else [{"raises": "StateError"}], state)
            case "peer's document replaced":
                return gone if state == "open" and not self.inner else ([], state)
            case "peer's window removed":
                return gone if state not in DEAF else ([], state)
        raise AssertionError(local)


def tables() -> Iterator[tuple[str, Table]]:
    """Return the files of this part, each with its name."""
    return state_tables(STATES, lambda role: _cases(Side(role)), "payload")


def _cases(side: Side) -> Iterator[dict[str, Any]]:
    return state_cases(STATES[side.role], lambda state: _given(side, state))


def _given(side: Side, state: str) -> Given:
    for signal in (CHECK, READY, STOPPED):
        yield signal, {"message": side.hears(signal)}, side.signal(state, signal)
        with_more = {**side.hears(signal), "of": "tomorrow"}
        yield f"{signal}, with a member of tomorrow", {"message": with_more}, side.signal(state, signal)
    for name, payload in JSON_RPC.items():
        yield name, {"message": side.hears(payload)}, side.json_rpc(state, payload)
    for name, payload in PONG.items():
        yield name, {"message": side.hears(payload)}, side.pong(state, payload)
    for name, (malformed, id_) in MALFORMED.items():
        yield f"payload, {name}", {"message": side.hears(malformed)}, side.malformed(state, id_)
    for name, noise in side.noise():
        yield f"noise, {name}", {"message": noise}, ([], state)
    first = side.hears(CHECK if side.inner else READY)
    yield from strangers_and_locals(state, "the first signal", first, lambda local: side.local(state, local))
