"""Long calls of the hub as tasks: the hub waits for the page, and its client polls the hub.

Pages know nothing of tasks: they serve earlier revisions. So a task of any page's tool can be polled and cancelled; it
fails with its page, whose end is its error. It answers only the client that began it: the user of a token, the origin
of a web page, or the programs on this machine.

Source: SEP-2663, extension `io.modelcontextprotocol/tasks`; MCP 2026-07-28.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.extension import MethodBinding, RequestHandler
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from mcpframe.frame.core.callers import Named
from mcpframe.frame.serving.tasks import AFTER_SECONDS, KEPT_SECONDS, Tasks
from mcpframe.hub.core.hub import Hub
from mcpframe.hub.core.interfaces import UNNAMED, Caller, OnProgress
from mcpframe.hub.serving.calls import PageResult, caller_of


class HubTasks(Tasks):
    """The extension of a hub's server; see `Tasks`.

    Args:
        hub: The hub whose tools are called.
    """

    def __init__(self, hub: Hub, *, after: float = AFTER_SECONDS, kept: float = KEPT_SECONDS) -> None:
        super().__init__(after=after, kept=kept)
        self._hub = hub

    def extend(self, server: Server[Any]) -> None:
        """Add the methods of tasks to a server."""
        server.extensions[self.identifier] = self.settings()
        for method in self.methods():
            server.add_request_handler(method.method, method.params_type, _of_its_versions(method))
        server.middleware.append(self.intercept_listen)

    async def call(
        self, name: str, arguments: Mapping[str, Any], on_progress: OnProgress | None = None, client: Caller = UNNAMED
    ) -> Any:
        """Call a tool; see `Hub.call`. Its page may take as long as a task is kept: the client can cancel it."""
        return await self._hub.call(name, arguments, on_progress, client, seconds=self.seconds)

    def caller_of(self, ctx: ServerRequestContext[Any, Any]) -> Named:
        """Return the client of a request."""
        return Named(caller_of(ctx).origin)

    def completed(self, result: HandlerResult, version: str) -> dict[str, Any]:
        """Return a page's result with the members that the SDK drops."""
        wire = super().completed(result, version)
        return {**wire, **result.as_sent} if isinstance(result, PageResult) else wire


def _of_its_versions(method: MethodBinding) -> RequestHandler:
    async def handle(ctx: ServerRequestContext[Any, Any], params: Any) -> HandlerResult:
        if method.protocol_versions is not None and ctx.protocol_version not in method.protocol_versions:
            raise MCPError(code=types.METHOD_NOT_FOUND, message="Method not found", data=method.method)
        return await method.handler(ctx, params)

    return handle
