"""The counts of a soak."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


class WarmUp:
    """The beginning of a soak, after which memory has to stay as it is: a part of the work, or of the time for it."""

    _PART = 0.4

    def __init__(self, seconds: float) -> None:
        """Begin one of a soak that takes so many seconds at most."""
        self._ends = time.monotonic() + self._PART * seconds

    def is_over(self, done: float) -> bool:
        """Return whether it is, when a share of the work is done."""
        return done >= self._PART or time.monotonic() >= self._ends


@dataclass
class Tally:
    """The outcomes, and the leaks.

    Attributes:
        done: how many calls of each kind were made.
        lost: the calls whose answer did not arrive, or belonged to another call.
        left: what was left at the end, by kind; every count should be 0.
        failures: the errors that the bridge, or the hub, has logged.
        measured: more figures for the table, by what they are.
    """

    done: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    measured: Counter[str] = field(default_factory=Counter)

    @property
    def calls(self) -> int:
        """How many calls were made."""
        return self.done.total()

    @property
    def problems(self) -> list[str]:
        """The problems, one per line."""
        left = [f"left: {count} {what}" for what, count in self.left.items() if count]
        return [*(f"lost: {what}" for what in self.lost), *left, *(f"failed: {what}" for what in self.failures)]

    def table(self) -> str:
        """The counts as lines of text."""
        lines = [f"{count:8,} {kind}" for kind, count in sorted(self.done.items())]
        lines += [f"{self.calls:8,} calls", f"{len(self.lost):8,} lost answers"]
        lines += [f"{count:8,} {what} left" for what, count in self.left.items()]
        lines += [f"{count:8,} {what}" for what, count in self.measured.items()]
        return "\n".join([*lines, f"{len(self.failures):8,} failures logged"])


class Failures(logging.Handler):
    """Collects the errors that the bridge or the hub, its web server and the event loop log."""

    def __init__(self, tally: Tally) -> None:
        """Record them in this tally, while it is installed."""
        super().__init__(logging.ERROR)
        self._tally = tally

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Record them for as long as the block lasts."""
        logging.getLogger().addHandler(self)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Record one."""
        if record.name.partition(".")[0] in ("mcpframe", "uvicorn", "asyncio"):
            self._tally.failures.append(self.format(record))
