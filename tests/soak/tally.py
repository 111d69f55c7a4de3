"""What a soak has counted."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Tally:
    """What happened, and what is left.

    Attributes:
        done: how many calls of each kind were made.
        lost: the calls whose answer did not come, or was not theirs.
        left: what was left at the end, by what it is; all of it should be 0.
        failures: what the bridge has logged as an error.
    """

    done: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """How many calls were made."""
        return self.done.total()

    @property
    def problems(self) -> list[str]:
        """What should not be: one line each."""
        left = [f"left: {count} {what}" for what, count in self.left.items() if count]
        return [*(f"lost: {what}" for what in self.lost), *left, *(f"failed: {what}" for what in self.failures)]

    def table(self) -> str:
        """The counts as lines of text."""
        lines = [f"{count:8,} {kind}" for kind, count in sorted(self.done.items())]
        lines += [f"{self.calls:8,} calls", f"{len(self.lost):8,} lost answers"]
        lines += [f"{count:8,} {what} left" for what, count in self.left.items()]
        return "\n".join([*lines, f"{len(self.failures):8,} failures logged"])


class Failures(logging.Handler):
    """Notes what the bridge, its web server and the event loop log as errors."""

    def __init__(self, tally: Tally) -> None:
        """Note it in this tally, from `install` on."""
        super().__init__(logging.ERROR)
        self._tally = tally

    def emit(self, record: logging.LogRecord) -> None:
        """Note one."""
        if record.name.partition(".")[0] in ("mcpframe", "uvicorn", "asyncio"):
            self._tally.failures.append(self.format(record))
