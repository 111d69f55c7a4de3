"""Whether memory grows with calls: what is in use after many calls against what was after some."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from playwright.sync_api import BrowserContext

from tests.benchmarks.browser import BenchmarkBrowser, HostPage, host_page, script_memory
from tests.benchmarks.calls import IN_FLIGHT, OURS, SHORT, TYPESCRIPT
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.sites import Framed, Sites

# What counts as noise, per 9,000 calls: caches that fill up once, and what happens to be in use at the moment.
_NOISE = {"heap": 0.0, "used": 100.0, "objects": 90.0, "references": 9.0, "script": 200.0}

_NAMES = {
    "heap": ("WebAssembly memory", "KB"),
    "used": ("allocated in it", "KB"),
    "objects": ("Python objects", ""),
    "references": ("JavaScript objects held by Python", ""),
    "script": ("JavaScript heap", "KB"),
}


def measure_memory(browser: BenchmarkBrowser, sites: Sites, step: int) -> list[Figure]:
    """The figures about memory: ten times `step` calls against `step` calls."""
    series = {}
    with browser.profile() as context:
        for peer, framed in ((OURS, sites.echo), (TYPESCRIPT, sites.typescript)):
            with host_page(context, sites.host) as host:
                host.bench("open", peer, framed.url)
                series[peer] = _series(context, host, peer, framed, step)
                if peer == OURS:
                    proxies = _proxies(host, step)
    figures = [_growth(what, series, step) for what in _NAMES]
    name = f"proxies not destroyed in {step:,} calls"
    return [*figures, Figure(name, "", proxies, goal=Goal(value=0))]


def _series(context: BrowserContext, host: HostPage, peer: str, framed: Framed, step: int) -> list[dict[str, float]]:
    """Memory in use after each of ten times `step` calls; bytes are in KB."""
    series = []
    for _ in range(10):
        host.bench("calls", peer, step, SHORT, IN_FLIGHT)
        state = {"script": script_memory(context, host.frame(framed.url)) / 1e3}
        if peer == OURS:
            python = json.loads(host.bench("ask", peer, "memory"))
            state |= {name: python[name] / 1e3 for name in ("heap", "used")}
            state |= {name: python[name] for name in ("objects", "references")}
        series.append(state)
    return series


def _proxies(host: HostPage, step: int) -> int:
    host.bench("ask", OURS, "trace_proxies")
    before = json.loads(host.bench("ask", OURS, "memory"))["proxies"]
    host.bench("calls", OURS, step, SHORT, IN_FLIGHT)
    after = json.loads(host.bench("ask", OURS, "memory"))["proxies"]
    return int(after - before)


def _growth(what: str, series: Mapping[str, Sequence[Mapping[str, float]]], step: int) -> Figure:
    name, unit = _NAMES[what]
    growth = {peer: states[-1][what] - states[0][what] for peer, states in series.items() if what in states[0]}
    return Figure(
        f"{name}: growth from {step:,} to {10 * step:,} calls",
        unit,
        growth[OURS],
        growth.get(TYPESCRIPT),
        TYPESCRIPT if TYPESCRIPT in growth else "",
        Goal(value=_NOISE[what]),
        {peer: [state[what] for state in states] for peer, states in series.items() if what in states[0]},
    )
