"""How long pages of servers of other SDKs take to their first answer, in turns with one of mcp 2.x."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.project.packaged import PackageOptions, package_project
from mcpframe.kit.web.serve import serve_folder
from tests.benchmarks.browser import BenchmarkBrowser, BenchmarkError, host_page
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import Summary, take_turns
from tests.benchmarks.sites import Sites
from tests.benchmarks.start import SETTLED, WARM
from tests.support.wheels import use_index, write_unmodified

PEER = "minimal, of mcp 2.x"
_FIRST_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    PEER: ("add", {"a": 1, "b": 2}),
    "shopping": ("add_item", {"item": "milk"}),
    "units": ("convert", {"value": 2, "from": "mile"}),
    "flashcards": ("list_cards", {"deck": "german"}),
}
_OF = {"shopping": "FastMCP of mcp 1.x", "units": "lowlevel, mcp 1.x", "flashcards": "package fastmcp 4"}
_GOALS: dict[str, Goal | None] = {"shopping": Goal(ratio=1.3), "units": Goal(ratio=1.3), "flashcards": None}


def measure_others(browser: BenchmarkBrowser, sites: Sites, rounds: int) -> list[Figure]:
    """Measure the start of each of `templates/unmodified`, built by its package's name, and of `templates/minimal`.

    Args:
        browser: The browser.
        sites: The host page.
        rounds: Rounds of each start.

    Raises:
        BenchmarkError: A server gives no answer.
    """
    with _built() as urls, browser.profile() as context, host_page(context, sites.host) as host:

        def again(peer: str) -> float:
            host.page.goto(sites.host)
            host.page.wait_for_timeout(SETTLED)
            started: Mapping[str, Any] = host.bench("start", urls[peer], *_FIRST_CALLS[peer])
            if started["answer"].get("isError") or not started["answer"]["content"]:
                raise BenchmarkError(f"{peer} gave a wrong answer: {started['answer']}")
            return float(started["answered"])

        starts = take_turns(tuple(_FIRST_CALLS), rounds, again, warm_up=2)
    return [_figure(name, starts) for name in _OF]


def _figure(name: str, starts: Mapping[str, list[float]]) -> Figure:
    summaries = {peer: Summary.of(starts[peer]) for peer in (name, PEER)}
    details = {peer: {"summary": asdict(summaries[peer]), "samples": starts[peer]} for peer in summaries}
    title = f"{WARM}, {name} ({_OF[name]})"
    return Figure(title, "ms", summaries[name].median, summaries[PEER].median, PEER, _GOALS[name], details)


@contextlib.contextmanager
def _built() -> Iterator[dict[str, str]]:
    """Build the servers, those of others by name from an index of their own, and serve them; yield their addresses."""
    with tempfile.TemporaryDirectory(prefix="mcpframe-bench-") as scratch, pytest.MonkeyPatch.context() as patch:
        folder, index = Path(scratch, "out"), Path(scratch, "index")
        for each in (folder, index):
            each.mkdir()
        write_unmodified(index)
        paths = {PEER: build(templates_dir() / "minimal", folder, allowed_origins=["*"], snapshot=True).url_path}
        use_index(index, patch)
        for name in _OF:
            args = ["--unit", "m"] if name == "units" else []
            project = package_project(f"unmodified-{name}", Path(scratch, name), options=PackageOptions(args=args))
            paths[name] = build(project, folder, allowed_origins=["*"], snapshot=True).url_path
        with serve_folder(folder) as served:
            yield {name: f"http://others.localhost:{served.port}/{path}" for name, path in paths.items()}
