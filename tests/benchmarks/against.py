"""Bundles of this checkout against those that another checkout builds, such as one of the commit before a change."""

from __future__ import annotations

import contextlib
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from mcpframe.kit.base.errors import ToolFailed
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.web.serve import serve_app
from mcpframe.kit.web.site import Site
from tests.benchmarks.browser import BenchmarkBrowser, BenchmarkError, host_page
from tests.benchmarks.calls import processor_figure, processor_times
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import Summary, take_turns
from tests.benchmarks.sites import Counted, Framed, Sites
from tests.benchmarks.start import FRESH, OURS, WARM, Start, fresh_starts, timeline, warm_starts

_CALLS = {
    "round trip, 100 bytes, median": (100, 100, 1),
    "round trip, 32 in flight, median": (320, 100, 32),
    "10 MB argument and result": (1, 10_000_000, 1),
}
"""By figure: how many calls of a batch, bytes of each argument, and how many are in flight."""


def measure_against(
    browser: BenchmarkBrowser, sites: Sites, checkout: Path, starts: int, calls: int
) -> Iterator[Figure]:
    """Measure starts, downloads and calls of this checkout's bundles and of the other's, in turns.

    Args:
        browser: The browser.
        sites: This checkout's bundles, and the host page of both.
        checkout: The other checkout; its environment is made by its own `python3 build.py check`.
        starts: Rounds of each start.
        calls: Rounds of calls.

    Raises:
        BenchmarkError: The other checkout has no environment, cannot build, or gives a wrong answer.
    """
    name = _commit(checkout)
    with _bundles(checkout) as (pi, echo):
        pages = {OURS: sites.pi, name: pi}
        peers = tuple(pages)
        warm = warm_starts(browser, sites.host, pages, starts)
        yield _start(WARM, warm, name)
        fresh = fresh_starts(browser, sites.host, pages, starts)
        yield _start(FRESH, fresh, name)
        yield _download(fresh, name)
        with browser.profile() as context, host_page(context, sites.host) as host:
            host.bench("open", OURS, sites.echo.url)
            host.bench("open", name, echo.url)
            for title, arguments in _CALLS.items():
                batches = take_turns(peers, calls, lambda peer: host.bench("calls", peer, *arguments), warm_up=2)  # noqa: B023  called at once
                samples = {peer: [time for batch in batches[peer] for time in batch["samples"]] for peer in peers}
                yield _times(title, samples, name)
            times = processor_times(context, host, {OURS: sites.echo, name: echo}, calls)
            yield processor_figure(times, name)


def _commit(checkout: Path) -> str:
    try:
        return run_tool(["git", "rev-parse", "--short", "HEAD"], "git", cwd=checkout).strip()
    except ToolFailed as error:
        raise BenchmarkError(f"{checkout} is not a checkout of mcpframe: {error}") from error


@contextlib.contextmanager
def _bundles(checkout: Path) -> Iterator[tuple[Framed, Framed]]:
    """Build the two servers with the other checkout, and serve them on a site of their own."""
    with tempfile.TemporaryDirectory(prefix="mcpframe-bench-") as folder:
        for project in ("templates/pi-calculator", "tests/benchmarks/servers/echo"):
            build_with(checkout, checkout / project, Path(folder))
        counted = Counted(Site(Path(folder)))
        with serve_app(counted) as server:
            address = f"http://before.localhost:{server.port}"
            yield Framed(f"{address}/pi-calculator/", counted), Framed(f"{address}/echo/", counted)


def build_with(checkout: Path, project: Path, out: Path) -> None:
    """Build a project with the mcpframe of another checkout; any page may embed it.

    Raises:
        BenchmarkError: The checkout has no environment, or cannot build it.
    """
    python = checkout / ".venv" / "bin" / "python"
    if not python.is_file():
        raise BenchmarkError(f"{checkout} has no environment: run `python3 build.py check` there first.")
    command = [str(python), "-m", "mcpframe", "build", str(project), "--out", str(out), "--allow-origin", "*"]
    try:
        run_tool(command, f"The build of {project.name}", cwd=checkout)
    except ToolFailed as error:
        raise BenchmarkError(f"{checkout} could not build {project.name}: {error}") from error


def _start(title: str, starts: dict[str, list[Start]], name: str) -> Figure:
    figure = _times(title, {peer: [start.answered for start in starts[peer]] for peer in starts}, name)
    for peer, each in starts.items():
        figure.details[peer]["timeline"] = timeline(each)
    return figure


def _times(title: str, samples: dict[str, list[float]], name: str) -> Figure:
    summaries = {peer: Summary.of(samples[peer]) for peer in samples}
    details = {peer: {"summary": asdict(summaries[peer]), "samples": samples[peer]} for peer in samples}
    return Figure(title, "ms", summaries[OURS].median, summaries[name].median, name, None, details)


def _download(starts: dict[str, list[Start]], name: str) -> Figure:
    """What a first visit fetches: by 2 % at most may a change make it larger without a reason."""
    bytes_of = {peer: [start.bytes for start in starts[peer]] for peer in starts}
    ours, theirs = (statistics.median(bytes_of[peer]) / 1e6 for peer in (OURS, name))
    return Figure("first visit, over the wire", "MB", ours, theirs, name, Goal(ratio=1.02), bytes_of)
