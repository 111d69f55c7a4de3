"""The messages: their names, and readers that check their shape and return the JSON-RPC message that they stand for.

An action with a `messageId` is a request, one without is a notification; its method is its type, its params are its
payload. `ui-message-received` is the progress of a request, `ui-message-response` its result or error.

Source: the seed "Embeddable UI". Messages may have further members; an id of null counts as missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.errors import MalformedMessage

NAME: Final = "mcp_ui"

ACTIONS: Final = ("tool", "intent", "prompt", "notify", "link", "ui-request-data")
"""The types of messages that a host hands to its own code."""
READY: Final = "ui-lifecycle-iframe-ready"
SIZE_CHANGE: Final = "ui-size-change"
REQUEST_RENDER_DATA: Final = "ui-request-render-data"
RENDER_DATA: Final = "ui-lifecycle-iframe-render-data"
RECEIVED: Final = "ui-message-received"
RESPONSE: Final = "ui-message-response"

TO_HOST: Final = (*ACTIONS, SIZE_CHANGE, READY, REQUEST_RENDER_DATA)
TO_FRAME: Final = (RENDER_DATA, RECEIVED, RESPONSE)

PROGRESS: Final = "notifications/progress"
"""The method that a `ui-message-received` stands for."""

OURS: Final = "mcpframe/"
"""The prefix of the ids of a page's own requests."""
OPENING_ID: Final = "mcpframe/render-data"
"""The id of a page's first `ui-request-render-data`, and of its repetitions."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RenderData:
    """The render data of a host.

    Attributes:
        data: the data for the page to draw; None for none.
        id: the id of the request that it answers; None if it was not requested.
        error: a JSON-RPC error in its place; None for none.
    """

    data: Any = None
    id: jsonrpc.RequestId | None = None
    error: Json | None = None


def read_render_data(data: Json) -> RenderData:
    payload = payload_of(data)
    error = payload.get("error")
    return RenderData(payload.get("renderData"), message_id(data), None if error is None else error_of(error))


def read_received(data: Json) -> dict[str, Any]:
    """Read the confirmation of an action's receipt; without a token if the action had no id."""
    token = message_id(data)
    params = {} if token is None else {"progressToken": token, "progress": 0}
    return {"jsonrpc": "2.0", "method": PROGRESS, "params": params}


def read_response(data: Json) -> dict[str, Any]:
    """Read the answer to an action; its id is None if the action had none."""
    payload, id_ = payload_of(data), message_id(data)
    failed = payload.get("error") is not None or ("error" in payload and "response" not in payload)
    if failed:
        return {"jsonrpc": "2.0", "id": id_, "error": error_of(payload["error"])}
    return {"jsonrpc": "2.0", "id": id_, "result": {"response": payload.get("response")}}


def message_id(data: Json) -> jsonrpc.RequestId | None:
    """Return the `messageId` of a message; None for none.

    Raises:
        MalformedMessage: if it is neither a text nor an integer.
    """
    value = data.get("messageId")
    if value is None:
        return None
    id_ = jsonrpc.usable_id(value)
    if id_ is None:
        raise MalformedMessage("messageId must be a text or an integer.")
    return id_


def error_of(error: Any) -> dict[str, Any]:
    """Return an error of any shape as a JSON-RPC error, with the original as its data."""
    message = error.get("message") if isinstance(error, dict) else error
    code = error.get("code") if isinstance(error, dict) else None
    return {
        "code": code if isinstance(code, int) and not isinstance(code, bool) else jsonrpc.INTERNAL_ERROR,
        "message": message if isinstance(message, str) and message else json.dumps(error, ensure_ascii=False)[:500],
        "data": error,
    }


def payload_of(data: Json) -> dict[str, Any]:
    payload = data.get("payload")
    if payload is None:
        return {}
    if not isinstance(payload, dict):
        raise MalformedMessage("payload must be an object.")
    return payload
