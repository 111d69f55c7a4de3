"""Connects a client to an author's server in this process: the same server object, without a frame."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcp import Client

from mcpframe.frame.boot.environment import set_environment
from mcpframe.frame.core.errors import EntryError
from mcpframe.frame.serving.author_setup import run_setup
from mcpframe.frame.serving.frame_session import local_session
from mcpframe.frame.serving.framed import Framed, unwrapped
from mcpframe.frame.serving.server import equip, open_entry
from mcpframe.frame.session.setup_phase import SetupResult, Visibility
from mcpframe.kit.base.errors import SetupNotDone
from mcpframe.kit.bundle.code.sdk_choice import fails_as_earlier
from mcpframe.kit.bundle.packages.lock import read_lock
from mcpframe.kit.project.project import Project, find_project
from mcpframe.kit.testing.framed import FramedOptions, in_one_task


async def import_server(project: Project) -> Any:
    """Import a project's server into this process, with its folder on the import path and its environment variables.

    Raises:
        EntryError: The project's entry is not a server, is a console script, or is a server of another SDK than this
            process's.
    """
    if project.is_program:
        raise EntryError(
            f"The entry of {project.file} is a console script, which is run only in a page: use framed_client for this "
            "test, or set tool.mcpframe.entry to 'module:object' of the server."
        )
    if str(project.source) not in sys.path:
        sys.path.insert(0, str(project.source))
    set_environment(**project.settings)
    try:
        return await open_entry(project.entry)
    except Exception as error:
        sdk = _other_sdk(project, error)
        if sdk is None:
            raise
        raise EntryError(
            f"The server of {project.file} is one of {sdk}, and this process has mcp {version('mcp')}, which cannot "
            "serve it: use framed_client for this test, which calls the server in its page, with the SDK of the bundle."
        ) from error


def _other_sdk(project: Project, error: Exception) -> str | None:
    """Return the other SDK for which a failing server is written; None if its SDK is not the reason."""
    lock = read_lock(project.lock_path)
    causes = [error, *([error.__cause__] if error.__cause__ else [])]
    if (lock and lock.sdk == 1) or any(fails_as_earlier(f"{type(cause).__name__}: {cause}") for cause in causes):
        return "mcp 1.x"
    absent = any(isinstance(cause, ModuleNotFoundError) and cause.name == "fastmcp" for cause in causes)
    of_fastmcp = absent or (isinstance(error, EntryError) and "is of type FastMCP;" in str(error))
    return "the package fastmcp" if of_fastmcp else None


@asynccontextmanager
async def connected_in_memory(path: Path, options: FramedOptions) -> AsyncIterator[Client]:
    """Connect to a project's server in this process. A session is a new local one each time.

    The module is imported once, so its global state is shared between tests, unlike in a frame.

    Raises:
        SetupNotDone: The setup fails, or shows a form.
    """
    project = find_project(path)
    server = await import_server(project)
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
