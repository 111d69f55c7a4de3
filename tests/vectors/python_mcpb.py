"""MCP-B for the Python driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.events import Opened, Output
from mcpframe.frame.core.roles import Local
from mcpframe.frame.dialects.mcp_b import roles as mcp_b
from tests.support.sep import do
from tests.vectors.python_dialect import PythonDialect


def _do(made: Connection, local: str) -> list[Output]:
    if local == Local.REPEAT:  # a client in the page around a frame waits for its announcement first
        return made.tick(5 * made.options.repeat_interval)
    return do(made, local)


def _described(event: Output) -> dict[str, Any]:
    if isinstance(event, Opened):
        return {"opened": event.session_id}
    raise AssertionError(event)


def _json_rpc(message: Any) -> Mapping[str, Any] | None:
    payload = message.get("payload") if isinstance(message, dict) else None
    return payload if isinstance(payload, dict) else None


MCP_B = PythonDialect(
    roles={f"{role.side} {role.phase}": role for role in mcp_b.ROLES},
    offer=lambda *_: None,
    do=_do,
    described=_described,
    json_rpc=_json_rpc,
    without_prose=lambda message: message,
)
