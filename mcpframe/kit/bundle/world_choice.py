"""Which servers were written for a process, and get `mcpframe.frame.world`: what Python has around it there."""

from __future__ import annotations

from collections.abc import Mapping

from mcpframe.kit.bundle.imports import imports_of
from mcpframe.kit.bundle.lock import Lock
from mcpframe.kit.project.project import Project

_ASKED_FOR = frozenset({"concurrent", "resource"})
"""Modules whose import by an author means a server of mcp 2.x that needs it, too: without it they fail in a page."""


def written_for_a_process(project: Project, lock: Lock, author: Mapping[str, bytes]) -> bool:
    """Return whether a server was written for a process: a program, of another SDK, or with pools of threads.

    Args:
        project: The project.
        lock: Its lock.
        author: Its own files.
    """
    if project.is_program or lock.sdk == 1 or lock.has_fastmcp:
        return True
    return any(item.module.partition(".")[0] in _ASKED_FOR for item in imports_of(author))
