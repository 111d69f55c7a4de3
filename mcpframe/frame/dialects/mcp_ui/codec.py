"""The wire format of a framed page: objects with a `type`, each in place of a JSON-RPC message; see `messages.py`."""

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
    READY,
    RECEIVED,
    RENDER_DATA,
    REQUEST_RENDER_DATA,
    RESPONSE,
    TO_FRAME,
    TO_HOST,
    read_received,
    read_render_data,
    read_response,
)

Json = Mapping[str, Any]


def wire(kind: str, id_: Any, content: Json | None) -> dict[str, Any]:
    """Return a message as it is posted: members that are None are left out."""
    members = {"type": kind, "messageId": id_, "payload": content}
    return {name: value for name, value in members.items() if value is not None}


def kind_of(kinds: tuple[str, ...]) -> Callable[[Any], str | None]:
    def kind(data: Any) -> str | None:
        its_type = data.get("type") if isinstance(data, dict) else None
        return its_type if isinstance(its_type, str) and its_type in kinds else None

    return kind


def _decode_for_frame(data: Json) -> dict[str, Any]:
    if data["type"] == RECEIVED:
        return read_received(data)
    if data["type"] == RESPONSE:
        return read_response(data)
    render = read_render_data(data)
    return {"jsonrpc": "2.0", "method": RENDER_DATA, "params": {"renderData": render.data}}


def _encode_for_host(text: str, message: Json) -> str:
    """Return an action of a page. No other JSON-RPC message has a form here."""
    method = message.get("method")
    if method not in TO_HOST:
        raise MalformedMessage(f"{method or 'An answer'} has no form in mcp-ui, whose hosts are not MCP clients.")
    params = {name: value for name, value in json.loads(text).get("params", {}).items() if name != "_meta"}
    content = None if method in (READY, REQUEST_RENDER_DATA) else params
    return payload.encode(wire(method, message.get("id"), content))


def ids_of(kind: str) -> Callable[[Json], Outline]:
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
    kind=kind_of(TO_FRAME),
    decode=_decode_for_frame,
    encode=_encode_for_host,
    ids=ids_of("response"),
    carries=frozenset(TO_FRAME),
    unspoken="notifications/",
    members=("type", "messageId"),
    recodes=True,
)
"""The codec of a framed page, which reads a host's messages."""
