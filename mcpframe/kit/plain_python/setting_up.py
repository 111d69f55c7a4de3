"""A server's setup through elicitation: before the first call of a user, whose client can ask.

A client that cannot ask is served without a setup, as a host is that never begins one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.methods import INPUT_REQUIRED_METHODS

from mcpframe.frame.core.errors import SetupFailed
from mcpframe.frame.core.setup import SetupResult, Visibility
from mcpframe.frame.host_api.host import Host
from mcpframe.frame.page.session_page import Assets, Page
from mcpframe.frame.serving.author_setup import run_setup
from mcpframe.frame.serving.frame_session import FrameSession
from mcpframe.frame.serving.framed import Framed, PeerSession
from mcpframe.frame.serving.user_input import can_be_asked
from mcpframe.kit.edges.http.principal import current_user
from mcpframe.kit.plain_python.form_page import FormBrowser, answered
from mcpframe.kit.plain_python.users import SET_UP, setup_id

if TYPE_CHECKING:
    from mcpframe.frame.storage.values import Storage
    from mcpframe.kit.project.project import Project


class SettingUp:
    """The middleware that runs a server's setup for each of its users.

    Args:
        open_storage: Returns the storage of an id.
    """

    def __init__(self, server: Framed, project: Project, open_storage: Callable[[str], Storage]) -> None:
        self._server = server
        self._project = project
        self._open_storage = open_storage

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Handle a request of a user, for whom the server is set up first.

        Raises:
            MCPError: The setup has failed, or was cancelled.
        """
        phase = self._server.setup_phase
        if phase is None or ctx.method not in INPUT_REQUIRED_METHODS:
            return await call_next(ctx)
        user = current_user()
        state = self._open_storage(setup_id(user))
        if await state.get(SET_UP) or (phase.visible and not can_be_asked(types, ctx.session)):
            return await call_next(ctx)

        async def ask(text: str, schema: dict[str, Any]) -> Mapping[str, Any] | None:
            answer = await ctx.session.elicit_form(text, schema, ctx.request_id)
            return (answer.content or {}) if answer.action == "accept" else None

        try:
            result = await self._set_up(user, ask)
        except SetupFailed as error:
            result = SetupResult("", error_code=error.code, error_message=error.message)
        if result.error_code:
            raise MCPError(code=types.INVALID_REQUEST, message=f"The server is not set up: {result.error_message}")
        await state.set(SET_UP, True)
        return await call_next(ctx)

    async def _set_up(self, user: str, ask: Callable[..., Any]) -> SetupResult:
        assert self._server.setup_phase is not None
        config = self._project.config
        storage = self._open_storage(user)
        browser = FormBrowser(self._project.source)
        assets = Assets("", await asyncio.to_thread(_assets, self._project))
        session = FrameSession(None, "setup", storage, Page(browser, assets, storage=storage), Host())
        session.id = user
        default = SetupResult(config.title or self._project.name, Visibility.HIDDEN)
        with self._server.running_for(PeerSession(lambda: session)):
            running = asyncio.create_task(run_setup(self._server.setup_phase.function, session, default))
            try:
                await answered(running, browser, ask)
                result, _ = await running
            finally:
                running.cancel()
                await asyncio.wait([running])
        return result


def _assets(project: Project) -> frozenset[str]:
    paths = (path for pattern in project.config.assets for path in project.source.glob(pattern))
    return frozenset(path.relative_to(project.source).as_posix() for path in paths if path.is_file())
