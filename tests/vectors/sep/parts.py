"""The parts of the SEP: see `tests/vectors/parts.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core.events import Opened, Output
from mcpframe.frame.core.roles import Role
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.dialects.sep.offers import HostOffer
from mcpframe.frame.session.setup_phase import SetupCompleted, SetupRequired, SetupStarted
from tests.support.driving import REQUEST
from tests.support.sep import MESSAGES
from tests.vectors.cases import Case
from tests.vectors.parts import Parts


def _offer(role: Role, case: Case, session: str) -> HostOffer | None:
    if role.side == "inner":
        return None
    return HostOffer(session_id=session, granted=frozenset(case.get("granted", ())))


def _described(event: Output) -> dict[str, Any]:
    match event:
        case SetupStarted():
            return {"setup started": {"visible": event.requires_visible}}
        case SetupRequired():
            about = {"reason": event.reason, "message": event.message, "canContinue": event.can_continue}
            return {"setup required": about}
        case SetupCompleted():
            return {"set up": _set_up(event)}
        case Opened():
            return {"opened": event.session_id}
    raise AssertionError(event)


def _set_up(event: SetupCompleted) -> dict[str, Any]:
    result = event.result
    described: dict[str, Any] = {"title": result.title, "visibility": result.visibility}
    optional = {"visibilityMessage": result.visibility_message, "ephemeralMessage": result.ephemeral_message}
    described |= {name: value for name, value in optional.items() if value}
    if result.error_code:
        described["error"] = {"code": result.error_code, "message": result.error_message}
        if "cannot be read" in (result.error_message or ""):
            del described["error"]["message"]  # in our own words
    return described


def _json_rpc(message: Any) -> Mapping[str, Any] | None:
    is_envelope = isinstance(message, dict) and message.get("type") == "MCP_MESSAGE"
    payload = message.get("payload") if is_envelope else None
    return payload if isinstance(payload, dict) else None


def _without_prose(message: dict[str, Any]) -> dict[str, Any]:
    message.get("error", {}).pop("message", None)
    return message


_OLD = tuple(message | {"protocolVersion": "0.1"} for message in MESSAGES.values() if "protocolVersion" in message)

PARTS = Parts(
    roles={f"{role.side} {role.phase}": role for role in sep.ROLES},
    messages=(*MESSAGES.values(), *_OLD),
    call={"type": "MCP_MESSAGE", "payload": REQUEST},
    owns=lambda data: str(data.get("type")).startswith("MCP_"),
    clone_form="(odd) => ({ type: 'MCP_MESSAGE', payload: odd })",
    offer=_offer,
    described=_described,
    json_rpc=_json_rpc,
    without_prose=_without_prose,
)
