"""The parts of MCP Apps: see `tests/vectors/parts.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.events import Opened, Output
from mcpframe.frame.core.roles import Local
from mcpframe.frame.dialects.mcp_apps.further_roles import HOST, AppsHostOffer, ViewCalled
from mcpframe.frame.dialects.mcp_apps.offers import HostFound, ViewOffer
from mcpframe.frame.dialects.mcp_apps.roles import VIEW
from tests.support.apps import MESSAGES, OF_ANOTHER_REVISION, REFUSAL
from tests.support.driving import REQUEST, do
from tests.vectors.parts import Parts

_HOST = AppsHostOffer(
    info={"name": "mcpframe", "version": "1"}, capabilities={"openLinks": {}}, context={"theme": "dark"}
)
_PROXIED = "outer transport behind a proxy"
_OFFERS = {
    "outer transport": _HOST,
    _PROXIED: replace(_HOST, resource={"html": "<p>Hello", "sandbox": "allow-scripts"}),
}
_VIEW = ViewOffer(name="a-view", version="1.2", title="A view")


def _do(made: Connection, local: str) -> list[Output]:
    if local == Local.REPEAT:  # more rarely than in the SEP, as hosts answer each of them
        return made.tick(5 * made.options.repeat_interval)
    return do(made, local)


def _described(event: Output) -> dict[str, Any]:
    match event:
        case ViewCalled():
            return {"view called": {"info": dict(event.info), "version": event.version}}
        case HostFound():
            return {"host found": {"info": dict(event.info), "version": event.version, "context": dict(event.context)}}
        case Opened():
            return {"opened": event.session_id}
    raise AssertionError(event)


def _json_rpc(message: Any) -> Mapping[str, Any] | None:
    return message if isinstance(message, dict) and message.get("jsonrpc") == "2.0" else None


PARTS = Parts(
    roles={"inner transport": VIEW, "outer transport": HOST, _PROXIED: HOST},
    messages=(*MESSAGES.values(), OF_ANOTHER_REVISION, REFUSAL),
    call=REQUEST,
    owns=lambda data: data.get("jsonrpc") == "2.0",
    clone_form="(odd) => ({ jsonrpc: '2.0', id: 5, method: 'ping', params: odd })",
    offer=lambda role, case, _: _VIEW if role.side == "inner" else _OFFERS[case["role"]],
    do=_do,
    described=_described,
    json_rpc=_json_rpc,
)
