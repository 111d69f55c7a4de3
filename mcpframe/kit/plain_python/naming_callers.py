"""Requests say whose they are, so that a task answers only its user, and its id leads to the process that has it.

With several processes, the id of a task begins with the name of one, and `workers` passes requests on to it.

Source: extension `io.modelcontextprotocol/tasks`, 2026-07-28, "Security Considerations" and "Routing Headers".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from mcpframe.kit.edges.http.callers import from_current_user


class NamingCallers:
    """The outermost middleware of a process.

    Args:
        name: The name of this process; empty for the only one.
    """

    def __init__(self, name: str = "") -> None:
        self._name = name

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle a request."""
        return await call_next(replace(ctx, params=from_current_user(ctx.params, self._name)))
