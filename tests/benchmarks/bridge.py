"""The bridge over stdio: from its start to the first answer, and what a call costs more than in the page itself."""

from __future__ import annotations

import contextlib
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.bundle.pipeline import build
from tests.benchmarks.browser import BenchmarkBrowser, host_page
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import take_turns
from tests.benchmarks.sites import SERVERS, Sites
from tests.benchmarks.stdio import StdioServer, stdio_server

BRIDGE, PAGE = "bridge", "in the page"
SHORT = 100
BATCH = 100


@contextlib.contextmanager
def stdio_bridge(server: Path, profile: Path | None = None) -> Iterator[StdioServer]:
    """Run a bridge for as long as the block lasts; without a profile it has a fresh one."""
    with (
        tempfile.TemporaryDirectory(prefix="mcpframe-bench-", ignore_cleanup_errors=True) as folder,
        stdio_server("bridge", str(server), "--profile", str(profile or folder)) as bridge,
    ):
        yield bridge


def measure_bridge(browser: BenchmarkBrowser, sites: Sites, rounds: int, starts: int) -> Iterator[Figure]:
    """Yield the figures about the bridge.

    Args:
        browser: The browser.
        sites: What is served.
        rounds: How many rounds of 100 calls, over the bridge and in the page in turns.
        starts: How many starts.
    """
    yield from _start(starts)
    yield from _calls(browser, sites, rounds)


def _start(starts: int) -> Iterator[Figure]:
    server = templates_dir() / "pi-calculator"
    with tempfile.TemporaryDirectory(prefix="mcpframe-bench-", ignore_cleanup_errors=True) as folder:
        profiles = {"fresh profile": None, "kept profile": Path(folder)}

        def first_answer(kind: str) -> float:
            start = time.perf_counter()
            with stdio_bridge(server, profiles[kind]) as bridge:
                bridge.initialize()
                return (time.perf_counter() - start) * 1000

        def listed(_: str) -> float:
            start = time.perf_counter()
            with stdio_bridge(built, profiles["kept profile"]) as bridge:
                bridge.initialize()
                bridge.tools()
                return (time.perf_counter() - start) * 1000

        samples = take_turns(list(profiles), starts, first_answer)
        built = build(server, Path(folder) / "dist", allowed_origins=[HOST_ORIGIN]).folder
        early = take_turns(["built bundle"], starts, listed)["built bundle"]
    yield Figure.of_times("bridge over stdio, tools listed, built bundle", early, 1000)
    yield from [Figure.of_times(f"bridge over stdio, first answer, {kind}", samples[kind], 3000) for kind in profiles]


def _calls(browser: BenchmarkBrowser, sites: Sites, rounds: int) -> list[Figure]:
    with (
        browser.profile() as context,
        host_page(context, sites.host) as host,
        stdio_bridge(SERVERS / "echo") as bridge,
    ):
        host.bench("open", PAGE, sites.echo.url)
        bridge.initialize()

        def batch(peer: str) -> list[float]:
            if peer == BRIDGE:
                return bridge.calls("echo", BATCH, SHORT)
            measured: list[float] = host.bench("calls", PAGE, BATCH, SHORT, 1)["samples"]
            return measured

        batches = take_turns((BRIDGE, PAGE), rounds, batch, warm_up=2)
    samples = {peer: [sample for batch in batches[peer] for sample in batch] for peer in (BRIDGE, PAGE)}
    ours, page = (statistics.median(samples[peer]) for peer in (BRIDGE, PAGE))
    return [
        Figure("bridge over stdio, round trip, 100 bytes, median", "ms", ours, page, PAGE, None, {"samples": samples}),
        Figure("bridge over stdio, extra per call, median", "ms", ours - page, goal=Goal(value=10)),
    ]
