"""How long a page takes to its first answer, and what a first visit downloads."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext, Request

from mcpframe.kit.dev.demo import is_right
from tests.benchmarks.browser import BenchmarkBrowser, BenchmarkError, HostPage, host_page, script_memory
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import Summary, take_turns
from tests.benchmarks.sites import Framed, Sites

ITERATIONS = 1000
OURS, PLAIN, STOCK, TYPESCRIPT = "mcpframe", "without a snapshot", "stock Pyodide", "TypeScript SDK"
SLOW_LINE = {"offline": False, "latency": 40, "downloadThroughput": 2_500_000, "uploadThroughput": 2_500_000}
"""20 Mbit/s and 40 ms, as CDP's `Network.emulateNetworkConditions` takes it."""
SETTLED = 1000
"""Milliseconds until the process of the frame before has ended. Chromium lets it live on for a while, doing nothing,
says to nobody when it ends, and gives it to a frame that comes before, which then starts sooner."""
OPENS = 50
WARM, FRESH = "page start → first answer, warm cache", "page start → first answer, fresh profile"
TEXT = "hello"
CALLS: dict[bool, tuple[str, dict[str, Any]]] = {
    False: ("calculate_pi", {"iterations": ITERATIONS}),
    True: ("echo", {"text": TEXT}),
}
"""The first call, by whether the server is the one that echoes."""

_MARKS = """() => [
    ...performance.getEntriesByType("mark").map((mark) => [mark.name, performance.timeOrigin + mark.startTime]),
    ["page", performance.timeOrigin],
]"""


@dataclass(frozen=True)
class Start:
    """One start.

    Attributes:
        answered: Milliseconds from setting the frame's address to the verified answer of the first call.
        connected: The same to the end of the client's `connect`.
        marks: The same to each mark that the page has set (`performance.mark`).
        requests: How many requests the frame made.
        bytes: What came over the wire for them, headers included (CDP `encodedDataLength`).
    """

    answered: float
    connected: float
    marks: Mapping[str, float] = field(default_factory=dict)
    requests: int = 0
    bytes: int = 0


def measure_start(browser: BenchmarkBrowser, sites: Sites, rounds: int) -> list[Figure]:
    """The figures about the start."""
    peers = {OURS: sites.pi, PLAIN: sites.plain, STOCK: sites.stock, TYPESCRIPT: sites.typescript}
    # One tab for all: a new one has the browser load its own surroundings meanwhile, for a second and on both cores.
    with browser.profile() as context, host_page(context, sites.host) as host:

        def again(peer: str) -> Start:
            host.page.goto(sites.host)
            host.page.wait_for_timeout(SETTLED)
            return start_once(context, host, peers[peer])

        warm = take_turns(tuple(peers), rounds, again, warm_up=2)

    def in_fresh_profile(peer: str) -> Start:
        with browser.profile() as context, host_page(context, sites.host) as host:
            return start_once(context, host, peers[peer])

    def on_a_slow_line(peer: str) -> Start:
        with browser.profile() as context, host_page(context, sites.beside(peers[peer])) as host:
            return start_once(context, host, peers[peer], slow=True)

    fresh = take_turns((OURS, PLAIN, STOCK), rounds, in_fresh_profile, warm_up=0)
    slow = take_turns((OURS, PLAIN), rounds, on_a_slow_line, warm_up=0)
    return [
        time_figure(WARM, warm, STOCK, Goal(ratio=0.15, value=600)),
        time_figure(WARM, warm, PLAIN, None),
        time_figure(WARM, warm, TYPESCRIPT, Goal(ratio=4)),
        time_figure(FRESH, fresh, PLAIN, Goal(ratio=0.6)),
        time_figure(FRESH, fresh, STOCK, None),
        time_figure(f"{FRESH}, 20 Mbit/s and 40 ms", slow, PLAIN, Goal(ratio=1.05)),
        wire_figure("first visit, over the wire", fresh, OURS, Goal(value=16)),
        wire_figure("first visit, over the wire, without a snapshot", fresh, PLAIN, Goal(value=8)),
    ]


def measure_opens(browser: BenchmarkBrowser, sites: Sites) -> list[Figure]:
    """The figures about many frames of one bundle, one after another, in one page."""
    times, memory = [], []
    with browser.profile() as context, host_page(context, sites.host) as host:
        for _ in range(OPENS):
            result = host.bench("start", sites.pi.url, *CALLS[False])
            check_pi(result["answer"])
            times.append(result["answered"])
            memory.append(script_memory(context, host.frame(sites.pi.url)) / 1e6)
            host.bench("close")
    details = {"times": times, "memory": memory}
    second = "2nd page"
    return [
        Figure(f"start time of the {OPENS}th page", "ms", times[-1], times[1], second, Goal(ratio=1.2), details),
        Figure(f"JavaScript heap of the {OPENS}th page", "MB", memory[-1], memory[1], second, Goal(ratio=1.2)),
    ]


def time_figure(name: str, starts: Mapping[str, Sequence[Start]], other: str, goal: Goal | None) -> Figure:
    """Return the figure of the time to the first answer, beside another peer's."""
    summaries = {peer: Summary.of([start.answered for start in starts[peer]]) for peer in (OURS, other)}
    details = {
        peer: {
            "summary": asdict(summaries[peer]),
            "samples": [start.answered for start in starts[peer]],
            "timeline": timeline(starts[peer]),
        }
        for peer in summaries
    }
    return Figure(name, "ms", summaries[OURS].median, summaries[other].median, other, goal, details)


def wire_figure(name: str, starts: Mapping[str, Sequence[Start]], ours: str, goal: Goal | None) -> Figure:
    """Return the figure of the bytes of a first visit, beside stock Pyodide's."""
    bytes_of = {peer: [start.bytes for start in starts[peer]] for peer in (ours, STOCK)}
    value, stock = (statistics.median(bytes_of[peer]) / 1e6 for peer in (ours, STOCK))
    return Figure(name, "MB", value, stock, STOCK, goal, bytes_of)


def timeline(starts: Sequence[Start]) -> dict[str, float]:
    """The medians of when each step was reached, in milliseconds from the start, in order."""
    names = set.intersection(*(set(start.marks) for start in starts))
    steps = {name: statistics.median(start.marks[name] for start in starts) for name in names}
    steps["connected"] = statistics.median(start.connected for start in starts)
    steps["answered"] = statistics.median(start.answered for start in starts)
    return dict(sorted(steps.items(), key=lambda step: step[1]))


Call = tuple[str, Mapping[str, Any], Callable[[Mapping[str, Any]], None]]
"""A tool, its arguments, and the check of its answer, which raises `BenchmarkError`."""


def start_once(
    context: BrowserContext, host: HostPage, framed: Framed, *, slow: bool = False, call: Call | None = None
) -> Start:
    """Frame a page and call it.

    Args:
        context: The profile.
        host: The host page.
        framed: The page.
        slow: Whether to emulate a slow line; the host page has to be of the framed page's site then.
        call: The first call; by default that of the templates.

    Raises:
        BenchmarkError: The answer is wrong, or not everything that was served has been counted.
    """
    finished: list[Request] = []
    served_before = framed.served.bytes
    if slow:
        session = context.new_cdp_session(host.page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", SLOW_LINE)

    def note(request: Request) -> None:  # Playwright takes no method of a list
        finished.append(request)

    host.page.on("requestfinished", note)
    echoes = "typescript" in framed.url
    tool, arguments, check = call or (*CALLS[echoes], check_echo if echoes else check_pi)
    result = host.bench("start", framed.url, tool, arguments)
    check(result["answer"])
    frame = host.frame(framed.url)
    host.page.wait_for_load_state("networkidle")
    marks = {name: epoch - result["epoch"] for name, epoch in frame.evaluate(_MARKS)}
    sizes = [request.sizes() for request in finished if request.frame == frame]
    host.page.remove_listener("requestfinished", note)
    # Together they are CDP's `encodedDataLength`, which is 0 for what comes from the cache.
    wire = sum(size["responseHeadersSize"] + size["responseBodySize"] for size in sizes)
    if wire < framed.served.bytes - served_before:
        raise BenchmarkError("The page has loaded more than the browser counted.")
    return Start(result["answered"], result["connected"], marks, len(sizes), wire)


def check_echo(answer: Mapping[str, Any]) -> None:
    """Compare an answer of `echo` with what it has to be.

    Raises:
        BenchmarkError: It is wrong.
    """
    if answer.get("isError") or answer["content"][0]["text"] != TEXT:
        raise BenchmarkError(f"echo gave a wrong answer: {answer}")


def check_pi(answer: Mapping[str, Any]) -> None:
    """Compare an answer of `calculate_pi` with what it has to be.

    Raises:
        BenchmarkError: It is wrong.
    """
    estimate = answer.get("structuredContent") or {}
    if answer.get("isError") or estimate.get("points") != ITERATIONS or not is_right(estimate.get("pi"), ITERATIONS):
        raise BenchmarkError(f"calculate_pi gave a wrong answer: {answer}")
