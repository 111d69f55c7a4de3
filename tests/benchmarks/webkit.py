"""How long a page takes to its first answer in WebKitGTK, which is Safari's engine without stack switching."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks.browser import BenchmarkError
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import Summary, take_turns
from tests.benchmarks.sites import Sites
from tests.benchmarks.start import CALLS, OURS, PLAIN, SETTLED, STOCK, WARM, check_pi
from tests.browser.webkit import ensure_webkit, running_webkit


def measure_webkit(sites: Sites, rounds: int) -> list[Figure]:
    """Measure starts against those without a snapshot, and against stock Pyodide.

    Raises:
        BenchmarkError: WebKitGTK is missing, or a server gives a wrong answer.
    """
    program = ensure_webkit()
    if program is None:
        raise BenchmarkError("no WebKitGTK is installed, and none could be: install webkit2gtk-driver and xvfb")
    urls = {OURS: sites.pi.url, PLAIN: sites.plain.url, STOCK: sites.stock.url}
    with tempfile.TemporaryDirectory(prefix="mcpframe-webkit-") as home, running_webkit(program, Path(home)) as webkit:

        def again(peer: str) -> float:
            webkit.open(sites.host)
            webkit.run(f"await new Promise((resolve) => setTimeout(resolve, {SETTLED}));")
            arguments = ", ".join(map(json.dumps, (urls[peer], *CALLS[False])))
            started = webkit.run(f"return await bench.start({arguments});")
            check_pi(started["answer"])
            return float(started["answered"])

        starts = take_turns(tuple(urls), rounds, again, warm_up=2)
        version = webkit.version
    return [
        _figure(f"{WARM}, WebKitGTK {version}", starts, STOCK, Goal(ratio=0.15)),
        _figure(f"{WARM}, WebKitGTK {version}", starts, PLAIN, None),
    ]


def _figure(name: str, starts: dict[str, list[float]], other: str, goal: Goal | None) -> Figure:
    summaries = {peer: Summary.of(starts[peer]) for peer in (OURS, other)}
    details = {peer: {"summary": asdict(summaries[peer]), "samples": starts[peer]} for peer in summaries}
    return Figure(name, "ms", summaries[OURS].median, summaries[other].median, other, goal, details)
