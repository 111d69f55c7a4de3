"""Adapt the package fastmcp of 2.x, 3.x and 4.x to a frame, besides its SDK: see `sdk.prepare`.

It imports parts of an HTTP server at module level, for transports and authorization that a frame does not use, and so
do packages that it imports. Placeholders answer all these imports.

Its tasks run in workers of the package docket, which use Redis, or a Redis server inside the process that has no wheel
for a page. 2.14 starts such a worker for every server, 3.x if docket is installed. A page starts none.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import os
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import cache, wraps
from importlib import import_module
from typing import Any

import anyio

from mcpframe.frame.core.reasons import reason_of

BUNDLED_WITH = ("fastmcp",)

MODULE = "fastmcp.server.server"
"""The module with its server class."""
USERS = frozenset({"fastmcp", "key_value", "jsonschema_path", "openapi_pydantic"})
"""The packages whose imports placeholders answer."""


def set_environment() -> None:
    """Set the variables that it reads at import: a page does not check for updates, and shows no banner."""
    os.environ.setdefault("FASTMCP_CHECK_FOR_UPDATES", "off")
    os.environ.setdefault("FASTMCP_SHOW_SERVER_BANNER", "false")  # since 2.14
    os.environ.setdefault("FASTMCP_SHOW_CLI_BANNER", "false")


def fit() -> None:
    """Adapt the imported package: no worker for tasks, no banner; tools may fail, and ask in every revision."""
    contain_tools()
    ask_in_every_revision()
    module: Any = import_module(MODULE)
    if hasattr(module, "log_server_banner"):  # of 2.x, which has no setting for `run`
        module.log_server_banner = _show_nothing
    if hasattr(module.FastMCP, "_docket_lifespan"):
        module.FastMCP._docket_lifespan = _without_docket


class ToolStopped(Exception):
    """An exception of a tool that is not an `Exception`, or is a group, whose own message is not informative."""


@cache
def contain_tools() -> None:
    """Let any exception of a tool end only its call: fastmcp answers only an `Exception`."""
    from mcpframe.frame.core.raised import note

    tools: Any = import_module("fastmcp.tools")
    kind = getattr(tools, "FunctionTool", None) or import_module("fastmcp.tools.tool").Tool
    original = kind.run

    async def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return await original(self, *args, **kwargs)
        except BaseException as error:
            # Of the client, or of the end of the session.
            if isinstance(error, asyncio.CancelledError) and anyio.current_effective_deadline() == -math.inf:
                raise
            note(error)
            if isinstance(error, Exception) and not isinstance(error, BaseExceptionGroup):
                raise
            raise ToolStopped(reason_of(error)) from error

    kind.run = run


@cache
def ask_in_every_revision() -> None:
    """Let `Context.elicit` of 4.x ask clients of MCP 2026-07-28, whom its session asks in a way of its own.

    The package refuses, as it knows only requests of a server. See `serving.held_calls`.
    """
    context: Any = import_module("fastmcp.server.context").Context
    is_modern = getattr(context, "_is_modern_protocol", None)
    if is_modern is None:
        return
    elicit = context.elicit
    eliciting: ContextVar[bool] = ContextVar("mcpframe_eliciting", default=False)

    @wraps(elicit)
    async def ask(self: Any, *args: Any, **options: Any) -> Any:
        token = eliciting.set(True)
        try:
            return await elicit(self, *args, **options)
        finally:
            eliciting.reset(token)

    context.elicit = ask
    context._is_modern_protocol = lambda self: not eliciting.get() and is_modern(self)


def _show_nothing(*_: Any, **__: Any) -> None:
    pass


@asynccontextmanager
async def _without_docket(server: Any) -> AsyncIterator[None]:
    """Replace `FastMCP._docket_lifespan`: only set the server that `CurrentFastMCP` returns."""
    current = import_module("fastmcp.server.dependencies")._current_server
    token = current.set(weakref.ref(server))
    try:
        yield
    finally:
        current.reset(token)


async def list_tools(server: Any) -> list[Any]:
    """Return the tools of a server in the SDK's types."""
    return [tool.to_mcp_tool() for tool in await server.list_tools()]


async def serve_stdio(server: Any) -> None:
    """Serve over `stdio_server`."""
    quiet = "show_banner" in inspect.signature(server.run_stdio_async).parameters
    await server.run_stdio_async(**({"show_banner": False} if quiet else {}))
