"""One valid message of each SEP type in each dialect, and the way into each state of each role."""

from __future__ import annotations

from typing import Any

from mcpframe.frame.core.connection import AllowedOrigins, Candidate, Connection, Options, parse_allowed_origins
from mcpframe.frame.core.events import Output
from mcpframe.frame.core.roles import Role, State
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.dialects.sep.offers import HostOffer
from tests.support.driving import REQUEST
from tests.support.fake_window import inbound

HOST = "https://chat.example"
FRAME = "https://tools.example"
SESSION = "5f0c1a52-2f0e-4a55-9d0e-6c1f3f7f6a10"

SETUP_HANDSHAKES = {
    "A, B": {"type": "MCP_SETUP_HANDSHAKE", "protocolVersion": "1.0", "requiresVisibleSetup": True},
    "C": {
        "type": "MCP_SETUP_HANDSHAKE",
        "minProtocolVersion": "1.0",
        "maxProtocolVersion": "1.2",
        "requiresVisibleSetup": True,
        "requestedPermissions": [{"name": "camera", "phase": ["setup"], "required": True, "purpose": "Scan a code"}],
    },
}
SETUP_COMPLETES = {
    "A": {
        "type": "MCP_SETUP_COMPLETE",
        "status": "success",
        "serverTitle": "Pi",
        "ephemeralMessage": "Ready",
        "transportVisibility": {"requirement": "optional", "optionalMessage": "See the points"},
    },
    "B, C": {
        "type": "MCP_SETUP_COMPLETE",
        "status": "success",
        "displayName": "Pi",
        "ephemeralMessage": "Ready",
        "transportVisibility": {"requirement": "optional", "description": "See the points"},
    },
}
SETUP_FAILED = {
    "type": "MCP_SETUP_COMPLETE",
    "status": "error",
    "serverTitle": "Pi",
    "transportVisibility": {"requirement": "hidden"},
    "error": {"code": "AUTH_FAILED", "message": "Wrong password"},
}
REPLY = {"sessionId": SESSION, "protocolVersion": "1.0"}
MESSAGES: dict[str, dict[str, Any]] = {
    "MCP_SETUP_HANDSHAKE": SETUP_HANDSHAKES["A, B"],
    "MCP_SETUP_HANDSHAKE_REPLY": {"type": "MCP_SETUP_HANDSHAKE_REPLY", **REPLY},
    "MCP_SETUP_COMPLETE": SETUP_COMPLETES["A"],
    "MCP_TRANSPORT_HANDSHAKE": {"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"},
    "MCP_TRANSPORT_HANDSHAKE_REPLY": {"type": "MCP_TRANSPORT_HANDSHAKE_REPLY", **REPLY},
    "MCP_TRANSPORT_ACCEPTED": {"type": "MCP_TRANSPORT_ACCEPTED", "sessionId": SESSION},
    "MCP_SETUP_REQUIRED": {
        "type": "MCP_SETUP_REQUIRED",
        "reason": "AUTH_EXPIRED",
        "message": "Sign in again",
        "canContinue": False,
    },
    "MCP_MESSAGE": {"type": "MCP_MESSAGE", "payload": REQUEST},
}

_WAY: dict[Role, dict[State, list[str]]] = {
    sep.INNER_SETUP: {State.CALLING: [], State.SETTING_UP: ["MCP_SETUP_HANDSHAKE_REPLY"]},
    sep.INNER_TRANSPORT: {State.CALLING: [], State.OPEN: ["MCP_TRANSPORT_HANDSHAKE_REPLY"]},
    sep.OUTER_SETUP: {State.AWAITING: [], State.SETTING_UP: ["MCP_SETUP_HANDSHAKE"]},
    sep.OUTER_TRANSPORT: {
        State.AWAITING: [],
        State.CONFIRMING: ["MCP_TRANSPORT_HANDSHAKE"],
        State.OPEN: ["MCP_TRANSPORT_HANDSHAKE", "MCP_TRANSPORT_ACCEPTED"],
    },
}


def peer_of(role: Role) -> str:
    """Return the origin of the peer of this role in these tests."""
    return HOST if role.side == "inner" else FRAME


def states_of(role: Role) -> list[State]:
    """Return every state of a role."""
    return [State.IDLE, *_WAY[role], State.CLOSED]


def alone(
    role: Role, allowed: AllowedOrigins, *, options: Options | None = None, offer: Any = None, session_id: str = SESSION
) -> Connection:
    """Make a connection of one candidate; an outer one gives the session this id."""
    if role.side == "outer" and offer is None:
        offer = HostOffer(session_id=session_id)
    return Connection([Candidate(role, allowed, offer)], options=options)


def connection(role: Role, options: Options | None = None, **offer: Any) -> Connection:
    """Make a connection of this role that allows its usual peer, and says so much."""
    return alone(role, parse_allowed_origins([peer_of(role)]), options=options, **offer)


def connection_in(role: Role, state: State, options: Options | None = None) -> Connection:
    """Make a connection of this role and bring it into a state, at time 0."""
    made = connection(role, options)
    if state is State.IDLE:
        return made
    made.start(0.0)
    for kind in _WAY[role].get(state, []):
        hear(made, MESSAGES[kind])
    if state is State.CLOSED:
        made.close(0.0)
    assert made.state is state
    return made


def hear(made: Connection, message: Any, *, now: float = 0.0, origin: str | None = None) -> list[Output]:
    """Let a connection receive a message of its peer's window."""
    return made.receive(inbound(message, origin=origin or made.origin or peer_of(made.role)), now)
