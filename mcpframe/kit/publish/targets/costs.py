"""The cost of a static host for visitors, in bytes and time, from the sizes in a bundle's manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcpframe.kit.static_hosts.static_host import StaticHost

BITS_PER_SECOND = 10e6
"""The line for which times are given; a slow one, as fast ones hide what a host costs."""
ROUND_TRIP = 0.05
"""The seconds of a request and its response on that line, without their content."""
_TURNS = 2  # the page asks for its files as soon as it is read: one turn for the page, one for them
_WORTH = 10_000  # bytes: less is not worth a line


@dataclass(frozen=True)
class Cost:
    """One thing that a host costs.

    Attributes:
        what: When, and why.
        megabytes: What visitors fetch in addition, in MB.
        milliseconds: How much later it is there, on a line of `BITS_PER_SECOND`.
    """

    what: str
    megabytes: float
    milliseconds: float


def seconds_of(size: float) -> float:
    """Return the seconds that a number of bytes takes."""
    return size * 8 / BITS_PER_SECOND


def costs_of(host: StaticHost, manifest: Mapping[str, Any]) -> Iterator[Cost]:
    """Return what a host costs the visitors of a bundle.

    Args:
        manifest: The bundle's manifest; of an earlier version it does not say what a visit loads.
    """
    files = manifest["files"]
    for when, words in (("first", "in a first visit"), ("later", "after the start, in the background")):
        sizes = _uncompressed(host, [each for each in files if each.get("loaded") == when])
        if (size := sum(sizes.values())) > _WORTH:
            endings = ", ".join(f".{ending}" for ending in sorted(sizes))
            yield Cost(f"{words}: {endings} is not compressed there", size / 1e6, seconds_of(size) * 1000)
    count = sum(each.get("loaded") == "first" for each in files)
    if host.kept is not None and count:
        yield Cost(
            f"in each visit after {host.kept // 60} minutes: it asks again for the {count} files that it has",
            0.0,
            _TURNS * ROUND_TRIP * 1000,
        )


def _uncompressed(host: StaticHost, files: list[Mapping[str, Any]]) -> dict[str, int]:
    """Return the bytes that a host sends more than compressed files have, by the endings of their names."""
    by_ending: dict[str, int] = {}
    for each in files:
        ending = each["path"].rpartition(".")[2]
        if host.compresses is not None and ending not in host.compresses and each["gzip_bytes"] is not None:
            by_ending[ending] = by_ending.get(ending, 0) + each["bytes"] - each["gzip_bytes"]
    return by_ending
