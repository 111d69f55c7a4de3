"""The playground's time to a running server, against the same server as a bundle."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from docs.generate.playground import build_playground
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.web.serve import serve_folder
from tests.benchmarks.browser import BenchmarkBrowser, host_page
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import take_turns
from tests.benchmarks.sites import Sites
from tests.benchmarks.start import OURS, start_once

BUNDLE = "a bundle"

_UNTIL = """const until = async (look) => {
  const end = performance.now() + 120_000;
  for (;;) {
    const found = look();
    if (found) return found;
    if (performance.now() > end) throw new Error("not in time");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
const element = (id) => document.getElementById(id);
"""
_RUN = f"""async () => {{
  {_UNTIL}
  element("tools").replaceChildren();
  const began = performance.now();
  element("run").click();
  await until(() => document.querySelector("form.tool"));
  return performance.now() - began;
}}"""
"""From the click to the first tool's form."""
_FIRST = f"""async () => {{
  {_UNTIL}
  await until(() => document.title.startsWith("pi-calculator"));
  element("run").click();
  const form = await until(() => document.querySelector("form.tool"));
  form.querySelector("input").value = "1000";
  form.requestSubmit();
  await until(() => form.querySelector("output").textContent.includes("3."));
  return performance.now();
}}"""
"""From the beginning of the navigation to the first answer."""


_PAUSE = 5_000.0
"""Milliseconds between two clicks, in which the playground prepares the next run's frame."""


def measure_playground(
    browser: BenchmarkBrowser, sites: Sites, rounds: int, *, progress: Progress = silent
) -> Iterator[Figure]:
    """Yield the figures about the playground.

    Raises:
        BenchmarkError: It does not start, or answers wrongly.
    """
    with scratch("benchmark-playground") as folder:
        build_playground(checkout_dir(), folder / "playground", progress=progress)
        with serve_folder(folder) as site:
            address = f"{site.origin}/playground/#template=pi-calculator"
            yield _warm(browser, address, rounds, "at once")
            yield _warm(browser, address, rounds, "after five seconds", pause=_PAUSE)
            yield _first(browser, sites, address, rounds)


def _warm(browser: BenchmarkBrowser, address: str, rounds: int, when: str, *, pause: float = 0) -> Figure:
    with browser.profile() as context:
        page = context.new_page()
        page.goto(address)
        page.wait_for_function("() => document.title.startsWith('pi-calculator')")
        times = []
        for _ in range(rounds + 1):
            page.wait_for_timeout(pause)
            times.append(page.evaluate(_RUN))
    return Figure.of_times(f"playground: click on Run → first tool's form, warm, {when}", times[1:], 1000)


def _first(browser: BenchmarkBrowser, sites: Sites, address: str, rounds: int) -> Figure:
    def once(peer: str) -> float:
        with browser.profile() as context:
            if peer == BUNDLE:
                with host_page(context, sites.host) as host:
                    return start_once(context, host, sites.pi).answered
            page = context.new_page()
            page.goto(address, wait_until="commit")
            return float(page.evaluate(_FIRST))

    times = take_turns((OURS, BUNDLE), rounds, once, warm_up=0)
    medians = {peer: statistics.median(times[peer]) for peer in times}
    name = "playground: first visit → first answer"
    return Figure(name, "ms", medians[OURS], medians[BUNDLE], BUNDLE, Goal(ratio=1.3), dict(times))
