"""How long a view takes until it is initialized and has drawn a result, against the same view made in other ways."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mcpframe.views import view_html
from tests.benchmarks.browser import BenchmarkBrowser, BenchmarkError, host_page
from tests.benchmarks.figures import Figure
from tests.benchmarks.samples import Summary, take_turns
from tests.benchmarks.sites import PAGES, Sites
from tests.benchmarks.start import OURS, SETTLED, STOCK

APP = "App SDK"
TEXT, INLINE = "view text, in a frame", "view text, inline"


@dataclass(frozen=True)
class Drawing:
    """One start of a view.

    Attributes:
        painted: Milliseconds from setting the frame's address, or its text, to its first paint.
        initialized: The same to `ui/notifications/initialized`.
        drawn: The same until the result is in the view's document and a frame with it rendered.
    """

    painted: float
    initialized: float
    drawn: float


def measure_view_peers(browser: BenchmarkBrowser, sites: Sites, rounds: int) -> list[Figure]:
    """Measure a view as a page, as the text of a resource in both ways, and its peers; `pages/drawn.js` measures all.

    Raises:
        BenchmarkError: A view draws nothing within a minute, or another text.
    """
    url = sites.view.url
    peers = {
        OURS: (url, ""),
        TEXT: (url, view_html(url)),
        INLINE: (url, view_html(url, form="inline")),
        APP: (sites.app_view.url, ""),
        STOCK: (sites.stock_view.url, ""),
    }
    numbers = itertools.count()
    with browser.profile() as context, host_page(context, sites.host) as host:
        context.add_init_script(path=PAGES / "drawn.js")

        def again(peer: str) -> Drawing:
            host.page.goto(sites.host)
            host.page.wait_for_timeout(SETTLED)
            text = f"result {next(numbers)}"
            return drawing(host.bench("draw", *peers[peer], text), text)

        starts = take_turns(tuple(peers), rounds, again, warm_up=2)
    return figures_of(starts)


def drawing(result: Mapping[str, Any], text: str) -> Drawing:
    """Read what the host page has measured.

    Raises:
        BenchmarkError: The view has drawn another text.
    """
    if result["text"] != text:
        raise BenchmarkError(f"The view has drawn {result['text']!r} in place of {text!r}.")
    return Drawing(result["painted"], result["initialized"], result["drawn"])


def figures_of(starts: Mapping[str, Sequence[Drawing]]) -> list[Figure]:
    """The figures, with both peers for each step."""
    names = {
        "page start → initialized, a view that draws": (OURS, "initialized"),
        "page start → first drawn result, as a view": (OURS, "drawn"),
        "first paint, view in a frame": (TEXT, "painted"),
        "first paint, view inline": (INLINE, "painted"),
        "view in a frame, warm → first drawn result": (TEXT, "drawn"),
        "view, inline, warm → first drawn result": (INLINE, "drawn"),
    }
    return [_figure(name, *of, starts, other) for name, of in names.items() for other in (APP, STOCK)]


def _figure(name: str, own: str, step: str, starts: Mapping[str, Sequence[Drawing]], other: str) -> Figure:
    samples = {peer: [getattr(start, step) for start in starts[peer]] for peer in (own, other)}
    summaries = {peer: Summary.of(samples[peer]) for peer in samples}
    details = {peer: {"summary": asdict(summaries[peer]), "samples": samples[peer]} for peer in samples}
    return Figure(name, "ms", summaries[own].median, summaries[other].median, other, details=details)
