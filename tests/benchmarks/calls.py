"""Round trips of `tools/call`, short and long, beside the official TypeScript SDK."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import accumulate
from typing import Any

from playwright.sync_api import BrowserContext

from tests.benchmarks.browser import BenchmarkBrowser, HostPage, host_page
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import Summary, take_turns
from tests.benchmarks.sites import Framed, Sites

OURS, TYPESCRIPT = "mcpframe", "TypeScript SDK"
PEERS = (OURS, TYPESCRIPT)

SHORT = 100
LONG = 10_000_000
BATCH = 100
IN_FLIGHT = 32


def measure_calls(browser: BenchmarkBrowser, sites: Sites, rounds: int) -> list[Figure]:
    """The figures about calls. `rounds` are of 100 calls one after another, and of 320 with 32 in flight."""
    with browser.profile() as context, host_page(context, sites.host) as host:
        host.bench("open", OURS, sites.echo.url)
        host.bench("open", TYPESCRIPT, sites.typescript.url)
        one = _measure(host, rounds, BATCH, SHORT, 1)
        many = _measure(host, rounds, IN_FLIGHT * 10, SHORT, IN_FLIGHT)
        long = _measure(host, max(rounds // 2, 3), 1, LONG, 1)
        processor = processor_times(context, host, {OURS: sites.echo, TYPESCRIPT: sites.typescript}, rounds)
        parts = _parts(host, sites, rounds)
    one_by_one, together = _Calls(one), _Calls(many)
    median = one_by_one.figure("round trip, 100 bytes, median", "median", Goal(ratio=2, value=6))
    return [
        replace(median, details={peer: {**median.details[peer], "timeline": parts[peer]} for peer in PEERS}),
        *one_by_one.figures_if_enough("round trip, 100 bytes, p99"),
        together.figure("round trip, 32 in flight, median", "median", Goal(ratio=2)),
        *together.figures_if_enough("round trip, 32 in flight, p99"),
        together.figure("time per call, 32 in flight", "each", Goal(ratio=2, value=6)),
        processor_figure(processor, TYPESCRIPT),
        _Calls(long).figure("10 MB argument and result", "median", Goal(ratio=5)),
    ]


def _measure(host: HostPage, rounds: int, count: int, length: int, in_flight: int) -> dict[str, list[dict[str, Any]]]:
    return take_turns(PEERS, rounds, lambda peer: host.bench("calls", peer, count, length, in_flight), warm_up=2)


def processor_times(
    context: BrowserContext, host: HostPage, pages: Mapping[str, Framed], rounds: int
) -> dict[str, list[float]]:
    """Milliseconds of the processor that a call takes of a page's own thread, by peer: on a busy machine, too."""
    sessions = {peer: context.new_cdp_session(host.frame(page.url)) for peer, page in pages.items()}
    for session in sessions.values():
        session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def used(peer: str) -> float:
        metrics = sessions[peer].send("Performance.getMetrics")["metrics"]
        return next(float(metric["value"]) for metric in metrics if metric["name"] == "ThreadTime")

    def measure(peer: str) -> float:
        before = used(peer)
        host.bench("calls", peer, BATCH, SHORT, 1)
        return (used(peer) - before) * 1000 / BATCH

    return take_turns(tuple(pages), rounds, measure)


def processor_figure(times: Mapping[str, Sequence[float]], peer: str) -> Figure:
    """The figure of `processor_times` of our page and of a peer."""
    ours, theirs = (statistics.median(times[name]) for name in (OURS, peer))
    return Figure("processor time of a round trip, in the page", "ms", ours, theirs, peer, None, times)


def _parts(host: HostPage, sites: Sites, rounds: int) -> dict[str, dict[str, float]]:
    """Where the time of a call goes: averages, each added to those before it.

    What the pages do not measure themselves is the way between the processes, both ways.
    """
    frame = host.frame(sites.typescript.url)
    outside: dict[str, list[dict[str, float]]] = {peer: [] for peer in PEERS}
    host.bench("ask", OURS, "trace")
    frame.evaluate("globalThis.traced = []")
    for _ in range(rounds):
        for peer in PEERS:
            outside[peer].append(host.bench("trace", peer, BATCH, SHORT))
    inside = {
        OURS: json.loads(host.bench("ask", OURS, "traced")),
        TYPESCRIPT: {"page: SDK and tool": statistics.fmean(frame.evaluate("traced"))},
    }
    return {peer: _timeline(outside[peer], inside[peer]) for peer in PEERS}


def _timeline(outside: Sequence[dict[str, float]], inside: dict[str, float]) -> dict[str, float]:
    sends, away, reads = (statistics.fmean(each[name] for each in outside) for name in ("sends", "away", "reads"))
    parts = {"client: sends": sends, "processes: there and back": away - sum(inside.values()), **inside}
    parts["client: reads"] = reads
    return dict(zip(parts, accumulate(parts.values()), strict=True))


class _Calls:
    """The batches of calls of both peers as figures."""

    def __init__(self, batches: dict[str, list[dict[str, Any]]]) -> None:
        self._samples = {peer: _flat(batch["samples"] for batch in batches[peer]) for peer in PEERS}
        self._summaries = {peer: Summary.of(self._samples[peer]) for peer in PEERS}
        self._each = {
            peer: Summary.of([batch["total"] / len(batch["samples"]) for batch in batches[peer]]).median
            for peer in PEERS
        }

    def figure(self, name: str, what: str, goal: Goal | None) -> Figure:
        """The figure of one part of the summary, or of `each`: a batch's time divided by its calls."""
        values = self._each if what == "each" else {peer: getattr(self._summaries[peer], what) for peer in PEERS}
        details = {
            peer: {
                "summary": asdict(self._summaries[peer]),
                "each": self._each[peer],
                **({"samples": self._samples[peer]} if what == "median" else {}),
            }
            for peer in PEERS
        }
        return Figure(name, "ms", values[OURS], values[TYPESCRIPT], TYPESCRIPT, goal, details)

    def figures_if_enough(self, name: str) -> list[Figure]:
        """The figure of the 99th percentile, where there are enough samples for one."""
        enough = all(summary.p99 is not None for summary in self._summaries.values())
        return [self.figure(name, "p99", None)] if enough else []


def _flat(lists: Any) -> Sequence[float]:
    return [round(sample, 3) for samples in lists for sample in samples]
