"""The parts of the benchmark: what each measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mcpframe.kit.base.progress import step
from tests.benchmarks.against import measure_against
from tests.benchmarks.blocks import measure_blocks
from tests.benchmarks.bridge import measure_bridge
from tests.benchmarks.browser import BenchmarkBrowser
from tests.benchmarks.builds import measure_builds
from tests.benchmarks.calls import measure_calls
from tests.benchmarks.dev import measure_dev
from tests.benchmarks.dialects import measure_dialects
from tests.benchmarks.figures import Figure
from tests.benchmarks.framed import measure_framed_tests
from tests.benchmarks.hub import measure_hub
from tests.benchmarks.kept import AGAINST
from tests.benchmarks.memory import measure_memory
from tests.benchmarks.others import measure_others
from tests.benchmarks.phone import measure_phone
from tests.benchmarks.playground import measure_playground
from tests.benchmarks.profile import measure_profile
from tests.benchmarks.science import measure_science
from tests.benchmarks.sites import Sites
from tests.benchmarks.start import cold_call, measure_opens, measure_start
from tests.benchmarks.steps import measure_steps
from tests.benchmarks.view_peers import measure_view_peers
from tests.benchmarks.views import measure_views
from tests.benchmarks.visits import measure_visits
from tests.benchmarks.webkit import measure_webkit
from tests.benchmarks.workers import measure_workers


@dataclass(frozen=True)
class Run:
    """The means of a run.

    Attributes:
        browser: The browser.
        sites: What is served.
        starts: Rounds of starts.
        calls: Rounds of calls.
        quick: Whether it is only to be seen that it works.
        against: Another checkout to measure against, if any.
    """

    browser: BenchmarkBrowser
    sites: Sites
    starts: int
    calls: int
    quick: bool
    against: Path | None


Part = Callable[[Run], Iterable[Figure]]


def _views(run: Run) -> Iterator[Figure]:
    yield from measure_views(run.browser, run.sites, run.starts)
    yield from measure_view_peers(run.browser, run.sites, run.starts)


def _against(run: Run) -> Iterable[Figure]:
    assert run.against
    return measure_against(run.browser, run.sites, run.against.resolve(), run.starts, run.calls)


PARTS: dict[str, Part] = {
    "start": lambda run: measure_start(run.browser, run.sites, run.starts),
    "cold": lambda run: [cold_call(run.browser, run.sites, run.starts)],
    "views": _views,
    "workers": lambda run: measure_workers(run.browser, run.sites, run.starts),
    "phone": lambda run: measure_phone(run.browser, run.sites),
    "dialects": lambda run: measure_dialects(run.browser, run.sites, run.starts, run.calls, progress=step),
    "others": lambda run: measure_others(run.browser, run.sites, run.starts),
    "opens": lambda run: measure_opens(run.browser, run.sites),
    "build": lambda run: measure_builds(3),
    "visits": lambda run: measure_visits(),
    "calls": lambda run: measure_calls(run.browser, run.sites, run.calls),
    "memory": lambda run: measure_memory(run.browser, run.sites, 100 if run.quick else 1000),
    "bridge": lambda run: measure_bridge(run.browser, run.sites, run.calls, run.starts),
    "hub": lambda run: measure_hub(
        run.browser, run.sites, run.starts, run.calls, progress=step, tabs=20 if run.quick else 200
    ),
    "dev": lambda run: measure_dev(run.browser, run.starts),
    "tests": lambda run: measure_framed_tests(max(run.starts, 3)),
    "webkit": lambda run: measure_webkit(run.sites, run.starts),
    "playground": lambda run: measure_playground(run.browser, run.sites, run.starts, progress=step),
    "science": lambda run: measure_science(run.browser, run.sites, run.starts),
}
ASKED_FOR: dict[str, Part] = {
    "profile": lambda run: measure_profile(run.browser, run.sites),
    "blocks": lambda run: measure_blocks(run.browser, run.sites),
    "steps": lambda run: measure_steps(run.browser, run.sites, run.starts, progress=step),
}
"""Parts that are measured only where they are named."""
ALL = {AGAINST: _against, **PARTS, **ASKED_FOR}
