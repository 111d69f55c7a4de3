"""How long servers with numpy, pandas, matplotlib, scipy and scikit-learn take to their first answer.

The peer is stock Pyodide with the same packages from the same folder.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime
from tests.benchmarks.browser import BenchmarkBrowser, BenchmarkError
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.sites import SERVERS, Framed, Sites, serving, write_stock
from tests.benchmarks.start import OURS, STOCK, Call, fresh_starts, time_figure, warm_starts, wire_figure
from tests.support.scientific import scientific_packages

NAMES = {"with-numpy": "numpy, pandas, matplotlib", "with-scipy": "scipy", "with-sklearn": "scikit-learn"}
GOALS = {"with-numpy": Goal(ratio=0.15, value=1200)}


def _check(answer: Mapping[str, Any]) -> None:
    if answer.get("isError") or answer["content"][0]["text"] != "2.0":
        raise BenchmarkError(f"compute gave a wrong answer: {answer}")


CALL: Call = ("compute", {"values": [1.0, 2.0, 3.0]}, _check)


def measure_science(browser: BenchmarkBrowser, sites: Sites, rounds: int) -> Iterator[Figure]:
    """Yield the figures about starts of scientific servers."""
    with _served(sites) as pages:
        for name, peers in pages.items():
            yield from _figures(browser, sites, rounds, name, peers)


def _figures(
    browser: BenchmarkBrowser, sites: Sites, rounds: int, name: str, peers: Mapping[str, Framed]
) -> Iterator[Figure]:
    warm = warm_starts(browser, sites.host, peers, rounds, call=CALL)
    yield time_figure(f"{NAMES[name]}: first answer, warm cache", warm, STOCK, GOALS.get(name))
    first = fresh_starts(browser, sites.host, peers, 1, call=CALL)
    yield wire_figure(f"{NAMES[name]}: first visit, over the wire", first, OURS, None)


@contextlib.contextmanager
def _served(sites: Sites) -> Iterator[dict[str, dict[str, Framed]]]:
    """Build the servers, and yield the pages of each, by peer."""
    packages, bundles = scientific_packages(), checkout_dir() / ".cache" / "bench" / "science"
    bundles.mkdir(parents=True, exist_ok=True)
    projects = [SERVERS / name for name in NAMES]
    for project in projects:
        build(project, bundles, allowed_origins=["*"], snapshot=True, distribution=str(packages))
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mcpframe-bench-")))
        write_stock(folder / "stock", projects, sites.host.rpartition("/")[0], ensure_runtime(), packages)
        bundle, stock = serving(stack, bundles, "science"), serving(stack, folder / "stock", "stock-science")
        yield {name: {OURS: bundle(f"{name}/"), STOCK: stock(f"stock.html?{name}")} for name in NAMES}
