"""Play a case on a Python role: bring a connection into the state, let it hear the message, describe its outputs.

This is the one file of the vectors that knows the API of `Connection`.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from mcpframe.frame.core.connection import Candidate, Connection, Options, parse_allowed_origins
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.events import Closed, Inbound, Opened, Output, Received, Refused, Send, Unreadable
from mcpframe.frame.core.origins import ANY
from mcpframe.frame.core.roles import Role
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.dialects.sep.offers import HostOffer
from mcpframe.frame.setup_phase import SetupCompleted, SetupRequired, SetupStarted
from tests.support.sep import do
from tests.vectors.cases import Case, Result, roles

ROLES: dict[str, dict[str, Role]] = {"sep": {f"{role.side} {role.phase}": role for role in sep.ROLES}}
"""The roles by dialect and name."""

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
    connection = _connection(case, dialect, table["session"], peer)
    for step in [*about["states"][case["state"]], *case.get("before", ())]:
        if isinstance(step, str):
            do(connection, step)
        else:
            _hear(connection, _text(step), peer)
    assert connection.state == case["state"], (connection.state, case["name"])
    for id_ in case.get("asked", ()):
        request = {"jsonrpc": "2.0", "id": id_, "method": "ask"}
        connection.send(json.dumps(request), request, 0.0)
    try:
        outputs = _read(connection, text, peer) if "make" in case else _act(connection, case, peer)
    except StateError:
        return {"outcome": [{"raises": "StateError"}], "next": str(connection.state)}
    heard = case.get("message")
    described = [_described(output, heard, peer) for output in outputs]
    return {"outcome": [each for each in described if each], "next": str(connection.state)}


def _connection(case: Case, dialect: str, session: str, peer: str) -> Connection:
    role = ROLES[dialect][case["role"]]
    allowed = parse_allowed_origins([], opaque=True) if case.get("opaque") else parse_allowed_origins([peer])
    granted = frozenset(case.get("granted", ()))
    offer = HostOffer(session_id=session, granted=granted) if role.side == "outer" else None
    return Connection([Candidate(role, allowed, offer)], options=Options(**case.get("options", {})))


def _act(connection: Connection, case: Case, peer: str) -> list[Output]:
    if case.get("do") == "send" and "payload" in case:
        return connection.send(_text(case["payload"]), case["payload"], 0.0)
    if "do" in case:
        return do(connection, case["do"])
    text = case["text"] if "text" in case else _text(case["message"])
    match case.get("from", "peer"):
        case "another window":
            return connection.receive(Inbound(peer, False, lambda: text), 0.0)
        case "another origin":
            return _hear(connection, text, STRANGER)
        case "opaque origin":
            return _hear(connection, text, "null")
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


def _described(output: Output, heard: Any, peer: str) -> dict[str, Any] | None:
    match output:
        case Refused():
            return {"refused": type(output.error).__name__}
        case Received(payload=payload):
            error = payload.get("error")
            answered = isinstance(heard, dict) and heard.get("payload") == payload
            if error and not answered and error["code"] in (-32603, -32000):
                return {"fails": payload["id"], "code": error["code"]}
            return {"received": payload}
        case SetupStarted():
            return {"setup started": {"visible": output.requires_visible}}
        case SetupRequired():
            about = {"reason": output.reason, "message": output.message, "canContinue": output.can_continue}
            return {"setup required": about}
        case SetupCompleted():
            return {"set up": _set_up(output)}
        case Opened():
            return {"opened": output.session_id}
        case Closed():
            return {"closed": type(output.error).__name__ if output.error else None}
        case Send():
            return _posted(output, peer)
    raise AssertionError(output)


def _posted(output: Send, peer: str) -> dict[str, Any]:
    assert output.target_origin == (ANY if peer == "null" else peer) or output.target_origin == ANY
    to = "*" if output.target_origin == ANY else "peer"
    message = json.loads(output.text)
    payload = message.get("payload", {})
    if "error" in payload:
        return {"answers": payload["id"], "code": payload["error"]["code"], "to": to}
    message.get("error", {}).pop("message", None)  # in our own words
    return {"posts": message, "to": to}


def _set_up(output: SetupCompleted) -> dict[str, Any]:
    result = output.result
    described: dict[str, Any] = {"title": result.title, "visibility": result.visibility}
    optional = {"visibilityMessage": result.visibility_message, "ephemeralMessage": result.ephemeral_message}
    described |= {name: value for name, value in optional.items() if value}
    if result.error_code:
        described["error"] = {"code": result.error_code, "message": result.error_message}
        if "cannot be read" in (result.error_message or ""):
            del described["error"]["message"]  # in our own words
    return described
