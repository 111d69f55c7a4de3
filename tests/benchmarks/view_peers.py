"""How long a view takes until it is initialized and has drawn a result, against the same view made in other ways."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tests.benchmarks.browser import BenchmarkBrowser, BenchmarkError, host_page
from tests.benchmarks.figures import Figure
from tests.benchmarks.samples import Summary, take_turns
from tests.benchmarks.sites import PAGES, Sites
from tests.benchmarks.start import OURS, SETTLED, STOCK

APP = "App SDK"


@dataclass(frozen=True)
class Drawing:
    """One start of a view.

    Attributes:
        initialized: Milliseconds from setting the frame's address to `ui/notifications/initialized`.
        drawn: The same until the result is in the view's document and a frame with it rendered.
    """

    initialized: float
    drawn: float


def measure_view_peers(browser: BenchmarkBrowser, sites: Sites, rounds: int) -> list[Figure]:
    """Measure a view and its peers; `pages/drawn.js` measures the drawing of all three.

    Raises:
        BenchmarkError: A view draws nothing within a minute, or another text.
    """
    peers = {OURS: sites.view, APP: sites.app_view, STOCK: sites.stock_view}
    numbers = itertools.count()
    with browser.profile() as context, host_page(context, sites.host) as host:
        context.add_init_script(path=PAGES / "drawn.js")

        def again(peer: str) -> Drawing:
            host.page.goto(sites.host)
            host.page.wait_for_timeout(SETTLED)
            text = f"result {next(numbers)}"
            return drawing(host.bench("draw", peers[peer].url, text), text)

        starts = take_turns(tuple(peers), rounds, again, warm_up=2)
    return figures_of(starts)


def drawing(result: Mapping[str, Any], text: str) -> Drawing:
    """Read what the host page has measured.

    Raises:
        BenchmarkError: The view has drawn another text.
    """
    if result["text"] != text:
        raise BenchmarkError(f"The view has drawn {result['text']!r} in place of {text!r}.")
    return Drawing(result["initialized"], result["drawn"])


def figures_of(starts: Mapping[str, Sequence[Drawing]]) -> list[Figure]:
    """The figures, with both peers for each step."""
    names = {
        "initialized": "page start → initialized, a view that draws",
        "drawn": "page start → first drawn result, as a view",
    }
    return [_figure(name, step, starts, other) for step, name in names.items() for other in (APP, STOCK)]


def _figure(name: str, step: str, starts: Mapping[str, Sequence[Drawing]], other: str) -> Figure:
    samples = {peer: [getattr(start, step) for start in starts[peer]] for peer in (OURS, other)}
    summaries = {peer: Summary.of(samples[peer]) for peer in samples}
    details = {peer: {"summary": asdict(summaries[peer]), "samples": samples[peer]} for peer in samples}
    return Figure(name, "ms", summaries[OURS].median, summaries[other].median, other, details=details)
