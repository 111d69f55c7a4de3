"""Connects a client to an author's server in this process: the same server object, without a frame."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client

from mcpframe.frame.serving.author_setup import run_setup
from mcpframe.frame.serving.frame_session import local_session
from mcpframe.frame.serving.framed import Framed, unwrapped
from mcpframe.frame.serving.server import equip
from mcpframe.frame.session.setup_phase import SetupResult, Visibility
from mcpframe.kit.base.errors import SetupNotDone
from mcpframe.kit.project.project import Project, find_project
from mcpframe.kit.servers.imported import import_server
from mcpframe.kit.testing.framed import FramedOptions, in_one_task

_INSTEAD = "use framed_client for this test, which calls the server in its page, with the SDK of the bundle"


@asynccontextmanager
async def connected_in_memory(path: Path, options: FramedOptions) -> AsyncIterator[Client]:
    """Connect to a project's server in this process. A session is a new local one each time.

    The module is imported once, so its global state is shared between tests, unlike in a frame.

    Raises:
        SetupNotDone: The setup fails, or shows a form.
    """
    project = find_project(path)
    server = await import_server(project, instead=_INSTEAD)
    equip(server)
    if isinstance(server, Framed):
        server.session = local_session()
        if options.setup:
            await _set_up(server, project)
    async with in_one_task(Client(unwrapped(server), mode=options.era, **options.client)) as client:
        yield client


async def _set_up(server: Framed, project: Project) -> None:
    phase = server.setup_phase
    if phase is None:
        return
    if phase.visible:
        raise SetupNotDone("The server's setup shows a form, which needs a page: use framed_client for this test.")
    default = SetupResult(project.config.title or project.name, Visibility.HIDDEN)
    result, _ = await run_setup(phase.function, server.session, default)
    if result.error_code:
        raise SetupNotDone(f"The server's setup failed ({result.error_code}): {result.error_message}")
