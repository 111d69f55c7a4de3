"""The handshake's messages: their names, and readers that check their shape.

All other messages are JSON-RPC as it is: `ui/…` methods of the specification, and those of MCP, in both directions.

Sources: MCP Apps (SEP-1865), revisions 2026-01-26 and 2025-11-21; the seed "MCP Apps PostMessage Lifecycle", which has
no `appInfo`, `hostInfo` and `protocolVersion`. Members that only some of them require are optional here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.errors import MalformedMessage

NAME: Final = "mcp_apps"
VERSIONS: Final = ("2026-01-26", "2025-11-21")
"""The revisions that are spoken, the preferred one first."""

INITIALIZE: Final = "ui/initialize"
INITIALIZED: Final = "ui/notifications/initialized"
PROXY_READY: Final = "ui/notifications/sandbox-proxy-ready"
"""Sent by a sandbox proxy: the page that the host frames in place of a view, and that frames the view in turn."""
RESOURCE_READY: Final = "ui/notifications/sandbox-resource-ready"
TOOL_DATA: Final = "ui/notifications/tool-"
"""The start of the methods with the data of the tool call that a view belongs to; a kind of their own (see `codec`)."""
ANSWER: Final = "answer to ui/initialize"
"""The kind of the host's answer, which has no method."""
MESSAGE: Final = "message"
"""The kind of all other JSON-RPC messages."""

CONFIRMATION: Final = {"jsonrpc": "2.0", "method": INITIALIZED, "params": {}}
"""A view's reply to the host's answer."""
INITIALIZE_ID: Final = "mcpframe/initialize"
"""The id of a view's `ui/initialize`, also if it is repeated: other requests of a page have other ids."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class InitializeAnswer:
    """A host's answer to `ui/initialize`.

    Attributes:
        version: the revision that it chose; None in the seed's form.
        info: its `hostInfo`; empty in the seed's form.
        capabilities: its `hostCapabilities`.
        context: its `hostContext`.
        error: the message of an error; None for a result.
    """

    version: str | None = None
    info: Json | None = None
    capabilities: Json | None = None
    context: Json | None = None
    error: str | None = None


def read_message(data: Json) -> dict[str, Any]:
    return jsonrpc.with_usable_id(dict(data))


def read_answer(data: Json) -> InitializeAnswer:
    message = read_message(data)
    if "error" in message:
        return InitializeAnswer(error=message["error"]["message"])
    result = message["result"]
    return InitializeAnswer(
        text_member(result, "protocolVersion"),
        object_member(result, "hostInfo"),
        object_member(result, "hostCapabilities"),
        object_member(result, "hostContext"),
    )


def read_tool_data(data: Json) -> dict[str, Any]:
    message = read_message(data)
    if "id" in message:
        raise MalformedMessage(f"{message['method'][:64]} must be a notification: it has an id.")
    return message


def text_member(data: Json, key: str) -> str | None:
    value = data.get(key)
    if not isinstance(value, str | None):
        raise MalformedMessage(f"{key} must be a text.")
    return value


def object_member(data: Json, key: str) -> Json:
    value = data.get(key)
    if not isinstance(value, dict | None):
        raise MalformedMessage(f"{key} must be an object.")
    return value or {}
