"""The little of JSON-RPC 2.0 that a transport must know: what is a request, what answers it, which are pending."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from mcpframe.frame.errors import MalformedMessage, TooManyPending

CONNECTION_CLOSED = -32000
"""The code both official SDKs use for a request whose connection has closed."""
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603

RequestId = str | int

_ID = r'"id":(?P<id>\d{1,16}|"(?:[^"\\]|\\.){0,256}")'
_HEAD = re.compile(r'\{(?:"jsonrpc":"2\.0",)?(?:' + _ID + r',)?"(?P<member>method|params|result|error)":')
_TAIL = re.compile(r'"jsonrpc":"2\.0",' + _ID + r"\}\Z")


def request_id(payload: Mapping[str, Any]) -> RequestId | None:
    """Give the id of a request or a response, None for a notification.

    Args:
        payload: a JSON-RPC object.

    Returns:
        The id, or None where there is none.

    Raises:
        MalformedMessage: where the object is no JSON-RPC 2.0 message that MCP allows (its ids are texts or integers).
    """
    if payload.get("jsonrpc") != "2.0":
        raise MalformedMessage("payload.jsonrpc must be '2.0'.")
    answers = ("result" in payload) + ("error" in payload)
    if "method" in payload:
        if not isinstance(payload["method"], str):
            raise MalformedMessage("payload.method must be a text.")
        if answers:
            raise MalformedMessage("payload has both a method and an answer.")
        if not isinstance(payload.get("params", {}), dict):
            raise MalformedMessage("payload.params must be an object.")
        if "id" not in payload:
            return None
    elif answers != 1:
        raise MalformedMessage("payload is neither a request, a notification nor one answer.")
    id_ = payload.get("id")
    if not isinstance(id_, str | int) or isinstance(id_, bool):
        if "error" in payload and id_ is None:
            return None  # an error whose request could not be told (JSON-RPC 2.0, section 5)
        raise MalformedMessage("payload.id must be a text or an integer.")
    return id_


def error_response(id_: RequestId, code: int, message: str) -> dict[str, Any]:
    """Give the JSON-RPC error that answers a request."""
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}


def is_request(payload: Mapping[str, Any]) -> bool:
    """Tell whether somebody waits for an answer to this well-formed message."""
    return "method" in payload and "id" in payload


def outline(text: str) -> tuple[Literal["request", "response"], RequestId] | None:
    """Tell a refused message's kind and id without parsing it, from its two ends, where both official SDKs put them.

    Args:
        text: JSON text as `JSON.stringify` writes it, of any size.

    Returns:
        Kind and id, or None where they are not there to see. A sender that lies here fails its own requests.
    """
    head = _HEAD.match(text[:1024])
    tail = _TAIL.search(text[-1024:])
    if not head or not (head["id"] or tail):
        return None
    id_ = head["id"] or (tail["id"] if tail else "")
    kind: Literal["request", "response"] = "response" if head["member"] in ("result", "error") else "request"
    return kind, json.loads(id_)


class Pending:
    """The requests of one direction that have no answer yet, in the order they were made.

    A cancelled request counts as answered: MCP lets its receiver stay silent from then on.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._ids: dict[RequestId, None] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[RequestId]:
        return iter(tuple(self._ids))

    def asked(self, payload: Mapping[str, Any]) -> None:
        """Take note of a message from the side that asks.

        Raises:
            TooManyPending: for a request over the limit; it is not counted.
        """
        if is_request(payload):
            if len(self._ids) >= self._limit and payload["id"] not in self._ids:
                raise TooManyPending(f"{self._limit:,} requests are already waiting for an answer (max_pending).")
            self._ids[payload["id"]] = None
        elif payload.get("method") == "notifications/cancelled":
            id_ = payload.get("params", {}).get("requestId")
            if isinstance(id_, str | int):
                self._ids.pop(id_, None)

    def answered(self, payload: Mapping[str, Any]) -> None:
        """Take note of a message from the side that answers."""
        if "method" not in payload and isinstance(payload.get("id"), str | int):
            self._ids.pop(payload["id"], None)
