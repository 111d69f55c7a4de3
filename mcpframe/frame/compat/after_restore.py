"""State that is set again after a restore from a snapshot: locale, time zone, clock, randomness.

A snapshot is a public file, the same for every visitor. All state that must differ between two visits is set here,
before any of the author's code runs.
"""

from __future__ import annotations

import json
import sys
from typing import Any

folders: list[str] = []
"""Folders that the author's module created while it was imported. A snapshot lacks them: they are created again."""


def make_folders() -> None:
    """Create the folders that the snapshot lacks."""
    import os

    for folder in folders:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103  pathlib is not needed otherwise


def start_visit(visitor: str) -> None:
    """Set all state of a visit.

    Args:
        visitor: JSON; `language`: the visitor's, in the form of the environment variable `LANG`; `zones`: the minutes
            that local time is behind UTC in January and July; `paths`: further folders to import from; `agent`: the
            browser's user agent; `lacksParts`: whether the bundle has modules of mcpframe that the snapshot lacks.
    """
    import logging
    import os
    import random
    import time

    from mcpframe.frame.compat import generators

    settings = json.loads(visitor)
    os.environ["LANG"] = settings["language"]
    os.environ.pop("PYTHONHASHSEED", None)
    del sys.path[0]  # Pyodide inserts this entry at every start; the snapshot has it already
    sys.path.extend(path for path in settings["paths"] if path not in sys.path)
    # The server's folder, which is current now, may have other files than it had for the snapshot's maker, as in
    # the playground; all have the same time, so that Python would not look again.
    sys.path_importer_cache.pop(os.getcwd(), None)  # noqa: PTH109  pathlib is not needed otherwise
    _set_locale()
    _set_agent(settings["agent"])
    _set_time_zone(time, *settings["zones"])
    random.seed()
    generators.seed()
    # log records compute `relativeCreated` from it
    _set_if_there(logging, "_startTime", time.time_ns() if sys.version_info >= (3, 13) else time.time())
    if uuid := sys.modules.get("uuid"):
        _set_if_there(uuid, "_node", None)
        _set_if_there(uuid, "_last_timestamp", None)
    make_folders()
    if tempfile := sys.modules.get("tempfile"):
        _set_if_there(tempfile, "_name_sequence", None)
    if settings["lacksParts"]:
        from mcpframe.frame.compat import sdk

        sdk.adapt_http()


def _set_time_zone(time: Any, january: int, july: int) -> None:
    """Recompute the values that the module `time` computes at import, in the same way."""
    standard, summer = max(january, july), min(january, july)
    time.timezone, time.altzone, time.daylight = standard * 60, summer * 60, int(january != july)
    time.tzname = tuple(
        f"UTC{'-' if zone >= 0 else '+'}{abs(zone) // 60:02}{abs(zone) % 60:02}" for zone in (standard, summer)
    )


def _set_locale() -> None:
    import _locale  # the module `locale` is not in memory: see `later_modules`

    locale: Any = _locale  # typeshed lacks its error

    try:
        locale.setlocale(locale.LC_CTYPE, "")
    except locale.Error:
        return  # unknown to this Python: the build's locale stays, which is UTF-8 as well


def _set_agent(agent: str) -> None:
    """Set the browser's name in `sys._emscripten_info`, where Python stores it at its start."""
    info: Any = getattr(sys, "_emscripten_info", None)
    if info is not None:
        values = [agent if name == "runtime" else getattr(info, name) for name in type(info).__match_args__]
        sys._emscripten_info = type(info)(values)  # type: ignore[attr-defined]


def _set_if_there(module: Any, name: str, value: object) -> None:
    if hasattr(module, name):
        setattr(module, name, value)
