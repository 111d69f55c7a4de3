"""Whether the worker's event loop runs: it is asked, and its answer is awaited, for ever or until a deadline."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Final

from mcpframe.frame.worker.outputs import Output, Post
from mcpframe.frame.worker.port import text_of

PROBE_SECONDS: Final = 1.0
"""How often the worker is asked whether it computes, while a request waits for it or is handled."""

FETCH_SECONDS: Final = 10.0
"""How long a worker may fetch files of its bundle by synchronous requests, as a call needs them, once it is asked."""
LATE_SECONDS: Final = 0.25
"""How late the page may find that a grace period is over, before that counts as its own standstill."""


@dataclass(frozen=True)
class _Question:
    """A question whether the worker's event loop runs.

    Attributes:
        number: its number.
        asked: the time of it.
        ends: the time at which the worker is ended without an answer; None if it may compute.
        why: the reason for that.
        latest: the latest such time for a worker that fetches files.
        prolonged: whether it has been put off as the page stood still.
    """

    number: int
    asked: float
    ends: float | None = None
    why: str = ""
    latest: float = 0.0
    prolonged: bool = False


class Pulse:
    """The questions to one worker after the other. At most one waits for its answer.

    Attributes:
        computing: whether the worker has been reported as computing.
    """

    def __init__(self, grace: float) -> None:
        """Begin without a question.

        Args:
            grace: seconds that the worker has for an answer before it is ended.
        """
        self.computing = False
        self._grace = grace
        self._longest = max(grace, FETCH_SECONDS)
        self._numbers = itertools.count(1)
        self._question: _Question | None = None
        self._probe_at: float | None = None
        self._fetched_until = 0.0

    def deadline(self, *, awaited: bool) -> float | None:
        """Return the time at which something is due; None for none.

        Args:
            awaited: whether a request waits for the worker, or is handled.
        """
        question = self._question
        times = [self._probe_at, question.ends if question else None]
        if question and awaited and not self.computing:
            times.append(question.asked + PROBE_SECONDS)
        return min((time for time in times if time is not None), default=None)

    def overdue(self, now: float) -> str:
        """Return why the worker is to be ended: it has not answered in time. Empty if it is not.

        A page that stood still meanwhile has not read the answer, and the worker perhaps stood still with it, as on a
        machine that slept. The worker then gets the grace period once more.
        """
        question = self._question
        if not question or question.ends is None or question.ends > now:
            return ""
        if question.prolonged or now - question.ends <= LATE_SECONDS:
            return question.why
        ends, latest = now + self._grace, now + self._longest
        self._question = replace(question, ends=ends, latest=latest, prolonged=True)
        return ""

    def silent_since(self, now: float) -> float | None:
        """Return since when the worker has not answered, if it is to be reported as computing."""
        question = self._question
        is_due = question and question.asked + PROBE_SECONDS <= now and not self.computing
        return question.asked if question and is_due else None

    def ask(self, now: float, why: str) -> list[Output]:
        """Ask the worker, which is ended for this reason if it does not answer within the grace period."""
        if self._question and self._question.ends is not None:
            return []
        # A question that waits since earlier is not answered sooner than a new one.
        asked = self._question.asked if self._question else now
        ends = max(now + self._grace, self._fetched_until)
        return self._post(asked, ends, why, latest=now + self._longest)

    def fetches(self, now: float) -> None:
        """Allow the worker more time, as it begins to fetch a file, also if it is asked only later."""
        self._fetched_until = now + self._longest
        self._move_end(self._fetched_until)

    def fetched(self, now: float) -> None:
        """Allow the worker the grace period, as it has the file."""
        self._fetched_until = 0.0
        self._move_end(now + self._grace)

    def probe_later(self, now: float) -> None:
        """Ask in a while whether the worker computes, unless it is being asked."""
        if self._probe_at is None and not self._question:
            self._probe_at = now + PROBE_SECONDS

    def probe(self, now: float, *, awaited: bool) -> list[Output]:
        """Ask whether the worker computes, if it is time to, and a request waits."""
        if self._probe_at is None or self._probe_at > now:
            return []
        self._probe_at = None
        return self._post(now) if awaited and not self._question else []

    def answered(self, number: int) -> bool:
        """Note the worker's answer to a question. Returns whether it computes no more."""
        self._fetched_until = 0.0
        if self._question and number == self._question.number:
            self._question = None
        stops = self.computing and not self._question
        self.computing = self.computing and not stops
        return stops

    def ended(self) -> bool:
        """Note the end of the worker. Returns whether it computes no more."""
        self._question = self._probe_at = None
        self._fetched_until = 0.0
        stops, self.computing = self.computing, False
        return stops

    def _move_end(self, ends: float) -> None:
        """Move the time at which the worker is ended, if it is to be."""
        question = self._question
        if question and question.ends is not None:
            self._question = replace(question, ends=min(ends, question.latest))

    def _post(self, asked: float, ends: float | None = None, why: str = "", *, latest: float = 0.0) -> list[Output]:
        self._question = _Question(next(self._numbers), asked, ends, why, latest)
        return [Post(text_of("ask", self._question.number))]
