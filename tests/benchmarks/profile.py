"""What a start from the cache consists of, from a trace of Chromium's: to know what is large, and no more than that."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcpframe.kit.base.errors import KitError
from tests.benchmarks.browser import BenchmarkBrowser, host_page
from tests.benchmarks.figures import Figure
from tests.benchmarks.samples import take_turns
from tests.benchmarks.sites import Sites
from tests.benchmarks.start import CALLS, OURS, SETTLED, Start, start_once

_CATEGORIES = (
    *("devtools.timeline", "v8", "v8.wasm", "disabled-by-default-v8.compile", "disabled-by-default-v8.gc"),
    *("blink.user_timing", "toplevel"),
)
_WARM_UP = 3
_FIRST, _LAST = "mcpframe:Loading", "mcpframe:ready"

# By the beginning of an event's name; an event counts without those in it.
_KINDS: dict[str, tuple[str, ...]] = {
    "WebAssembly that arrives": ("wasm.OnBytesReceived", "wasm.FinishStreaming", "wasm.Deserialize"),
    "checking WebAssembly": ("wasm.ValidateFunctions",),
    "compiling WebAssembly, a function when it is called first": ("wasm.CompileLazy", "wasm.CompileBaseline"),
    "optimising WebAssembly": ("wasm.TopTierCompilation",),
    "making instances": ("wasm.SyncInstantiate", "wasm.AsyncInstantiate"),
    "parsing and compiling JavaScript": (
        *("V8.Parse", "V8.PreParse", "V8.CompileCode", "V8.CompileIgnition", "V8.CollectSourcePositions", "v8.compile"),
        *("v8.parseOnBackground", "BackgroundCompileTask", "V8.CompileScript"),
    ),
    "optimising JavaScript": ("V8.Optimize", "V8.Maglev", "V8.Turbofan", "V8.FinalizeBaseline"),
    "collecting garbage": ("V8.GC", "MinorGC", "MajorGC"),
    "layout and drawing": ("Layout", "UpdateLayoutTree", "PrePaint", "Paint", "Layerize"),
}
_REST = "what runs, and what is handed over"

Event = Mapping[str, Any]


def measure_profile(browser: BenchmarkBrowser, sites: Sites) -> list[Figure]:
    """The figures, for each kind of work: on the page's own thread, and on the other threads of its process.

    Raises:
        KitError: The trace has no start in it.
    """
    with browser.profile() as context, host_page(context, sites.host) as host:

        def again(_: str) -> Start:
            host.page.goto(sites.host)
            host.page.wait_for_timeout(SETTLED)
            return start_once(context, host, sites.pi)

        take_turns((OURS,), _WARM_UP, again, warm_up=0)
        host.page.goto(sites.host)
        host.page.wait_for_timeout(SETTLED)
        assert context.browser
        context.browser.start_tracing(categories=list(_CATEGORIES))
        host.bench("start", sites.pi.url, *CALLS[False])
        host.page.wait_for_load_state("networkidle")
        events: list[Event] = json.loads(context.browser.stop_tracing())["traceEvents"]
    page, others = _by_thread(events)
    return [
        Figure(f"profile of a start: {kind}", "ms", page[kind] / 1000, others[kind] / 1000, "other threads")
        for kind in (*_KINDS, _REST)
        if page[kind] + others[kind] >= 1000
    ]


def _by_thread(events: Sequence[Event]) -> tuple[Counter[str], Counter[str]]:
    """Microseconds for each kind, of the thread that runs the page, and of the others of its process."""
    marks = [event for event in events if event.get("name") in (_FIRST, _LAST)]
    if not marks:
        raise KitError("The trace has no start in it.")
    process, own = marks[0]["pid"], marks[0]["tid"]
    threads: dict[int, list[Event]] = {}
    for event in events:
        if event["pid"] == process and event["ph"] == "X":
            threads.setdefault(event["tid"], []).append(event)
    page = _kinds(threads.pop(own))
    others: Counter[str] = Counter()
    for found in threads.values():
        others += _kinds(found)
    return page, others


def _kinds(events: Iterable[Event]) -> Counter[str]:
    """Microseconds for each kind of one thread's events, each without those in it."""
    found: Counter[str] = Counter()
    around: list[Event] = []
    for event in sorted(events, key=lambda event: (event["ts"], -event.get("dur", 0))):
        while around and around[-1]["ts"] + around[-1].get("dur", 0) <= event["ts"]:
            around.pop()
        if around:
            found[_kind(around[-1]["name"])] -= event.get("dur", 0)
        found[_kind(event["name"])] += event.get("dur", 0)
        around.append(event)
    return found


def _kind(name: str) -> str:
    return next((kind for kind, names in _KINDS.items() if name.startswith(names)), _REST)
