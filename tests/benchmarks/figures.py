"""A figure: what was measured of ours and of a peer, and the goal it is held against."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Goal:
    """The requirement on a figure; all given parts count.

    Attributes:
        ratio: At most so many times the peer's.
        value: At most this, in the figure's unit.
    """

    ratio: float | None = None
    value: float | None = None


@dataclass(frozen=True)
class Figure:
    """One line of the report.

    Attributes:
        name: What it is.
        unit: `ms`, `MB`, `KB` or nothing for a count.
        ours: Our value.
        peer: The peer's value; None where there is none to compare with.
        peer_name: Who the peer is.
        goal: What it has to be, if anything.
        details: Whatever else the JSON file should have: samples, summaries.
    """

    name: str
    unit: str
    ours: float
    peer: float | None = None
    peer_name: str = ""
    goal: Goal | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_times(cls, name: str, samples: Sequence[float], limit: float) -> Figure:
        """The median of times, held against a limit; all in milliseconds."""
        return cls(name, "ms", statistics.median(samples), goal=Goal(value=limit), details={"samples": samples})

    @property
    def ratio(self) -> float | None:
        """Ours divided by the peer's."""
        return self.ours / self.peer if self.peer else None

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none."""
        if self.goal is None:
            return None
        by_ratio = self.goal.ratio is None or (self.ratio is not None and self.ratio <= self.goal.ratio)
        return by_ratio and (self.goal.value is None or self.ours <= self.goal.value)
