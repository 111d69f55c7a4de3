"""The times from a server's frame to its first answers, read from the wire log. Plain data.

Events of this page are timed here. The framed page reports the steps before its first message in the experimental
capability `mcpframe/boot`, in milliseconds since it began to load, which is within a few milliseconds of the creation
of its frame.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from inspector.wire.entry import RECEIVED, Entry, shown
from inspector.wire.log import WireLog
from mcpframe.wire import read_wire

HOST: Final = "This page"
FRAME: Final = "Framed page"

CAPABILITY: Final = "mcpframe/boot"

_STEPS: Final = {
    "loader": "Loader runs",
    "wasm": "WebAssembly compiled",
    "unpacked": "Unpacked",
    "restored": "Memory restored",
    "files": "Files in place",
    "python": "Python started",
    "libraries": "Libraries loaded",
    "sdk": "MCP SDK imported",
    "ready": "Server imported",
}
"""Descriptions of the marks of an mcpframe page; others are shown under their own names."""

_FIRST_LIST: Final = "First list answered"
_FIRST_CALL: Final = "First call answered"
_MOST_MARKS: Final = 50
_MOST_MILLISECONDS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the start.

    Attributes:
        name: its description.
        side: the side that timed it: `HOST` or `FRAME`.
        start: its start, in ms since the frame was created: the end of the previous step on the same side, or for the
            first list and call the time of their request.
        end: its end.
    """

    name: str
    side: str
    start: float
    end: float


class Timeline:
    """The steps of the last session's start.

    Attributes:
        how: the framed page's way to start Python, such as `"plain"`; empty if unknown.
    """

    def __init__(self, log: WireLog) -> None:
        self.how = ""
        self._log = log
        self._begun: float | None = None
        self._host: dict[str, float] = {}
        self._asked: dict[str, float] = {}
        self._frame: dict[str, float] = {}
        log.observers.append(self._on_entry)

    def begin(self) -> None:
        """Start again: a frame is created now, for a session."""
        self._begun = self._log.now()
        self._host.clear()
        self._asked.clear()
        self._frame.clear()
        self.how = ""

    @property
    def steps(self) -> list[Step]:
        """The steps so far, in the order of their ends."""
        if self._begun is None:
            return []
        steps = [Step("Frame made", HOST, 0.0, 0.0)]
        for side, marks in ((HOST, self._host), (FRAME, self._frame)):
            before = 0.0
            for name, at in sorted(marks.items(), key=lambda mark: mark[1]):
                steps.append(Step(name, side, self._asked.get(name, before) if side == HOST else before, at))
                before = at
        return sorted(steps, key=lambda step: step.end)

    def _on_entry(self, entry: Entry, message: Any) -> None:
        if self._begun is None or entry.refused is not None or entry.peer != "server":
            return
        name: str | None = entry.step or None
        if name is None and entry.kind == "response" and entry.direction == RECEIVED:
            name = _name_of_answer(entry.title)
            if name == "Initialized" and name not in self._host:
                self._take_marks(message, entry.dialect)
        if name is not None and name not in self._host:
            self._host[name] = (entry.time - self._begun) * 1000
            if name in (_FIRST_LIST, _FIRST_CALL) and entry.took is not None:
                self._asked[name] = self._host[name] - entry.took * 1000

    def _take_marks(self, message: Any, spoken: str) -> None:
        wire = read_wire(message, spoken)
        timing: Any = wire.body if wire else None
        for key in ("result", "capabilities", "experimental", CAPABILITY):
            timing = timing.get(key) if isinstance(timing, Mapping) else None
        if not isinstance(timing, Mapping):
            return
        how, marks = timing.get("start"), timing.get("marks")
        self.how = shown(how) if isinstance(how, str) else ""
        for name, at in list(marks.items())[:_MOST_MARKS] if isinstance(marks, Mapping) else ():
            is_number = isinstance(at, int | float) and not isinstance(at, bool) and math.isfinite(at)
            if is_number and 0 <= at <= _MOST_MILLISECONDS:
                self._frame[_STEPS.get(name) or shown(name)] = float(at)


def span(steps: list[Step]) -> float:
    """Return the range of the bars in ms. It does not include a later call of the user."""
    start_up = max((step.end for step in steps if step.name != _FIRST_CALL), default=0.0)
    call = max((step.end for step in steps if step.name == _FIRST_CALL), default=0.0)
    return max(start_up, call) if call <= 1.5 * start_up else start_up


def _name_of_answer(method: str) -> str | None:
    if method in ("initialize", "server/discover"):
        return "Initialized"
    if method == "tools/call":
        return _FIRST_CALL
    return _FIRST_LIST if method.endswith("/list") else None
