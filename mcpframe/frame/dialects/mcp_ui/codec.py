"""The wire format of each side: objects with a `type`, each in place of a JSON-RPC message; see `messages.py`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.codec import Codec
from mcpframe.frame.core.errors import MalformedMessage
from mcpframe.frame.core.outline import Outline
from mcpframe.frame.dialects.mcp_ui.messages import (
    ACTIONS,
    PROGRESS,
    READY,
    RECEIVED,
    RENDER_DATA,
    REQUEST_RENDER_DATA,
    RESPONSE,
    SIZE_CHANGE,
    TO_FRAME,
    TO_HOST,
    read_action,
    read_received,
    read_render_data,
    read_response,
    read_size,
)

Json = Mapping[str, Any]


def wire(kind: str, id_: Any, content: Json | None) -> dict[str, Any]:
    """Return a message as it is posted: members that are None are left out."""
    members = {"type": kind, "messageId": id_, "payload": content}
    return {name: value for name, value in members.items() if value is not None}


def _kind(kinds: tuple[str, ...]) -> Callable[[Any], str | None]:
    def kind(data: Any) -> str | None:
        found = data.get("type") if isinstance(data, dict) else None
        return found if isinstance(found, str) and found in kinds else None

    return kind


def _decode_for_frame(data: Json) -> dict[str, Any]:
    if data["type"] == RECEIVED:
        return read_received(data)
    if data["type"] == RESPONSE:
        return read_response(data)
    render = read_render_data(data)
    return {"jsonrpc": "2.0", "method": RENDER_DATA, "params": {"renderData": render.data}}


def _decode_for_host(data: Json) -> dict[str, Any]:
    if data["type"] in ACTIONS:
        return read_action(data)
    return read_size(data) if data["type"] == SIZE_CHANGE else {"jsonrpc": "2.0", "method": data["type"]}


def _encode_for_host(text: str, message: Json) -> str:
    """Return an action of a page. No other JSON-RPC message has a form here."""
    method = message.get("method")
    if method not in TO_HOST:
        raise MalformedMessage(f"{method or 'An answer'} has no form in mcp-ui, whose hosts are not MCP clients.")
    params = {name: value for name, value in json.loads(text).get("params", {}).items() if name != "_meta"}
    content = None if method in (READY, REQUEST_RENDER_DATA) else params
    return payload.encode(wire(method, message.get("id"), content))


def _encode_for_frame(text: str, message: Json) -> str:
    """Return the answer to an action, or the confirmation of its receipt."""
    parsed = json.loads(text)
    if message.get("method") == PROGRESS:
        return payload.encode(wire(RECEIVED, parsed["params"].get("progressToken"), None))
    if "method" in message or message.get("id") is None:
        raise MalformedMessage(f"{message.get('method') or 'An answer without an id'} has no form in mcp-ui.")
    if "error" in message:
        error = {"name": "Error", **parsed["error"]}
        return payload.encode(wire(RESPONSE, message["id"], {"error": error}))
    return payload.encode(wire(RESPONSE, message["id"], parsed["result"]))


def _ids(kind: str) -> Callable[[Json], Outline]:
    def ids(data: Json) -> Outline:
        id_ = data.get("messageId")
        if isinstance(id_, list | dict):
            id_ = None
        waits = data.get("type") in (*ACTIONS, RESPONSE, RENDER_DATA)
        if id_ is None or not waits:
            return Outline("other", id_)
        return Outline("request", id_, str(data["type"])) if kind == "request" else Outline("response", id_)

    return ids


FRAME_CODEC = Codec(
    kind=_kind(TO_FRAME),
    decode=_decode_for_frame,
    encode=_encode_for_host,
    ids=_ids("response"),
    carries=frozenset(TO_FRAME),
    unspoken="notifications/",
    members=("type", "messageId"),
    recodes=True,
)
"""The codec of a framed page, which reads a host's messages."""

HOST_CODEC = Codec(
    kind=_kind(TO_HOST),
    decode=_decode_for_host,
    encode=_encode_for_frame,
    ids=_ids("request"),
    carries=frozenset({*ACTIONS, SIZE_CHANGE}),
    members=("type", "messageId"),
    recodes=True,
)
"""The codec of a host, which reads a framed page's messages."""
