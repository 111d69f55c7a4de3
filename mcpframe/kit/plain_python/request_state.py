"""The state of multi-round-trip requests in several processes: shared keys, and the process that holds a call.

A server answers a request with a question and a state; the client's next request has its answer and that state. The SDK
seals the state, by default under a key of the process. A `ctx.elicit` also holds the suspended call, in one process
(`frame.serving.held_calls`). So the state begins with the process's name, and `workers` passes the answer on to it.

Source: MCP specification 2026-07-28, basic/patterns/mrtr (SEP-2322).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import AESGCMRequestStateCodec, RequestStateBoundary
from pydantic import BaseModel

from mcpframe.frame.compat.request_state import HandleCodec
from mcpframe.kit.edges.http.routing_names import named_state, split_state


def share_keys(target: Server[Any], keys: Sequence[str]) -> None:
    """Seal the state under these keys, unless the author has a codec of their own."""
    codec = AESGCMRequestStateCodec(list(keys))
    for middleware in target.middleware:
        if isinstance(middleware, RequestStateBoundary):
            security = middleware._security
            if isinstance(security.codec, HandleCodec | AESGCMRequestStateCodec):
                security.codec = codec


class NamedState:
    """The outermost middleware of a process: its name before each state that it sends.

    A state of another process, which has ended, is handled here: the SDK opens it with the shared keys.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle a request."""
        params = ctx.params or {}
        if isinstance(params.get("requestState"), str):
            ctx = replace(ctx, params={**params, "requestState": split_state(params["requestState"])[1]})
        result = await call_next(ctx)
        if isinstance(result, dict) and isinstance(result.get("requestState"), str):
            return {**result, "requestState": named_state(self._name, result["requestState"])}
        if isinstance(result, BaseModel) and isinstance(state := getattr(result, "request_state", None), str):
            return result.model_copy(update={"request_state": named_state(self._name, state)})
        return result
