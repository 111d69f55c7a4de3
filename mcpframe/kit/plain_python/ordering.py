"""A request's printed output precedes what the request sends after it, as in a frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession

from mcpframe.frame.session.printing import send_printed


async def keep_order(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Handle a request whose output is kept in order: the outermost middleware of the lowlevel server.

    A call that goes on after an answer of its client sends on the channel of that request, which has been here, too.
    """
    session = ServerSession.__new__(ServerSession)
    vars(session).update(vars(ctx.session))
    session._request_outbound = _InOrder(session._request_outbound)
    return await call_next(replace(ctx, session=session))


class _InOrder:
    """The SDK's channel to a request's client, which sends what was printed first."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)

    async def send_raw_request(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> dict[str, Any]:
        await send_printed()
        result: dict[str, Any] = await self._channel.send_raw_request(method, params, opts)
        return result

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> None:
        await send_printed()
        await self._channel.notify(method, params, opts)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        await send_printed()
        await self._channel.progress(progress, total, message)
