"""Messages of a server, checked where they enter the bridge, so that the rest of the bridge can rely on their form.

An invalid message is dropped. An invalid answer is replaced by an error answer, so that the request does not wait for
ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.errors import MalformedMessage, MessageError
from mcpframe.kit.bridge.tab import ServerMessage


def checked(server_message: ServerMessage) -> ServerMessage:
    """Check a message of the server.

    Args:
        server_message: the message.

    Returns:
        The message, or the error answer that replaces it.

    Raises:
        MessageError: it is not a valid message, and answers no request.
    """
    try:
        _check(server_message)
    except MessageError as error:
        id_ = jsonrpc.usable_id(server_message.id)
        if server_message.method is not None or id_ is None:
            raise
        text = f"The server's answer is not one that MCP allows: {error}"
        return ServerMessage(payload.encode(jsonrpc.error_response(id_, jsonrpc.INTERNAL_ERROR, text)), id_)
    return server_message


def cancelled_id(message: Mapping[str, Any]) -> jsonrpc.RequestId | None:
    """Return the id of the request that a message cancels; None if it cancels none.

    Args:
        message: a JSON-RPC object; its parameters need not be valid.
    """
    if message.get("method") != "notifications/cancelled" or not isinstance(params := message.get("params"), dict):
        return None
    return jsonrpc.usable_id(params.get("requestId"))


def _check(server_message: ServerMessage) -> None:
    try:
        message = server_message.message
    except (ValueError, RecursionError) as error:
        raise MalformedMessage(f"The message is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise MalformedMessage("The message is no object.")
    jsonrpc.request_id(message)
    if (message.get("id"), message.get("method")) != (server_message.id, server_message.method):
        raise MalformedMessage("The message does not match its head.")
    payload.check_content(server_message.text, message)
