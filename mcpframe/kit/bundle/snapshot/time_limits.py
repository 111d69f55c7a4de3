"""The time limits of a job: of the page's start, of the job itself, and of each module that is imported in it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from mcpframe.kit.bundle.snapshot.boot import IMPORTING, PATIENCE, SILENCE


class TimeLimits:
    """The time limits of one job, from now on.

    The page says itself that it imports a module, and any code in it can: however often it does, its imports have
    `IMPORTING` seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = math.inf
        self._module = ""
        self._why = ""
        self._ends = 0.0
        self.allow(PATIENCE)

    def allow(self, seconds: float) -> None:
        """Let the page take so many seconds from now on."""
        self._ends = self._clock() + seconds
        self._why = f"it does not answer in {seconds:g} seconds"

    def imports(self, module: str) -> None:
        """Note that the page imports a module; an empty name: that it has imported all."""
        self._module = module
        self._last = min(self._last, self._clock() + IMPORTING)
        self.allow(SILENCE if module else PATIENCE)
        if self._last < self._ends:
            self._ends = self._last
            self._why = f"its imports take longer than {IMPORTING:g} seconds"

    def overdue(self) -> str:
        """Return what takes too long, as half a sentence; empty while nothing does."""
        if self._clock() <= self._ends:
            return ""
        return f"{self._why} while it imports {self._module}" if self._module else self._why
