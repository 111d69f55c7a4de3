"""What the SEP says that each role does with a message, written down a second time: nothing here imports mcpframe.

A rule takes a valid message and returns `(outcome, next state)`. A message without a rule is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Message = dict[str, Any]
Effect = tuple[list[dict[str, Any]], str]
Rule = Callable[[Message], Effect]

SESSION = "5f0c1a52-2f0e-4a55-9d0e-6c1f3f7f6a10"
VERSION = "1.0"
MOST_TEXT = 4096

STATES = {
    "inner setup": ["idle", "calling", "setting up", "closed"],
    "inner transport": ["idle", "calling", "open", "closed"],
    "outer setup": ["idle", "awaiting", "setting up", "closed"],
    "outer transport": ["idle", "awaiting", "confirming", "open", "closed"],
}
DEAF = ("idle", "closed")

PERMISSION = {"name": "camera", "phase": ["setup"], "required": False, "purpose": "Scan a code"}
VARIANTS: dict[str, dict[str, Message]] = {
    "MCP_SETUP_HANDSHAKE": {
        "A, B": {"protocolVersion": "1.0", "requiresVisibleSetup": True},
        "C": {
            "minProtocolVersion": "1.0",
            "maxProtocolVersion": "1.2",
            "requiresVisibleSetup": False,
            "requestedPermissions": [PERMISSION],
        },
    },
    "MCP_SETUP_HANDSHAKE_REPLY": {"A, B, C": {"sessionId": SESSION, "protocolVersion": "1.0"}},
    "MCP_SETUP_COMPLETE": {
        "A": {
            "status": "success",
            "serverTitle": "Pi",
            "ephemeralMessage": "Ready",
            "transportVisibility": {"requirement": "optional", "optionalMessage": "See the points"},
        },
        "B, C": {
            "status": "success",
            "displayName": "Pi",
            "ephemeralMessage": "Ready",
            "transportVisibility": {"requirement": "optional", "description": "See the points"},
        },
        "a failure": {"status": "error", "serverTitle": "Pi", "error": {"code": "AUTH_FAILED", "message": "No"}},
    },
    "MCP_TRANSPORT_HANDSHAKE": {
        "A, B, C": {"protocolVersion": "1.0"},
        "a range": {"minProtocolVersion": "0.9", "maxProtocolVersion": "1.10"},
    },
    "MCP_TRANSPORT_HANDSHAKE_REPLY": {"A, B, C": {"sessionId": SESSION, "protocolVersion": "1.0"}},
    "MCP_TRANSPORT_ACCEPTED": {"A, B, C": {"sessionId": SESSION}},
    "MCP_SETUP_REQUIRED": {"A, B, C": {"reason": "AUTH_EXPIRED", "message": "Sign in again", "canContinue": False}},
    "MCP_MESSAGE": {
        "a request": {"payload": {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}},
        "a notification": {"payload": {"jsonrpc": "2.0", "method": "notifications/initialized"}},
        "an answer": {"payload": {"jsonrpc": "2.0", "id": 5, "result": {}}},
    },
}
"""Each message as the documents A, B and C have it, without its type."""


def example(kind: str) -> Message:
    """Return the first variant of a message."""
    return {"type": kind, **next(iter(VARIANTS[kind].values()))}


def posts(message: Message, to: str = "peer") -> dict[str, Any]:
    """Return the outcome: this is posted."""
    return {"posts": message, "to": to}


def _reply(kind: str) -> dict[str, Any]:
    return posts({"type": kind, "sessionId": SESSION, "protocolVersion": VERSION})


# Versions


def digits(version: str) -> tuple[int, int]:
    """Return a version as two numbers."""
    major, minor = version.split(".")
    return int(major), int(minor)


def speaks_ours(message: Message) -> bool:
    """Return whether the version of a handshake or a reply, or its range, has ours."""
    low, high = message.get("minProtocolVersion"), message.get("maxProtocolVersion")
    if low is None or high is None:
        low = high = message["protocolVersion"]
    return digits(low) <= digits(VERSION) <= digits(high)


# The end of a setup


def text(value: Any) -> str:
    """Return a text that is not too long, as JavaScript counts, and an empty one for anything else."""
    return value if isinstance(value, str) and len(value.encode("utf-16-le", "surrogatepass")) <= 2 * MOST_TEXT else ""


def _either(one: Any, other: Any) -> str:
    return text(other if one is None else one)


def completed(message: Message) -> dict[str, Any]:
    """Return what the host gets of an `MCP_SETUP_COMPLETE`, which is read leniently."""
    visibility = message.get("transportVisibility")
    visibility = visibility if isinstance(visibility, dict) else {}
    requirement = visibility.get("requirement")
    result: dict[str, Any] = {
        "title": _either(message.get("serverTitle"), message.get("displayName")),
        "visibility": requirement if requirement in ("required", "optional", "hidden") else "hidden",
    }
    if why := _either(visibility.get("optionalMessage"), visibility.get("description")):
        result["visibilityMessage"] = why
    if notice := text(message.get("ephemeralMessage")):
        result["ephemeralMessage"] = notice
    if message["status"] != "success":
        error = message.get("error")
        error = error if isinstance(error, dict) else {"message": error}
        cancelled = message["status"] in ("cancelled", "canceled")
        result["error"] = {
            "code": text(error.get("code")) or ("USER_CANCELLED" if cancelled else "CONFIG_ERROR"),
            "message": text(error.get("message")) or "The page gave no reason.",
        }
    return result


UNREADABLE = {"title": "", "visibility": "hidden", "error": {"code": "CONFIG_ERROR"}}
"""What the host gets of an `MCP_SETUP_COMPLETE` that is refused, without our own words."""


# The roles


def _call(phase: str) -> Message:
    if phase == "transport":
        return {"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": VERSION}
    return {
        "type": "MCP_SETUP_HANDSHAKE",
        "protocolVersion": VERSION,
        "minProtocolVersion": VERSION,
        "maxProtocolVersion": VERSION,
        "requiresVisibleSetup": False,
        "requestedPermissions": [],
    }


def _setup_failed(code: str) -> dict[str, Any]:
    return posts(
        {
            "type": "MCP_SETUP_COMPLETE",
            "status": "error",
            "serverTitle": "",
            "displayName": "",
            "transportVisibility": {"requirement": "hidden"},
            "error": {"code": code},
        }
    )


def _inner_setup_reply(message: Message) -> Effect:
    if not speaks_ours(message):
        return [_setup_failed("VERSION_MISMATCH"), {"closed": "VersionMismatch"}], "closed"
    return [{"setup started": {"visible": False}}], "setting up"


def _inner_transport_reply(message: Message) -> Effect:
    if not speaks_ours(message):
        return [{"closed": "VersionMismatch"}], "closed"
    session = message["sessionId"]
    return [posts({"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": session}), {"opened": session}], "open"


def _setup_handshake(message: Message) -> Effect:
    if not speaks_ours(message):
        return [{"closed": "VersionMismatch"}], "closed"
    if any(permission.get("required") for permission in message.get("requestedPermissions") or []):
        return [{"closed": "PermissionsDenied"}], "closed"
    started = {"setup started": {"visible": message["requiresVisibleSetup"]}}
    return [_reply("MCP_SETUP_HANDSHAKE_REPLY"), started], "setting up"


def _handshake(message: Message) -> Effect:
    if not speaks_ours(message):
        return [{"closed": "VersionMismatch"}], "closed"
    return [_reply("MCP_TRANSPORT_HANDSHAKE_REPLY")], "confirming"


def _again(kind: str, state: str) -> Rule:
    def rule(message: Message) -> Effect:
        return ([_reply(kind)] if speaks_ours(message) else [{"refused": "UnexpectedMessage"}]), state

    return rule


def _accepted(message: Message) -> Effect:
    if message["sessionId"] != SESSION:
        return [{"refused": "UnexpectedMessage"}], "confirming"
    return [{"opened": SESSION}], "open"


def _setup_required(message: Message) -> Effect:
    return [{"setup required": {name: message[name] for name in ("reason", "message", "canContinue")}}], "open"


def _received(message: Message) -> Effect:
    return [{"received": message["payload"]}], "open"


RULES: dict[str, dict[str, dict[str, Rule]]] = {
    "inner setup": {
        "calling": {"MCP_SETUP_HANDSHAKE_REPLY": _inner_setup_reply},
        "setting up": {"MCP_SETUP_HANDSHAKE_REPLY": lambda _: ([], "setting up")},
    },
    "inner transport": {
        "calling": {"MCP_TRANSPORT_HANDSHAKE_REPLY": _inner_transport_reply},
        "open": {"MCP_TRANSPORT_HANDSHAKE_REPLY": lambda _: ([], "open"), "MCP_MESSAGE": _received},
    },
    "outer setup": {
        "awaiting": {"MCP_SETUP_HANDSHAKE": _setup_handshake},
        "setting up": {
            "MCP_SETUP_HANDSHAKE": _again("MCP_SETUP_HANDSHAKE_REPLY", "setting up"),
            "MCP_SETUP_COMPLETE": lambda message: ([{"set up": completed(message)}, {"closed": None}], "closed"),
        },
    },
    "outer transport": {
        "awaiting": {"MCP_TRANSPORT_HANDSHAKE": _handshake},
        "confirming": {
            "MCP_TRANSPORT_HANDSHAKE": _again("MCP_TRANSPORT_HANDSHAKE_REPLY", "confirming"),
            "MCP_TRANSPORT_ACCEPTED": _accepted,
        },
        "open": {
            "MCP_TRANSPORT_HANDSHAKE": lambda _: ([{"closed": "PeerGone"}], "closed"),
            "MCP_TRANSPORT_ACCEPTED": lambda _: ([], "open"),
            "MCP_SETUP_REQUIRED": _setup_required,
            "MCP_MESSAGE": _received,
        },
    },
}
READS = {role: sorted({kind for rules in states.values() for kind in rules}) for role, states in RULES.items()}
"""The messages that the peer of each role sends: only of these the fields are looked at."""


def effect(role: str, state: str, message: Message) -> Effect:
    """Return what comes of a message that is valid."""
    if state in DEAF:
        return [], state
    rule = RULES[role][state].get(message["type"])
    return rule(message) if rule else ([{"refused": "UnexpectedMessage"}], state)


def refusal(role: str, state: str, kind: str, error: str, *waits: dict[str, Any]) -> Effect:
    """Return what comes of a message that is refused.

    Args:
        role: who refuses it.
        state: where the role is.
        kind: the type of the message.
        error: the name of the error.
        waits: what an open session does for whoever waits for the `MCP_MESSAGE`.
    """
    if state in DEAF:
        return [], state
    outcome = [{"refused": error}]
    if kind == "MCP_MESSAGE" and state == "open":
        return [*outcome, *waits], state
    if kind == "MCP_SETUP_COMPLETE" and (role, state) == ("outer setup", "setting up"):
        return [*outcome, {"set up": UNREADABLE}, {"closed": None}], "closed"
    return outcome, state


# What happens besides messages

DEMANDS = ("start", "send", "complete setup", "require setup")
"""Local calls that raise a `StateError` where they have no place."""
HAPPENINGS = ("repeat is due", "deadline has passed", "peer's document replaced", "peer's window removed", "close")


def local_effect(role: str, state: str, local: str) -> Effect:
    """Return what comes of a local call, or of something that happens besides messages."""
    side, phase = role.split()
    call = posts(_call(phase), "*")
    done = {
        "type": "MCP_SETUP_COMPLETE",
        "status": "success",
        "serverTitle": "Pi",
        "displayName": "Pi",
        "transportVisibility": {"requirement": "hidden"},
    }
    required = {"type": "MCP_SETUP_REQUIRED", "reason": "OTHER", "message": "again", "canContinue": True}
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    effects: dict[tuple[str, str], Effect] = {
        ("idle", "start"): ([call], "calling") if side == "inner" else ([], "awaiting"),
        ("calling", "repeat is due"): ([call], "calling"),
        ("calling", "deadline has passed"): ([call, {"closed": "HandshakeTimeout"}], "closed"),
        ("awaiting", "deadline has passed"): ([{"closed": "HandshakeTimeout"}], "closed"),
        ("confirming", "deadline has passed"): ([{"closed": "HandshakeTimeout"}], "closed"),
        ("open", "send"): ([posts({"type": "MCP_MESSAGE", "payload": note})], "open"),
        ("open", "peer's document replaced"): ([{"closed": "PeerGone"}], "closed"),
    }
    if side == "inner":
        effects["setting up", "complete setup"] = ([posts(done), {"closed": None}], "closed")
        effects["open", "require setup"] = ([posts(required)], "open")
    if state != "closed":
        effects[state, "close"] = ([{"closed": None}], "closed")
    if state not in DEAF:
        effects[state, "peer's window removed"] = ([{"closed": "PeerGone"}], "closed")
    if state == "setting up":
        effects[state, "deadline has passed"] = late_setup(role)
    refused: Effect = ([{"raises": "StateError"}] if local in DEMANDS else [], state)
    return effects.get((state, local), refused)


def late_setup(role: str) -> Effect:
    """Return what comes of a setup whose deadline (`setup_timeout`) passes."""
    ended = {"closed": "HandshakeTimeout"}
    return ([_setup_failed("TIMEOUT"), ended] if role == "inner setup" else [ended]), "closed"
