"""The application of one process: the author's server behind the SDK's session manager."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpframe.frame.core.errors import EntryError, McpFrameError
from mcpframe.frame.serving.framed import Framed
from mcpframe.frame.serving.held_calls import HeldCalls
from mcpframe.frame.serving.server import equip
from mcpframe.frame.session.printing import captured
from mcpframe.kit.edges.http.authorization import guarded
from mcpframe.kit.edges.http.endpoint import mcp_app
from mcpframe.kit.edges.http.posts import CheckedPosts
from mcpframe.kit.edges.http.request_checks import without_events
from mcpframe.kit.edges.stdio.lines import LIMITS
from mcpframe.kit.plain_python.naming_callers import NamingCallers
from mcpframe.kit.plain_python.options import PlainOptions
from mcpframe.kit.plain_python.ordering import keep_order
from mcpframe.kit.plain_python.request_state import NamedState, share_keys
from mcpframe.kit.plain_python.setting_up import SettingUp
from mcpframe.kit.plain_python.shared_changes import STORAGE_ID, SharedChanges
from mcpframe.kit.plain_python.users import Users
from mcpframe.kit.plain_python.workers import SharingProcess
from mcpframe.kit.project.project import find_server
from mcpframe.kit.servers.imported import import_server
from mcpframe.kit.storage.opening import open_values

_INSTEAD = "serve its page with mcpframe bridge --http"


@asynccontextmanager
async def running(options: PlainOptions) -> AsyncIterator[ASGIApp]:
    """Import the project's server and run it for the duration of the block. Yields its application.

    Raises:
        ConfigError: The project is not a server, or its values cannot be kept.
        EntryError: The server cannot be served by this process.
        Exception: As the author's module or lifespan raises.
    """
    project = find_server(options.project)
    name = SharingProcess.new_name()
    shown = name if options.meeting else ""  # among several
    async with AsyncExitStack() as stack:
        values = await stack.enter_async_context(open_values(options.place, project.name))
        os.chdir(project.source)
        server = await import_server(project, instead=_INSTEAD)
        if isinstance(server, Framed) and server.served_by:
            raise EntryError(f"The server of {project.file} is not one of mcp 2, and is not served here: {_INSTEAD}.")
        target = equip(server)
        if options.keys:
            share_keys(target, options.keys)
        if isinstance(server, Framed):
            users = Users(server, values.storage, shown)
            users.begin()
            stack.callback(users.end)
            # within the suspended calls, which go on for the same user
            [at] = [number for number, each in enumerate(target.middleware) if isinstance(each, HeldCalls)]
            setting_up = SettingUp(server, project, values.storage)
            target.middleware[at + 1 : at + 1] = [users, setting_up]
        if isinstance(server, MCPServer):
            await stack.enter_async_context(SharedChanges(server, values.storage(STORAGE_ID), name).shared())
        target.middleware[:0] = [NamingCallers(shown), keep_order]
        settings = options.access.security()
        sessions = StreamableHTTPSessionManager(
            target, security_settings=settings, max_request_body_size=LIMITS.max_message_bytes
        )

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            await sessions.asgi_app(without_events(scope), receive, send)

        checked: ASGIApp = CheckedPosts(answer, settings)
        if options.meeting is not None:
            target.middleware.insert(0, NamedState(name))
            worker = SharingProcess(checked, options.meeting, name)
            checked = worker
        stack.enter_context(captured())
        await stack.enter_async_context(sessions.run())
        app = mcp_app(checked, options.access, settings)
        if options.meeting is not None:
            passed_on = replace(options.access, rate=None, proxies=())  # another process has counted it
            await stack.enter_async_context(worker.listening(guarded(worker, passed_on)))
        yield app


class ServingProcess:
    """`running` as an ASGI application of its own, with its lifespan: for uvicorn's worker processes."""

    def __init__(self, options: PlainOptions) -> None:
        self._options = options
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or live as long as the process."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with AsyncExitStack() as stack:
            try:
                self._app = await stack.enter_async_context(running(self._options))
            except McpFrameError as error:
                print(f"mcpframe serve: {error}", file=sys.stderr, flush=True)
                await send({"type": "lifespan.startup.failed", "message": ""})
                return
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})
