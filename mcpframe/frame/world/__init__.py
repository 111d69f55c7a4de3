"""The environment of a process, for code in a page that expects one: `prepare` sets it up, one file per reason.

Only bundles of third-party servers contain this folder, and those whose author's code uses threads or limits.
"""

from __future__ import annotations

import os
from importlib import import_module

from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.world import executors, host_names, threads, unavailable

BUNDLED_WITH = ("world",)


def prepare() -> None:
    """Set up the part that all visitors share, which may be in a snapshot. Does nothing on CPython or when repeated.

    Call it before the author's code is imported, which may import the functions by name.
    """
    if in_pyodide():
        threads.replace()
        executors.replace()
        unavailable.replace()
        host_names.replace()
        import_module("mcpframe.frame.browser.visitor")  # for `begin`, with the snapshot


def begin() -> None:
    """Set the name of the visitor's time zone, unless `env` names another. Does nothing on CPython.

    Local time and the language in `LANG` are already the visitor's; libraries such as tzlocal need the name.
    """
    if in_pyodide() and (zone := import_module("mcpframe.frame.browser.visitor").time_zone()):
        os.environ.setdefault("TZ", zone)


def only_look() -> None:
    """Disable threads without an error, for the build, which only inspects a server. Call it after `prepare`."""
    threads.are_run = False
