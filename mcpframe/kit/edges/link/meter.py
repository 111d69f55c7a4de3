"""Counts of a link: its requests, with their outcomes and times, and the starts of its pages."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Literal, Protocol

from mcpframe.frame.core.jsonrpc import RequestId

RequestOutcome = Literal["result", "tool_error", "error", "cancelled", "lost"]
"""`lost`: its page ended before the answer, or did not start."""
PageOutcome = Literal["started", "failed", "lost", "too_large"]
"""`lost`: it had started, and ended by itself. `too_large`: it was ended, as it had too much memory."""


class LinkMeter(Protocol):
    """Counts for whoever runs the bridge."""

    def request(self, method: str, outcome: RequestOutcome, seconds: float) -> None:
        """Count a request that has ended. A client chooses the name of the method."""

    def page(self, outcome: PageOutcome, seconds: float = 0) -> None:
        """Count a start of a page, which took so many seconds, or its loss."""


class Unmetered:
    """A `LinkMeter` that counts nothing."""

    def request(self, method: str, outcome: RequestOutcome, seconds: float) -> None:
        pass

    def page(self, outcome: PageOutcome, seconds: float = 0) -> None:
        pass


UNMETERED = Unmetered()


class RequestTimes:
    """The times of one client's open requests."""

    def __init__(self, meter: LinkMeter) -> None:
        self._meter = meter
        self._open: dict[RequestId, tuple[str, float]] = {}

    def begin(self, id_: RequestId, method: str) -> None:
        """Begin a request."""
        self._open[id_] = method, time.monotonic()

    def end(self, id_: RequestId, outcome: RequestOutcome) -> None:
        """End a request. Nothing happens if it is not open."""
        if id_ in self._open:
            method, begun = self._open.pop(id_)
            self._meter.request(method, outcome, time.monotonic() - begun)

    def end_all(self) -> None:
        """End those that get no answer any more."""
        for id_ in list(self._open):
            self.end(id_, "lost")


def outcome_of(answer: Mapping[str, Any]) -> RequestOutcome:
    """Return the outcome of a request with this answer."""
    if "error" in answer:
        return "error"
    result = answer.get("result")
    return "tool_error" if isinstance(result, Mapping) and result.get("isError") is True else "result"
