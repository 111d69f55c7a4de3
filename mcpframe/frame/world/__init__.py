"""What code that was written for a process finds around it in a page: `prepare` fits it, one file per reason.

Only bundles of other people's servers have this folder, and those whose author's code asks for threads or limits.
"""

from __future__ import annotations

from mcpframe.frame.compat.sdk import in_pyodide
from mcpframe.frame.world import executors, threads, unavailable


def prepare() -> None:
    """Fit what is the same for every visitor: it may be in a snapshot. Does nothing on CPython or when repeated.

    Call it before the author's code is imported, as that may take the functions by name.
    """
    if in_pyodide():
        threads.replace()
        executors.replace()
        unavailable.replace()


def only_look() -> None:
    """Start no threads, which is no error then: the build only looks at a server. Call it after `prepare`."""
    threads.are_run = False
