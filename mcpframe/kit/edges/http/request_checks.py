"""The checks of requests over Streamable HTTP, without I/O: the headers and bodies of 2026-07-28.

The SDK has the rules of the envelope and its headers in `mcp.shared.inbound`. This module applies them in the order of
the SDK's own HTTP entry, and turns a rejection into a status and a JSON-RPC error.

Source: MCP specification 2026-07-28, basic/transports, "Streamable HTTP".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_NAME_HEADER,
    MCP_PARAM_HEADER_PREFIX,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
    decode_header_value,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
    validate_mcp_param_headers,
)
from mcp_types.jsonrpc import HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from starlette.types import Scope

from mcpframe.frame.core.jsonrpc import RequestId, is_request
from mcpframe.kit.edges.http.routing_names import split_state
from mcpframe.kit.edges.stdio.lines import LIMITS, Broken, Line, read_message

Headers = Sequence[tuple[str, str]]
"""The lines of an HTTP head, names in lower case."""

ENDING = "The bridge is ending: ask another one."

TASK_METHODS = ("tasks/get", "tasks/update", "tasks/cancel")
"""The methods whose parameters name a task (SEP-2663)."""
_OF_THE_OTHER_ERA = "initialize"
"""The first request of a connection of the handshake era: it must not reach the frame shared by all requests."""


def without_events(scope: Scope) -> Scope:
    """Remove the header `Last-Event-ID`: no events are kept, so a client that resumes gets a new stream."""
    if scope["type"] != "http":
        return scope
    return {**scope, "headers": [line for line in scope["headers"] if line[0].lower() != b"last-event-id"]}


@dataclass(frozen=True)
class Refusal:
    """The answer to a rejected request: a status, and a JSON-RPC error if there is a code."""

    status: int
    code: int | None = None
    message: str = ""
    id: RequestId | None = None
    data: Any = None

    def body(self) -> dict[str, Any] | None:
        """The JSON-RPC error."""
        if self.code is None:
            return None
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return {"jsonrpc": "2.0", "id": self.id, "error": error}


@dataclass(frozen=True)
class Accepted:
    """An accepted message: the body as text, and parsed."""

    text: str
    message: dict[str, Any]


def check_head(method: str, accept: tuple[bool, bool]) -> Refusal | None:
    """Check a request before its body is read: the method, and whether the client accepts JSON and event streams."""
    if method != "POST":
        return Refusal(405)
    return None if all(accept) else Refusal(406)


def check_body(body: bytes, headers: Headers) -> Accepted | Refusal:
    """Check a request or a notification.

    Args:
        headers: the HTTP head.

    Returns:
        The message, or the answer that rejects it.
    """
    line = read_body(body)
    if isinstance(line, Broken):
        error = json.loads(line.answer)
        return Refusal(400, error["error"]["code"], error["error"]["message"], error["id"])
    text, message = line.text, line.message
    if "method" not in message:
        return Refusal(400, INVALID_REQUEST, "The body must be a request or a notification, not an answer.")
    rejection = _notification(headers) if not is_request(message) else _request(message, headers)
    return Accepted(text, message) if rejection is None else refused(rejection, message.get("id"))


def read_body(body: bytes) -> Line | Broken:
    """Read the JSON-RPC message of a body, by the same rules as stdio; both eras share them."""
    return read_message(body, max_bytes=LIMITS.max_message_bytes, max_nesting=LIMITS.max_nesting)


def refused(rejection: InboundLadderRejection, id_: RequestId | None) -> Refusal:
    """Return the SDK's rejection as an answer."""
    return Refusal(status_of(rejection.code), rejection.code, rejection.message, id_, rejection.data)


def status_of(code: int) -> int:
    """Return the HTTP status of a JSON-RPC error: 404 for an unknown method, 200 for an error of the server itself."""
    return ERROR_CODE_HTTP_STATUS.get(code, 200)


def continues(message: Mapping[str, Any]) -> bool:
    """Return whether a request answers a question: it has a state, and belongs to the frame that has asked."""
    return isinstance(message["params"].get("requestState"), str)


def belongs_here(message: Mapping[str, Any]) -> bool:
    """Return whether only this bridge can answer a request: it continues a call, or is about a task."""
    return continues(message) or message["method"] in TASK_METHODS


def state_for_frame(message: dict[str, Any], name: str) -> dict[str, Any] | Refusal:
    """Return a request with its state as the frame gave it.

    Args:
        name: The bridge's name, with which the state has to begin; empty for none.

    Returns:
        The request, or the SDK's answer to an invalid state: clients make their call again.
    """
    if not name or not continues(message):
        return message
    owner, state = split_state(message["params"]["requestState"])
    if owner != name:
        text = "Invalid or expired requestState"
        rejection = InboundLadderRejection(INVALID_PARAMS, text, {"reason": "invalid_request_state"})
        return refused(rejection, message["id"])
    return {**message, "params": {**message["params"], "requestState": state}}


def _notification(headers: Headers) -> InboundLadderRejection | None:
    return unsupported_protocol_version_rejection(dict(headers).get(MCP_PROTOCOL_VERSION_HEADER, ""))


def _request(message: Mapping[str, Any], headers: Headers) -> InboundLadderRejection | None:
    duplicated = find_duplicated_routing_header(headers)
    if duplicated is not None:
        return InboundLadderRejection(HEADER_MISMATCH, f"{duplicated} header appears more than once")
    verdict = classify_inbound_request(message, headers=dict(headers))
    if isinstance(verdict, InboundLadderRejection):
        return verdict
    if message["method"] in TASK_METHODS and not _names_task(message, headers):
        return InboundLadderRejection(HEADER_MISMATCH, f"{MCP_NAME_HEADER} header does not match the task's id")
    if message["method"] == _OF_THE_OTHER_ERA:
        return InboundLadderRejection(METHOD_NOT_FOUND, "Method not found", _OF_THE_OTHER_ERA)
    return None


def _names_task(message: Mapping[str, Any], headers: Headers) -> bool:
    """Return whether a header by which balancers find a task's page, if there is one, has the task's id (SEP-2663)."""
    name = dict(headers).get(MCP_NAME_HEADER)
    return name is None or decode_header_value(name) == message["params"].get("taskId")


def needs_schema(message: Mapping[str, Any], headers: Headers) -> bool:
    """Return whether a request's `Mcp-Param-*` headers have to be checked against the tool's input schema."""
    if message["method"] != "tools/call":
        return False
    arguments = message["params"].get("arguments") or {}
    if not isinstance(arguments, dict):
        return False
    prefix = MCP_PARAM_HEADER_PREFIX.lower()
    return bool(arguments) or any(name.startswith(prefix) for name, _ in headers)


def check_parameters(schema: Any, message: Mapping[str, Any], headers: Headers) -> Refusal | None:
    """Check the `Mcp-Param-*` headers of a `tools/call` against its arguments."""
    arguments = message["params"].get("arguments") or {}
    rejection = validate_mcp_param_headers(schema, arguments, _Lines(headers))
    return None if rejection is None else refused(rejection, message["id"])


class _Lines(dict[str, str]):
    """The headers as a mapping that keeps duplicates, which the SDK checks for."""

    def __init__(self, lines: Headers) -> None:
        super().__init__(lines)
        self._lines = list(lines)

    def items(self) -> Any:
        return self._lines
