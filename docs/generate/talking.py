"""Connections that talk to each other, for the documentation of the protocol: no example is written by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from mcpframe.frame.core.allowed_origins import parse_allowed_origins
from mcpframe.frame.core.connection import Candidate, Connection
from mcpframe.frame.core.events import Inbound, Output, Refused, Send
from mcpframe.frame.core.roles import Role
from mcpframe.frame.core.setup import (
    Act,
    Permission,
    SetupErrorCode,
    SetupReason,
    SetupRequired,
    SetupResult,
    Visibility,
)
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.dialects.sep.offers import HostOffer, PageOffer

Json = dict[str, Any]

HOST, FRAME, SESSION = "https://chat.example", "https://tools.example", "5f0c1a52-2f0e-4a55-9d0e-6c1f3f7f6a10"
ROLES = {f"{role.side} {role.phase}": role for role in sep.ROLES}
_PERMISSION = Permission("clipboard-read", ("setup",), True, "Paste a table")
REQUEST: Json = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
REQUIRED = SetupRequired(SetupReason.AUTH_EXPIRED, "Sign in again.", False)
DONE = SetupResult("Notes", Visibility.OPTIONAL, "Shows the notes.", "Ready")
_FAILED = SetupResult("Notes", error_code=SetupErrorCode.AUTH_FAILED, error_message="The key is wrong.")


def candidate(role: Role) -> Candidate:
    """Return a role with every field that it can send, and its peer's origin."""
    if role.side == "outer":
        return Candidate(role, parse_allowed_origins([FRAME]), HostOffer(session_id=SESSION))
    offer = PageOffer(requires_visible_setup=True, permissions=(_PERMISSION,))
    return Candidate(role, parse_allowed_origins([HOST]), offer)


def talk(phase: str, result: SetupResult = DONE) -> Iterator[tuple[str, Send]]:
    """Run an inner and an outer connection through a phase; return the messages of each."""
    ends = {side: Connection([candidate(ROLES[f"{side} {phase}"])]) for side in ("inner", "outer")}
    origins = {"inner": FRAME, "outer": HOST}
    others = {"inner": "outer", "outer": "inner"}
    ends["outer"].start(0.0)
    waiting = [("inner", output) for output in ends["inner"].start(0.0)]
    final: list[tuple[str, Callable[[], list[Output]]]] = {
        "setup": [("inner", lambda: ends["inner"].act(Act.COMPLETE_SETUP, result, now=0.0))],
        "transport": [
            ("outer", lambda: ends["outer"].send(json.dumps(REQUEST), REQUEST, 0.0)),
            ("inner", lambda: ends["inner"].act(Act.REQUIRE_SETUP, REQUIRED, now=0.0)),
        ],
    }[phase]
    while waiting or final:
        if not waiting:
            side, act = final.pop(0)
            waiting = [(side, output) for output in act()]
            continue
        side, output = waiting.pop(0)
        if isinstance(output, Send):
            yield side, output
            heard = ends[others[side]].receive(Inbound(origins[side], True, output.text.__str__), 0.0)
            waiting += [(others[side], answer) for answer in heard]
        assert not isinstance(output, Refused), output


def messages() -> dict[str, Json]:
    """Return one message of each type, with every field that is ever sent, in the order of the phases."""
    found: dict[str, Json] = {}
    for message in sent():
        found[message["type"]] = message | found.get(message["type"], {})
    return found


def sent() -> list[Json]:
    """Return the messages of successful phases, and of a failed setup."""
    return [json.loads(sent.text) for _, sent in (*talk("setup"), *talk("setup", _FAILED), *talk("transport"))]
