"""HTTP errors whose body is a JSON-RPC error: the official clients show its message, and nothing of any other body."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import JSONResponse, Response

from mcpframe.frame.core.jsonrpc import error_response


def error_answer(status: int, code: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer to a request that is refused before its id is known (MCP specification, basic/transports).

    Args:
        status: the HTTP status.
        code: the code of the JSON-RPC error.
        message: a sentence for the user.
        headers: further headers.
    """
    return JSONResponse(error_response(None, code, message), status, headers)
