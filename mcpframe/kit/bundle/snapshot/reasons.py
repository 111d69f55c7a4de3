"""Why there is no snapshot, for the author: half sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.kit.base.terminal import visible

_MOST_SHOWN = 500  # characters


def failure(outcome: Mapping[str, Any], page: str = "the page for it") -> str:
    """Return the reason why a page failed, as half a sentence; empty if it did not."""
    return f"{page} fails ({first_line(outcome['failure'])})" if "failure" in outcome else ""


def reason(outcome: Mapping[str, Any]) -> str:
    """Return the reason why there is no snapshot, as half a sentence; empty if there is one."""
    if failed := failure(outcome):
        return failed
    evidence = outcome["found"]
    if "waits" in evidence:
        return "it waits for time to pass before it lists its tools"
    if error := evidence["error"]:
        return f"its import raises {first_line(error['what'])} there"
    if asked := evidence["asked"]:
        where = f"{first_line(asked['file'])}, line {asked['line']}," if "file" in asked else "it"
        if "library" in asked:
            where += f" imports or calls {first_line(asked['library'])}, which"
        return f"{where} asks for {_described(asked['what'])} when it is imported"
    if evidence["tasks"]:
        return "it starts tasks when it is imported"
    if evidence["written"]:
        return f"it writes {first_line(evidence['written'][0])} when it is imported"
    if evidence["opened"]:
        return f"it keeps {first_line(evidence['opened'][0])} open"
    if "callbacks" in evidence:
        return "it keeps functions that native code calls, as ctypes makes them, when it is imported"
    if "held" in evidence:
        return "it holds JavaScript objects when it is imported"
    return ""


def _described(what: str) -> str:
    what = first_line(what)
    return f"the browser ({what})" if what.startswith("js.") else what


def first_line(text: str) -> str:
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    at = -1 if lines and lines[0].startswith("Traceback") else 0  # there the error is the last one
    return visible((lines or ["it says nothing"])[at].rstrip("."))[:_MOST_SHOWN]
