"""A phone with 2 GB of memory, where the system ends a tab that uses more than about a quarter of it.

The JavaScript heaps of Chromium and each WebAssembly memory are limited as on such a phone, and what the page allocates
is compared with an empty one.
"""

from __future__ import annotations

from tests.benchmarks.browser import BenchmarkBrowser, BenchmarkError, host_page
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.sites import Sites
from tests.benchmarks.workers import PAGE, SESSION, WORKER
from tests.soak import processes

LIMIT = 300.0  # MB
_FLAGS = ("--js-flags=--max-old-space-size=128 --wasm-max-mem-pages=4096",)
"""MB, and pages of 64 KB: 128 MB and 256 MB."""
_PAGES = ("renderer",)

_OPEN = f"""async (url) => {{
  {SESSION}
  const began = performance.now();
  const opened = await session(url);
  const answer = await opened.call("add", {{ a: 2, b: 3 }});
  globalThis.closeSession = opened.close;
  return answer.result?.structuredContent.result === 5 && performance.now() - began;
}}"""


def measure_phone(browser: BenchmarkBrowser, sites: Sites) -> list[Figure]:
    """The figures about a server in a worker on a small phone, against the same one in its page.

    Raises:
        BenchmarkError: It does not start within the limits.
    """
    urls = {WORKER: sites.busy.url, PAGE: sites.busy_page.url}
    times, sizes = {}, {}
    with browser.profile(flags=_FLAGS) as context, host_page(context, sites.host) as host:
        empty = _allocated()
        for peer, url in urls.items():
            times[peer] = host.page.evaluate(_OPEN, url)
            if not times[peer]:
                raise BenchmarkError(f"The server does not start {peer} with little memory.")
            sizes[peer] = _allocated() - empty
            host.page.evaluate("closeSession()")
    name = "small memory, fresh profile: page start → first answer, in a worker"
    return [
        Figure(name, "ms", times[WORKER], times[PAGE], PAGE),
        Figure(
            "memory of a page whose server is in a worker", "MB", sizes[WORKER], sizes[PAGE], PAGE, Goal(value=LIMIT)
        ),
    ]


def _allocated() -> float:
    """Return the most megabytes that a process with pages has allocated."""
    return max(map(processes.allocated, processes.browser_processes(_PAGES)))
