"""The parts of JSON-RPC 2.0 that a transport needs: requests, their answers, and pending ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mcpframe.frame.core import payload as json_text
from mcpframe.frame.core.errors import MalformedMessage, TooManyPending, UnexpectedMessage

CONNECTION_CLOSED = -32000
"""The code both official SDKs use for a request whose connection has closed."""
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

MAX_INTEGER = 2**53 - 1
"""The largest integer that crosses to JavaScript and back unchanged (`Number.MAX_SAFE_INTEGER`)."""

CANCELLED = "notifications/cancelled"
PROGRESS = "notifications/progress"

RequestId = str | int


def usable_id(value: Any) -> RequestId | None:
    """Return a value as the id of a request; None if it cannot be one.

    Args:
        value: a parsed JSON value. In JSON and in JavaScript `1.0` is the same number as `1`.

    Returns:
        A text, or an integer that JavaScript has exactly: else an answer could have another id than its request.
    """
    if isinstance(value, str):
        return value
    whole = _integer(value)
    return whole if whole is not None and abs(whole) <= MAX_INTEGER else None


def answerable_id(value: Any) -> str | int | float | None:
    """Return the id for the error that answers a rejected request: the request's own, if it is a text or a number.

    Source: JSON-RPC 2.0, section 5: null if the id could not be read.
    """
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _integer(value: Any) -> int | None:
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def request_id(payload: Mapping[str, Any]) -> RequestId | None:
    """Return the id of a request or a response, None for a notification.

    Args:
        payload: a JSON-RPC object.

    Returns:
        The id, or None if there is none.

    Raises:
        MalformedMessage: if the object is not a JSON-RPC 2.0 message that MCP allows: its ids are texts or integers,
            its params and results are objects, its errors have a code and a message, and its notifications no id.
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
        check_method(payload["method"])
    elif answers != 1:
        raise MalformedMessage("payload is neither a request, a notification nor one answer.")
    elif "result" in payload:
        if not isinstance(payload["result"], dict):
            raise MalformedMessage("payload.result must be an object.")
    else:
        _check_error(payload["error"])
        if payload.get("id") is None:
            return None  # an error for a request whose id could not be read (JSON-RPC 2.0, section 5)
    id_ = usable_id(payload.get("id"))
    if id_ is None:
        raise MalformedMessage("payload.id must be a text or an integer between -(2**53 - 1) and 2**53 - 1.")
    return id_


def check_method(method: str) -> None:
    """Raise `MalformedMessage` if a request has the name of a notification.

    Source: MCP specification, basic, "Notifications": they "MUST NOT include an ID". Its receiver would treat it as the
    notification, and never answer.
    """
    if method.startswith("notifications/"):
        raise MalformedMessage(f"{method[:64]} must be a notification: it has an id.")


def _check_error(error: Any) -> None:
    if not isinstance(error, dict):
        raise MalformedMessage("payload.error must be an object.")
    code = _integer(error.get("code"))
    if code is None or abs(code) > MAX_INTEGER:
        raise MalformedMessage("payload.error.code must be an integer.")
    if not isinstance(error.get("message"), str):
        raise MalformedMessage("payload.error.message must be a text.")


def with_usable_id(payload: dict[str, Any]) -> dict[str, Any]:
    """Return a well-formed message with its id as an integer if it was written as `1.0`.

    Raises:
        MalformedMessage: see `request_id`.
    """
    id_ = request_id(payload)
    return payload if id_ is None or type(payload["id"]) is type(id_) else {**payload, "id": id_}


def error_response(
    id_: str | int | float | None, code: int, message: str, data: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the JSON-RPC error that answers a request. It can always be encoded, whatever text the message quotes."""
    error: dict[str, Any] = {"code": code, "message": json_text.well_formed(message)}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": id_, "error": error}


def cancellation(id_: RequestId, reason: str) -> dict[str, Any]:
    """Return the notification that cancels a request."""
    params = {"requestId": id_, "reason": reason}
    return {"jsonrpc": "2.0", "method": CANCELLED, "params": params}


def is_notification(payload: Mapping[str, Any], method: str) -> bool:
    """Return whether a message is the notification of this name; a request that has the name is not."""
    return payload.get("method") == method and "id" not in payload


def cancelled_id(payload: Mapping[str, Any]) -> RequestId | None:
    """Return the id of the request that a `notifications/cancelled` names; None for any other message.

    Args:
        payload: a JSON-RPC object; its parameters need not be valid.
    """
    return _member(payload, "requestId") if is_notification(payload, CANCELLED) else None


def progress_token(payload: Mapping[str, Any]) -> RequestId | None:
    """Return the token with which a request asks for progress; None if it does not."""
    params = payload.get("params")
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    return usable_id(meta.get("progressToken")) if isinstance(meta, Mapping) else None


def asked_as(payload: Mapping[str, Any], rename: Callable[[Any], Any]) -> Mapping[str, Any]:
    """Return a request, or its cancellation, with another id and progress token; any other message unchanged.

    Args:
        payload: a well-formed message of the requesting side.
        rename: maps an id, and a progress token, to the other one.
    """
    params = payload.get("params")
    params = params if isinstance(params, Mapping) else {}
    if is_request(payload):
        renamed = {**payload, "id": rename(payload["id"])}
        meta = params.get("_meta")
        if isinstance(meta, Mapping) and meta.get("progressToken") is not None:
            renamed["params"] = {**params, "_meta": {**meta, "progressToken": rename(meta["progressToken"])}}
        return renamed
    if is_notification(payload, CANCELLED) and "requestId" in params:
        return {**payload, "params": {**params, "requestId": rename(params["requestId"])}}
    return payload


def answered_as(payload: Mapping[str, Any], rename: Callable[[Any], Any]) -> Mapping[str, Any]:
    """Return an answer, or progress, with another request's id; any other message unchanged. See `asked_as`."""
    if "method" not in payload:
        return {**payload, "id": rename(payload.get("id"))}
    params = payload.get("params")
    if is_notification(payload, PROGRESS) and isinstance(params, Mapping) and "progressToken" in params:
        return {**payload, "params": {**params, "progressToken": rename(params["progressToken"])}}
    return payload


def _member(payload: Mapping[str, Any], name: str) -> RequestId | None:
    params = payload.get("params")
    return usable_id(params.get(name)) if isinstance(params, Mapping) else None


def is_request(payload: Mapping[str, Any]) -> bool:
    """Return whether a well-formed message expects an answer."""
    return "method" in payload and "id" in payload


def id_in_use(id_: RequestId) -> UnexpectedMessage:
    """Return the error of a request whose id another unanswered request of its sender has."""
    shown = f"{id_[:64]!r}" if isinstance(id_, str) else f"{id_}"
    return UnexpectedMessage(f"The id {shown} is in use: choose another one.")


_STREAMS = ("subscriptions/listen",)
"""Requests that are answered when their subject ends, which may be never."""


class Pending:
    """The unanswered requests of one direction, in order.

    A cancelled request counts as answered. Its receiver must not send anything about it from then on (MCP
    specification, basic/utilities/cancellation); `wants` is false for a message that would. The number of cancelled
    requests that are remembered is the limit of pending ones.
    """

    def __init__(self, limit: int, *, shared: bool = False) -> None:
        """Start without requests.

        Args:
            limit: the most that may wait.
            shared: whether several clients ask, each of which numbers its own requests.
        """
        self._limit = limit
        self._shared = shared
        self._ids: dict[RequestId, tuple[str, RequestId | None]] = {}  # each with its method and its progress token
        self._cancelled: dict[RequestId, RequestId | None] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[RequestId]:
        return iter(tuple(self._ids))

    def __contains__(self, id_: object) -> bool:
        return id_ in self._ids

    def method_of(self, id_: RequestId) -> str | None:
        """Return the method of the request of an id; None if none of this id waits."""
        method, _ = self._ids.get(id_, (None, None))
        return method

    @property
    def due(self) -> bool:
        """Whether a request waits that is to be answered soon: not the stream of a subscription alone."""
        return any(method not in _STREAMS for method, _ in self._ids.values())

    @property
    def calls(self) -> tuple[RequestId, ...]:
        """The ids of the unanswered calls of tools, in order."""
        return tuple(id_ for id_, (method, _) in self._ids.items() if method == "tools/call")

    def asked(self, payload: Mapping[str, Any]) -> None:
        """Record a message of the requesting side.

        Raises:
            UnexpectedMessage: for a request with the id of one that is pending; it is not recorded.
            TooManyPending: for a request over the limit; it is not recorded.
        """
        if is_request(payload):
            id_, token = payload["id"], progress_token(payload)
            if id_ in self._ids and not self._shared:
                raise id_in_use(id_)
            if len(self._ids) >= self._limit and id_ not in self._ids:
                raise TooManyPending(f"{self._limit:,} requests are already waiting for an answer (max_pending).")
            self._ids[id_] = payload["method"], token
            if self._cancelled:  # ids and tokens may be reused
                self._cancelled = {
                    old: its for old, its in self._cancelled.items() if old != id_ and (its is None or its != token)
                }
        elif (cancelled := cancelled_id(payload)) is not None and cancelled in self._ids:
            _, self._cancelled[cancelled] = self._ids.pop(cancelled)
            if len(self._cancelled) > self._limit:
                del self._cancelled[next(iter(self._cancelled))]

    def wants(self, payload: Mapping[str, Any]) -> bool:
        """Return whether the requesting side expects a message: progress or an answer of a cancelled request is not."""
        if not self._cancelled:
            return True
        if "method" not in payload:
            return usable_id(payload.get("id")) not in self._cancelled
        token = _member(payload, "progressToken") if is_notification(payload, PROGRESS) else None
        return token is None or token not in self._cancelled.values()

    def answered(self, payload: Mapping[str, Any]) -> None:
        """Record a message of the answering side."""
        id_ = usable_id(payload.get("id"))
        if "method" not in payload and id_ is not None:
            self._ids.pop(id_, None)
