"""The parts of plain MCP: see `tests/vectors/parts.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.events import Output
from mcpframe.frame.core.roles import Local
from mcpframe.frame.dialects.plain_mcp.further_roles import CLIENT, HOST
from mcpframe.frame.dialects.plain_mcp.roles import SERVER
from tests.support.driving import do
from tests.vectors.parts import Parts

_INITIALIZE = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {}}
_CLIENT = "inner transport of a client"
_PROBE = {"jsonrpc": "2.0", "id": "mcpframe/ping", "method": "ping"}


def _do(made: Connection, local: str) -> list[Output]:
    if local == Local.REPEAT and made.role.side == "outer":  # it waits for the page to load first
        return made.tick(made.deadline or 0.0)
    return do(made, local)


def _json_rpc(message: Any) -> Mapping[str, Any] | None:
    return message if isinstance(message, dict) and message.get("jsonrpc") == "2.0" else None


PARTS = Parts(
    roles={"inner transport": SERVER, _CLIENT: CLIENT, "outer transport": HOST},
    messages=(
        _INITIALIZE,
        {"jsonrpc": "2.0", "id": 7, "method": "server/discover"},
        {"jsonrpc": "2.0", "id": 7, "method": "tools/list"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 7, "result": {}},
        {"jsonrpc": "2.0", "id": 7, "error": {"code": -32601, "message": "no"}},
        _PROBE,
        {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}},
    ),
    call={"jsonrpc": "2.0", "id": 7, "method": "tools/list"},
    owns=lambda data: data.get("jsonrpc") == "2.0",
    clone_form="(odd) => ({ jsonrpc: '2.0', id: 5, method: 'initialize', params: odd })",
    request=_INITIALIZE,
    do=_do,
    json_rpc=_json_rpc,
)
