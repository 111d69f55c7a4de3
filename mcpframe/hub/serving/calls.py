"""A call to the hub's server: who makes it, and what its page has answered."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from pydantic import PrivateAttr

from mcpframe.hub.core.interfaces import ON_THIS_MACHINE, Caller

client_origin: ContextVar[str] = ContextVar("mcpframe_client_origin", default=ON_THIS_MACHINE)
"""The client of the session that runs in this context: see `Caller.origin`."""


class PageResult(types.CallToolResult):
    """A result of a page, with the members that the SDK drops."""

    _as_sent: dict[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def as_sent(self) -> dict[str, Any]:
        """The result as its page has sent it."""
        return self._as_sent

    @as_sent.setter
    def as_sent(self, sent: dict[str, Any]) -> None:
        self._as_sent = sent


def caller_of(ctx: ServerRequestContext[Any, Any]) -> Caller:
    """Return the sender of a request.

    Over HTTP it is the user of its token, or a web page, whose origin is in a header that only its browser writes.
    """
    headers = getattr(ctx.request, "headers", {})
    user = getattr(ctx.request, "scope", {}).get("user")
    origin = headers.get("origin") or client_origin.get() if user is None else f"the user {user.display_name}"
    params = ctx.session.client_params
    info = None if params is None else params.client_info
    name = "" if info is None else f"{info.title or info.name} {info.version}"
    return Caller(origin, name)
