"""The parts of MCP-B: see `tests/vectors/parts.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.events import Output
from mcpframe.frame.core.roles import Local
from mcpframe.frame.dialects.mcp_b import roles as mcp_b
from tests.support.driving import REQUEST, do
from tests.support.mcpb import MESSAGES, to_server
from tests.vectors.parts import Parts


def _do(made: Connection, local: str) -> list[Output]:
    if local == Local.REPEAT:  # a client in the page around a frame waits for its announcement first
        return made.tick(5 * made.options.repeat_interval)
    return do(made, local)


def _json_rpc(message: Any) -> Mapping[str, Any] | None:
    payload = message.get("payload") if isinstance(message, dict) else None
    return payload if isinstance(payload, dict) else None


PARTS = Parts(
    roles={f"{role.side} {role.phase}": role for role in mcp_b.ROLES},
    messages=MESSAGES,
    call=to_server(REQUEST),
    owns=lambda data: data.get("type") == "mcp",
    clone_form="(odd) => ({ channel: 'mcp-iframe', type: 'mcp', direction: 'client-to-server', payload: odd })",
    do=_do,
    json_rpc=_json_rpc,
)
