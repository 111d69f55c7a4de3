"""Play a case on a Python role: bring a connection into the state, let it hear the message, describe its outputs.

This is the one file of the vectors that knows the API of `Connection`; `parts.py` has what differs by dialect.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from mcpframe.frame.core.allowed_origins import ANY
from mcpframe.frame.core.connection import Candidate, Connection, Options, parse_allowed_origins
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.events import Attend, Closed, Inbound, Output, Received, Refused, Send, Unreadable
from mcpframe.frame.core.roles import State
from tests.support.fake_window import FakePort, handing_over
from tests.vectors.cases import Case, Result, roles
from tests.vectors.parts import Parts, parts

STRANGER = "https://stranger.example"

_SURROGATE = re.compile("[\ud800-\udfff]")
_roles = cache(roles)


def play(case: Case, dialect: str = "sep", *, text: Any = None) -> Result:
    """Return the outcome of a case, and the state that it leads to.

    Args:
        case: the case.
        dialect: whose it is.
        text: for a case with a `make`: what a page hands to Python of it, as `textOrReason` of host-json.js returns it.
    """
    table = _roles(dialect)
    about = table["roles"][case["role"]]
    peer = "null" if case.get("opaque") else about["peer"]
    spoken = parts(dialect)
    connection = _connection(case, spoken, table["session"], peer)
    for step in [*about["states"][case["state"]], *case.get("before", ())]:
        if isinstance(step, str):
            spoken.do(connection, step)
        else:
            _hear(connection, _text(step), peer)
    assert connection.state == case["state"], (connection.state, case["name"])
    for id_ in case.get("asked", ()):
        request = {"jsonrpc": "2.0", "id": id_, "method": "ask"}
        connection.send(json.dumps(request), request, 0.0)
    try:
        outputs = _read(connection, text, peer) if "make" in case else _act(connection, case, spoken, peer)
    except StateError:
        return {"outcome": [{"raises": "StateError"}], "next": str(connection.state)}
    heard = spoken.json_rpc(case.get("message"))
    return {"outcome": [_described(output, spoken, heard, peer) for output in outputs], "next": str(connection.state)}


def _connection(case: Case, spoken: Parts, session: str, peer: str) -> Connection:
    role = spoken.roles[case["role"]]
    allowed = parse_allowed_origins([], opaque=True) if case.get("opaque") else parse_allowed_origins([peer])
    candidate = Candidate(role, allowed, spoken.offer(role, case, session))
    return Connection([candidate], options=Options(**case.get("options", {})))


def _act(connection: Connection, case: Case, spoken: Parts, peer: str) -> list[Output]:
    if case.get("do") == "send" and "payload" in case:
        return connection.send(_text(case["payload"]), case["payload"], 0.0)
    if "do" in case:
        return spoken.do(connection, case["do"])
    text = case["text"] if "text" in case else _text(case["message"])
    match case.get("from", "peer"):
        case "another window":
            return connection.receive(Inbound(peer, False, lambda: text), 0.0)
        case "another origin":
            return _hear(connection, text, STRANGER)
        case "opaque origin":
            return _hear(connection, text, "null")
        case "port":
            port = FakePort()
            if connection.role.side == "inner":
                connection.receive(handing_over(port, origin=peer), 0.0)
            elif connection.state is State.AWAITING:
                connection.handed_over(port, peer, 0.0)
            return connection.receive(Inbound(peer, True, lambda: text, port), 0.0)
    return _hear(connection, text, peer)


def _read(connection: Connection, text: Any, origin: str) -> list[Output]:
    def read() -> str:
        if isinstance(text, str):
            return text
        raise ValueError("nothing in JSON") if text is None else Unreadable(*text)

    return connection.receive(Inbound(origin, True, read), 0.0)


def _hear(connection: Connection, text: str, origin: str) -> list[Output]:
    return connection.receive(Inbound(origin, True, lambda: text), 0.0)


def _text(message: Any) -> str:
    """Return a message as `JSON.stringify` writes it."""
    text = json.dumps(_in_javascript(message), separators=(",", ":"), ensure_ascii=False)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _in_javascript(value: Any) -> Any:
    """Return a value in which 7.0 is 7."""
    if isinstance(value, dict):
        return {key: _in_javascript(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_in_javascript(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e21 else value


def _described(output: Output, spoken: Parts, heard: Any, peer: str) -> dict[str, Any]:
    match output:
        case Refused():
            return {"refused": type(output.error).__name__}
        case Received(payload=payload):
            error = payload.get("error")
            if error and payload != heard and error["code"] in (-32603, -32000):
                return {"fails": payload["id"], "code": error["code"]}
            return {"received": payload}
        case Closed():
            return {"closed": type(output.error).__name__ if output.error else None}
        case Attend():
            return {"attends": output.origin is not None}
        case Send():
            return _posted(output, spoken, peer)
    return spoken.described(output)


def _posted(output: Send, spoken: Parts, peer: str) -> dict[str, Any]:
    assert output.target_origin in (ANY, peer)
    to = "port" if output.port else "*" if output.target_origin == ANY else "peer"
    message = json.loads(output.text)
    if output.hands_over:
        return {"hands over": message, "to": to}
    payload = spoken.json_rpc(message) or {}
    if "error" in payload:
        return {"answers": payload["id"], "code": payload["error"]["code"], "to": to}
    return {"posts": spoken.without_prose(message), "to": to}
