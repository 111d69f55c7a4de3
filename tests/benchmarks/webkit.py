"""How long a page takes to its first answer in WebKitGTK, which is Safari's engine without stack switching."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import Summary, take_turns
from tests.benchmarks.sites import Sites
from tests.benchmarks.start import CALLS, OURS, PLAIN, SETTLED, STOCK, WARM, check_pi
from tests.browser.webkit import ensure_webkit, running_webkit


def measure_webkit(sites: Sites, rounds: int) -> list[Figure]:
    """Measure starts against those without a snapshot, and against stock Pyodide.

    Returns:
        The figures; none if WebKitGTK is not installed and cannot be.

    Raises:
        BenchmarkError: A server gives a wrong answer.
    """
    program = ensure_webkit()
    if program is None:
        print("bench: no WebKitGTK was measured: install webkit2gtk-driver and xvfb", file=sys.stderr)
        return []
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
    return [_figure(starts, STOCK, Goal(ratio=0.15), version), _figure(starts, PLAIN, None, version)]


def _figure(starts: dict[str, list[float]], other: str, goal: Goal | None, version: str) -> Figure:
    summaries = {peer: Summary.of(starts[peer]) for peer in (OURS, other)}
    details: dict[str, Any] = {
        peer: {"summary": asdict(summaries[peer]), "samples": starts[peer]} for peer in summaries
    }
    details["version"] = version
    return Figure(f"{WARM}, WebKitGTK", "ms", summaries[OURS].median, summaries[other].median, other, goal, details)
