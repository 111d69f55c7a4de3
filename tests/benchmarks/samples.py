"""Samples and what is said about them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mcpframe.kit.base.progress import remark
from tests.benchmarks.browser import BenchmarkError

ENOUGH_FOR_P99 = 500
"""With fewer samples the 99th percentile is a matter of the few worst."""

ATTEMPTS = 5
"""How often one measurement is made before the run gives it up."""

Result = TypeVar("Result")


class NotCounted(BenchmarkError):
    """A measurement that does not count, though the answer was right. It may be made again."""


@dataclass(frozen=True)
class Summary:
    """The statistics of samples.

    Attributes:
        count: How many there are.
        median: Their median.
        low: The first quartile.
        high: The third quartile.
        p99: The 99th percentile, where there are enough samples for one.
    """

    count: int
    median: float
    low: float
    high: float
    p99: float | None

    @classmethod
    def of(cls, samples: Sequence[float]) -> Summary:
        """Summarize at least one sample."""
        p99 = quantile(samples, 0.99) if len(samples) >= ENOUGH_FOR_P99 else None
        return cls(len(samples), statistics.median(samples), quantile(samples, 0.25), quantile(samples, 0.75), p99)


def quantile(samples: Sequence[float], share: float) -> float:
    """The value that `share` of the samples do not exceed, interpolated between neighbours.

    Raises:
        ValueError: There are no samples.
    """
    if not samples:
        raise ValueError("there are no samples")
    ordered = sorted(samples)
    place = share * (len(ordered) - 1)
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    return below + (above - below) * (place - math.floor(place))


def take_turns(
    peers: Sequence[str], rounds: int, measure: Callable[[str], Result], *, warm_up: int = 1
) -> dict[str, list[Result]]:
    """Measure peers in turns: A B A B ...

    Args:
        peers: Their names.
        rounds: How often each is measured.
        measure: Measures one of them.
        warm_up: How many rounds go before, of which nothing is kept.

    Returns:
        What was measured, by peer.
    """
    kept: dict[str, list[Result]] = {peer: [] for peer in peers}
    for number in range(-warm_up, rounds):
        for peer in peers:
            result = repeated(lambda: measure(peer))  # noqa: B023  called at once
            if number >= 0:
                kept[peer].append(result)
    return kept


def repeated(measure: Callable[[], Result]) -> Result:
    """Measure, again if it did not count.

    Raises:
        NotCounted: It did not count several times in a row.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return measure()
        except NotCounted as error:
            remark(f"again: {error}")
    return measure()
