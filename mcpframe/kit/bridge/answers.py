"""What a server may say, checked where it enters the bridge: nothing behind this has to expect anything else.

A message that is none is not handed on. An answer that is none becomes an error answer, so that whoever waits for it
hears of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.frame import jsonrpc, payload
from mcpframe.frame.errors import MalformedMessage, MessageError
from mcpframe.kit.bridge.page import Said


def checked(said: Said) -> Said:
    """Check a message of the server.

    Args:
        said: the message.

    Returns:
        The message, or the error answer that takes its place.

    Raises:
        MessageError: it is no message, and nobody waits for it.
    """
    try:
        _check(said)
    except MessageError as error:
        if said.method is not None or not _is_id(said.id):
            raise
        assert said.id is not None
        text = f"The server's answer is not one that MCP allows: {error}"
        return Said(payload.encode(jsonrpc.error_response(said.id, jsonrpc.INTERNAL_ERROR, text)), said.id)
    return said


def cancelled_id(message: Mapping[str, Any]) -> jsonrpc.RequestId | None:
    """Return the id of the request that a message cancels, None where it cancels none.

    Args:
        message: a JSON-RPC object of anybody: nothing else is taken for granted.
    """
    if message.get("method") != "notifications/cancelled" or not isinstance(params := message.get("params"), dict):
        return None
    id_ = params.get("requestId")
    return id_ if _is_id(id_) else None


def _check(said: Said) -> None:
    try:
        message = said.message
    except (ValueError, RecursionError) as error:
        raise MalformedMessage(f"The message is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise MalformedMessage("The message is no object.")
    jsonrpc.request_id(message)
    if (message.get("id"), message.get("method")) != (said.id, said.method):
        raise MalformedMessage("The message is another one than its head says.")
    if not isinstance(message.get("result", {}), dict):
        raise MalformedMessage("Its result must be an object.")
    if "error" in message:
        failure = message["error"]
        fields = failure if isinstance(failure, dict) else {}
        if not isinstance(fields.get("message"), str) or not _is_code(fields.get("code")):
            raise MalformedMessage("Its error must be an object with a code and a message.")
    if "\\u" in said.text or not said.text.isascii():
        try:
            payload.encode(message).encode("utf-8")
        except UnicodeEncodeError:
            raise MalformedMessage("It has a text that is not well-formed Unicode.") from None


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_code(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
