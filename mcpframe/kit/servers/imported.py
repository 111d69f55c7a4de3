"""Imports an author's server into this process: plain CPython, without a frame."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any

from mcpframe.frame.boot.environment import set_environment
from mcpframe.frame.core.errors import EntryError
from mcpframe.frame.serving.server import open_entry
from mcpframe.kit.bundle.code.sdk_choice import fails_as_earlier
from mcpframe.kit.bundle.packages.lock import read_lock
from mcpframe.kit.project.project import Project


async def import_server(project: Project, *, instead: str) -> Any:
    """Import a project's server into this process, with its folder on the import path and its environment variables.

    Args:
        instead: What to do with a server that cannot be imported here, as the end of a sentence.

    Raises:
        EntryError: The project's entry is not a server, is a console script, or is a server of another SDK than this
            process's.
    """
    if project.is_program:
        raise EntryError(
            f"The entry of {project.file} is a console script, which is not run here: {instead}; or set "
            "tool.mcpframe.entry to 'module:object' of the server."
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
            f"serve it: {instead}."
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
