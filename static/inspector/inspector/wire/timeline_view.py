"""The start of a session in the page: a table of its steps with their times, each with a bar."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from inspector.wire.log import WireLog
from inspector.wire.timeline import FRAME, Step, Timeline, span
from mcpframe import Element, Page

_COLUMNS: Final = ("Step", "Timed by", "Done after", "Took", "")
_REST: Final = 0.25
"""Seconds from a change to its display."""


class TimelineView:
    """The view of one timeline."""

    def __init__(self, page: Page, place: Element, timeline: Timeline, log: WireLog) -> None:
        """Build the view.

        Args:
            log: the log from which the timeline is read.
        """
        self._page = page
        self._timeline = timeline
        self._shown: list[Step] | None = None
        self._timer: asyncio.Handle | None = None
        self._box = place.add("div", class_="timeline")
        self._about = self._box.add("p", class_="quiet")
        self._table = self._box.add("table", class_="timeline-table")
        self._table.add("caption", "From the frame to the first answers", class_="insp-hidden")
        head = self._table.add("thead").add("tr")
        for column in _COLUMNS[:-1]:
            head.add("th", column, scope="col")
        head.add("td", aria_hidden="true")
        self._body = self._table.add("tbody")
        log.observers.append(lambda entry, message: self._wake())
        self._render()

    def _wake(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_REST, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        if self._box.js.isConnected:
            self._render()

    def _render(self) -> None:
        steps = self._timeline.steps
        if steps == self._shown:
            return
        self._shown = steps
        self._table.hidden = not steps
        self._about.text = _about(steps, self._timeline.how)
        self._body.clear()
        total = span(steps) or 1.0
        for step in steps:
            row = self._body.add("tr", class_="timeline-frame" if step.side == FRAME else None)
            row.add("th", step.name, scope="row")
            row.add("td", step.side)
            row.add("td", f"{step.end:,.1f} ms", class_="timeline-number")
            row.add("td", f"{step.end - step.start:,.1f} ms", class_="timeline-number")
            cell = row.add("td", aria_hidden="true", class_="timeline-bars")
            if step.end <= total:
                self._bar(cell, step, total)

    def _bar(self, cell: Element, step: Step, total: float) -> None:
        bar: Any = cell.add("div", class_="timeline-bar").js
        bar.style.marginInlineStart = f"{step.start / total * 100:.2f}%"
        bar.style.width = f"{max(0.0, step.end - step.start) / total * 100:.2f}%"


_HOW = {
    "plain": "Python was started without a snapshot.",
    "snapshot": "Python was started from a snapshot.",
}


def _about(steps: list[Step], how: str) -> str:
    if not steps:
        return "Nothing to show before the first session."
    told = "Times count from the moment the frame was made."
    if any(step.side == FRAME for step in steps):
        told += " The framed page's own begin with its loading, within a few milliseconds of that."
        if how:
            told += f" {_HOW.get(how, f'Its start: {how}.')}"
    else:
        told += " The framed page tells nothing about its own start."
    return told
