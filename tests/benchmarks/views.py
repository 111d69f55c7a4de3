"""How long a bundle takes as a view of MCP Apps, against the same bundle under the SEP, and what its text adds."""

from __future__ import annotations

import gzip
import statistics
from collections.abc import Sequence
from typing import Any

from mcpframe.views.html import view_html
from tests.benchmarks.browser import BenchmarkBrowser, host_page
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import take_turns
from tests.benchmarks.sites import Sites
from tests.benchmarks.start import ITERATIONS, SETTLED, check_pi

SEP, VIEW, SHIM = "SEP", "view", "view in the text of a resource"
_CALL = ("calculate_pi", {"iterations": ITERATIONS})


def measure_views(browser: BenchmarkBrowser, sites: Sites, rounds: int) -> list[Figure]:
    """The figures about views."""
    url = sites.pi.url
    html = view_html(url)
    calls: dict[str, tuple[Any, ...]] = {
        SEP: ("start", url, *_CALL),
        VIEW: ("view", url, "", *_CALL),
        SHIM: ("view", url, html, *_CALL),
    }
    with browser.profile() as context, host_page(context, sites.host) as host:

        def again(peer: str) -> dict[str, Any]:
            host.page.goto(sites.host)
            host.page.wait_for_timeout(SETTLED)
            result: dict[str, Any] = host.bench(*calls[peer])
            check_pi(result["answer"])
            return result

        starts = take_turns(tuple(calls), rounds, again, warm_up=2)

    def median(peer: str, step: str) -> float:
        return statistics.median(_times(starts[peer], step))

    details = {peer: list(starts[peer]) for peer in calls}
    view, shimmed, sep = (median(peer, "answered") for peer in (VIEW, SHIM, SEP))
    called, initialized = "page start → ui/initialize", "page start → initialized, as a view"
    connected, added = median(SEP, "connected"), shimmed - view
    size = len(gzip.compress(html.encode(), 9)) / 1000
    return [
        Figure("page start → first answer, as a view", "ms", view, sep, SEP, Goal(ratio=1.1), details),
        Figure(initialized, "ms", median(VIEW, "initialized"), connected, f"{SEP}, connected", Goal(ratio=1.1)),
        Figure(called, "ms", median(VIEW, "called"), goal=Goal(value=100)),
        Figure("added by the text of a view", "ms", added, goal=Goal(value=60)),
        Figure("the text of a view, gzip", "KB", size, goal=Goal(value=4.608)),
    ]


def _times(results: Sequence[dict[str, Any]], step: str) -> list[float]:
    return [result[step] for result in results]
