"""mcp-ui's embeddable UI for the Python driver."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.events import Opened, Output
from mcpframe.frame.core.roles import Role
from mcpframe.frame.dialects.mcp_ui import roles as ui
from mcpframe.frame.dialects.mcp_ui.codec import FRAME_CODEC
from mcpframe.frame.dialects.mcp_ui.events import EmbedderAct, EmbedderFound
from mcpframe.frame.dialects.mcp_ui.messages import RESPONSE
from mcpframe.frame.dialects.mcp_ui.offers import EmbeddedOffer, EmbedderOffer
from tests.support.sep import do
from tests.vectors.cases import Case
from tests.vectors.python_dialect import PythonDialect


def _offer(role: Role, case: Case, _: str) -> Any:
    if role.side == "outer":
        return EmbedderOffer(origin="https://tools.example", data={"theme": "dark"})
    return EmbeddedOffer(waits=case.get("waits", case["state"] == "confirming"))


def _do(made: Connection, local: str) -> list[Output]:
    if local in tuple(EmbedderAct):
        return made.act(local, {"theme": "light"}, now=0.0)
    return do(made, local)


def _described(event: Output) -> dict[str, Any]:
    match event:
        case EmbedderFound():
            return {"embedder found": event.data}
        case Opened():
            return {"opened": event.session_id}
    raise AssertionError(event)


def _json_rpc(message: Any) -> Mapping[str, Any] | None:
    if FRAME_CODEC.kind(message) != RESPONSE:
        return None
    with suppress(MessageError):
        answer = FRAME_CODEC.decode({**message, "messageId": "any"})  # also one that no request of ours can have
        return {**answer, "id": message.get("messageId")}
    return None


UI = PythonDialect(
    roles={f"{role.side} {role.phase}": role for role in ui.ROLES},
    offer=_offer,
    do=_do,
    described=_described,
    json_rpc=_json_rpc,
    without_prose=lambda message: message,
)
