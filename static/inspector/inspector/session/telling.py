"""Errors as one sentence for people."""

from __future__ import annotations

import json
from typing import Any

from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from mcpframe import errors


class PlainEnd(Exception):
    """An end of the session whose message is complete."""


def sentence(error: BaseException) -> str:
    """Return an error as one sentence.

    Args:
        error: any error; of a group, its first error is used.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, MCPError):
        data = error.error.data
        more = "" if data is None else f" {data if isinstance(data, str) else json.dumps(data)}"
        return f"Error {error.error.code}: {error.error.message}{more}"
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return f"The answer is not what MCP has for it: {where}: {first['msg']}."
    text = str(error).strip()
    if text and isinstance(error, errors.McpFrameError | PlainEnd):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def not_reached(error: BaseException, origin: str, dialect: str) -> str:
    """Return the reason why connecting to a page failed, with advice if the page may not have answered at all.

    Args:
        error: as for `sentence`.
        origin: the inspector's origin, to be allowed by the page.
        dialect: the visible name of the dialect that was tried.
    """
    reason = sentence(error)
    if isinstance(error, errors.HandshakeTimeout):
        return (
            f"{reason} Is it a page that serves MCP, can it be framed, does it speak the dialect {dialect}, and does "
            f"it allow {origin}?"
        )
    return reason


def wire(model: BaseModel) -> dict[str, Any]:
    """Return a message of the SDK in its form on the wire."""
    dumped: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped
