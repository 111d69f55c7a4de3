"""Results of mcp 2.x servers for clients of revisions before 2026-07-28.

The SDK answers a request with "Handler returned an invalid result" if its result does not fit the client's revision:
one tool whose output schema is not an object costs such clients the whole list.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

import mcp_types as types
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from mcpframe.frame.core.object_results import with_objects

_PARAMS: dict[str, Any] = {"tools/list": types.PaginatedRequestParams, "tools/call": types.CallToolRequestParams}

_fitted: WeakSet[Server[Any]] = WeakSet()


def fit_results(target: Server[Any]) -> None:
    """Leave out of results what clients of earlier revisions refuse. Does nothing when repeated."""
    if target in _fitted:
        return
    _fitted.add(target)
    for method, params in _PARAMS.items():
        if (entry := target.get_request_handler(method)) is not None:
            target.add_request_handler(method, params, _fitting(method, entry.handler))


def _fitting(method: str, handler: Any) -> Any:
    async def fitting(ctx: ServerRequestContext[Any, Any], params: Any) -> HandlerResult:
        result: HandlerResult = await handler(ctx, params)
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS or _fits(result):
            return result
        wire: Any = result
        if isinstance(result, BaseModel):
            wire = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        fitted = with_objects(method, wire) if isinstance(wire, dict) else wire
        return result if fitted is wire else dict(fitted)

    return fitting


def _fits(result: object) -> bool:
    """Return whether a call's result is one for everybody, as nearly all are: they need not be serialised for that."""
    return isinstance(result, types.CallToolResult) and isinstance(result.structured_content, dict | None)
