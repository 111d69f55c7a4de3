"""How long a page takes to its first answer, and what a first visit downloads."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext, Request

from mcpframe.kit.demo import is_right
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.rig import BenchmarkError, Rig, host_page
from tests.benchmarks.samples import Summary, take_turns
from tests.benchmarks.sites import Framed, Sites

ITERATIONS = 1000
OURS, STOCK = "mcpframe", "stock Pyodide"

_MARKS = """() => [
    ...performance.getEntriesByType("mark").map((mark) => [mark.name, performance.timeOrigin + mark.startTime]),
    ["page", performance.timeOrigin],
]"""


@dataclass(frozen=True)
class Start:
    """One start.

    Attributes:
        answered: Milliseconds from setting the frame's address to the verified answer of the first call.
        connected: The same to the end of the client's `connect`.
        marks: The same to each mark that the page has set (`performance.mark`).
        requests: How many requests the frame made.
        bytes: What came over the wire for them, headers included (CDP `encodedDataLength`).
    """

    answered: float
    connected: float
    marks: Mapping[str, float] = field(default_factory=dict)
    requests: int = 0
    bytes: int = 0


def measure_start(rig: Rig, sites: Sites, rounds: int) -> list[Figure]:
    """The figures about the start."""
    peers = {OURS: sites.pi, STOCK: sites.stock}
    with rig.profile() as context:
        warm = take_turns(tuple(peers), rounds, lambda peer: start_once(context, sites.host, peers[peer]), warm_up=2)

    def in_fresh_profile(peer: str) -> Start:
        with rig.profile() as context:
            return start_once(context, sites.host, peers[peer])

    fresh = take_turns(tuple(peers), rounds, in_fresh_profile, warm_up=0)
    return [
        _time("page start → first answer, warm cache", warm, Goal(ratio=0.5)),
        _time("page start → first answer, fresh profile", fresh, None),
        _wire(fresh),
    ]


def _time(name: str, starts: Mapping[str, Sequence[Start]], goal: Goal | None) -> Figure:
    summaries = {peer: Summary.of([start.answered for start in starts[peer]]) for peer in starts}
    details = {
        peer: {
            "summary": asdict(summaries[peer]),
            "samples": [start.answered for start in starts[peer]],
            "timeline": timeline(starts[peer]),
        }
        for peer in starts
    }
    return Figure(name, "ms", summaries[OURS].median, summaries[STOCK].median, STOCK, goal, details)


def _wire(starts: Mapping[str, Sequence[Start]]) -> Figure:
    bytes_of = {peer: [start.bytes for start in starts[peer]] for peer in starts}
    ours, stock = (statistics.median(bytes_of[peer]) / 1e6 for peer in (OURS, STOCK))
    return Figure("first visit, over the wire", "MB", ours, stock, STOCK, Goal(value=9), bytes_of)


def timeline(starts: Sequence[Start]) -> dict[str, float]:
    """The medians of when each step was reached, in milliseconds from the start, in order."""
    names = set.intersection(*(set(start.marks) for start in starts))
    steps = {name: statistics.median(start.marks[name] for start in starts) for name in names}
    steps["connected"] = statistics.median(start.connected for start in starts)
    steps["answered"] = statistics.median(start.answered for start in starts)
    return dict(sorted(steps.items(), key=lambda step: step[1]))


def start_once(context: BrowserContext, host_url: str, framed: Framed) -> Start:
    """Frame a page in a new tab and call it.

    Raises:
        BenchmarkError: The answer is wrong, or not everything that was served has been counted.
    """
    with host_page(context, host_url) as host:
        finished: list[Request] = []
        host.page.on("requestfinished", lambda request: finished.append(request))
        served_before = framed.served.bytes
        result = host.bench("start", framed.url, "calculate_pi", {"iterations": ITERATIONS})
        check_pi(result["answer"])
        frame = host.frame(framed.url)
        host.page.wait_for_load_state("networkidle")
        marks = {name: epoch - result["epoch"] for name, epoch in frame.evaluate(_MARKS)}
        sizes = [request.sizes() for request in finished if request.frame == frame]
        # Together they are CDP's `encodedDataLength`, which is 0 for what comes from the cache.
        wire = sum(size["responseHeadersSize"] + size["responseBodySize"] for size in sizes)
        if wire < framed.served.bytes - served_before:
            raise BenchmarkError("The page has loaded more than the browser counted.")
        return Start(result["answered"], result["connected"], marks, len(sizes), wire)


def check_pi(answer: Mapping[str, Any]) -> None:
    """Compare an answer of `calculate_pi` with what it has to be.

    Raises:
        BenchmarkError: It is wrong.
    """
    estimate = answer.get("structuredContent") or {}
    if answer.get("isError") or estimate.get("points") != ITERATIONS or not is_right(estimate.get("pi"), ITERATIONS):
        raise BenchmarkError(f"calculate_pi gave a wrong answer: {answer}")
