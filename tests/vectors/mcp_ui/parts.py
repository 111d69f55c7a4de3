"""The parts of mcp-ui: see `tests/vectors/parts.py`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.events import Opened, Output
from mcpframe.frame.core.roles import Role
from mcpframe.frame.dialects.mcp_ui.codec import FRAME_CODEC
from mcpframe.frame.dialects.mcp_ui.further_roles import EMBEDDER, EmbedderAct, EmbedderOffer
from mcpframe.frame.dialects.mcp_ui.messages import RESPONSE
from mcpframe.frame.dialects.mcp_ui.offers import EmbeddedOffer, EmbedderFound
from mcpframe.frame.dialects.mcp_ui.roles import EMBEDDED
from tests.support.driving import do
from tests.support.ui import MESSAGES
from tests.vectors.cases import Case
from tests.vectors.parts import Parts


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


PARTS = Parts(
    roles={"inner transport": EMBEDDED, "outer transport": EMBEDDER},
    messages=(*MESSAGES.values(), *({**message, "messageId": None} for message in MESSAGES.values())),
    call={"type": "ui-lifecycle-iframe-render-data", "payload": {"renderData": {"theme": "dark"}}},
    owns=lambda data: str(data.get("type")).startswith("ui-"),
    clone_form="(odd) => ({ type: 'ui-message-response', messageId: 'mcpframe/1', payload: odd })",
    is_client=False,
    request={"jsonrpc": "2.0", "id": "mcpframe/1", "method": "tool", "params": {"toolName": "add", "params": {}}},
    offer=_offer,
    do=_do,
    described=_described,
    json_rpc=_json_rpc,
)
