"""How long a page takes to its first answer, and what a first visit downloads."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext, Page, Request

from mcpframe.kit.dev.demo import is_right
from tests.benchmarks.browser import PATIENCE, BenchmarkBrowser, BenchmarkError, HostPage, host_page, script_memory
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import NotCounted, Summary, take_turns
from tests.benchmarks.sites import Framed, Sites

ITERATIONS = 1000
OURS, PLAIN, STOCK, TYPESCRIPT = "mcpframe", "without a snapshot", "stock Pyodide", "TypeScript SDK"
SLOW_LINE = {"offline": False, "latency": 40, "downloadThroughput": 2_500_000, "uploadThroughput": 2_500_000}
"""20 Mbit/s and 40 ms, as CDP's `Network.emulateNetworkConditions` takes it."""
SETTLED = 1000
"""Milliseconds until the process of the frame before has ended. Chromium lets it live on for a while, doing nothing,
says to nobody when it ends, and gives it to a frame that comes before, which then starts sooner."""
_MOMENT = 20
OPENS = 50
WARM, FRESH = "page start → first answer, warm cache", "page start → first answer, fresh profile"
TEXT = "hello"
CALLS: dict[bool, tuple[str, dict[str, Any]]] = {
    False: ("calculate_pi", {"iterations": ITERATIONS}),
    True: ("echo", {"text": TEXT}),
}
"""The first call, by whether the server is the one that echoes."""

_SECOND_FILES = "performance.getEntriesByType('mark').some(({ name }) => name.startsWith('mcpframe:second file'))"
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
        requests: How many requests the frame made before that.
        bytes: What came over the wire for them, headers included (CDP `encodedDataLength`).
    """

    answered: float
    connected: float
    marks: Mapping[str, float] = field(default_factory=dict)
    requests: int = 0
    bytes: int = 0


def measure_start(browser: BenchmarkBrowser, sites: Sites, rounds: int) -> Iterator[Figure]:
    """Yield the figures about the start."""
    peers = {OURS: sites.pi, PLAIN: sites.plain, STOCK: sites.stock, TYPESCRIPT: sites.typescript}
    warm = warm_starts(browser, sites.host, peers, rounds)
    yield time_figure(WARM, warm, STOCK, Goal(ratio=0.15, value=600))
    yield time_figure(WARM, warm, PLAIN, None)
    yield time_figure(WARM, warm, TYPESCRIPT, Goal(ratio=4))
    yield Figure(
        "connect → first answer, after prepare()", "ms", prepared_call(browser, sites, rounds), goal=Goal(value=20)
    )

    def on_a_slow_line(peer: str) -> Start:
        with browser.profile() as context, host_page(context, sites.beside(peers[peer])) as host:
            return start_once(context, host, peers[peer], slow=True)

    fresh = fresh_starts(browser, sites.host, {peer: peers[peer] for peer in (OURS, PLAIN, STOCK)}, rounds)
    yield time_figure(FRESH, fresh, PLAIN, Goal(ratio=0.6))
    yield time_figure(FRESH, fresh, STOCK, None)
    yield wire_figure("first visit, over the wire", fresh, OURS, Goal(value=6.5))
    yield wire_figure("first visit, over the wire, without a snapshot", fresh, PLAIN, Goal(value=8))
    slow = take_turns((OURS, PLAIN), rounds, on_a_slow_line, warm_up=0)
    yield time_figure(f"{FRESH}, 20 Mbit/s and 40 ms", slow, PLAIN, Goal(ratio=1))


def prepared_call(browser: BenchmarkBrowser, sites: Sites, rounds: int) -> float:
    """Return the median of the time to the first answer of a server that its host has prepared, in milliseconds.

    Raises:
        BenchmarkError: An answer is wrong.
    """
    times = []
    with browser.profile() as context, host_page(context, sites.host) as host:
        for _ in range(rounds + 1):  # the first fills the cache
            host.page.goto(sites.host)
            result = host.bench("prepared", sites.pi.url, *CALLS[False])
            check_pi(result["answer"])
            times.append(result["answered"])
    return statistics.median(times[1:])


def cold_call(browser: BenchmarkBrowser, sites: Sites, rounds: int) -> Figure:
    """The time of a call that runs what is in a second file of WebAssembly, before that has come.

    Raises:
        BenchmarkError: The answer is wrong, or the file was there.
    """
    first, again = [], []
    calls = ["add", {"a": 1, "b": 2}], ["name_of", {"character": "é"}]
    for _ in range(rounds):
        with browser.profile() as context, host_page(context, sites.host) as host:
            result = host.bench("further", sites.busy_page.url, *calls)
            came = host.frame(sites.busy_page.url).evaluate(_SECOND_FILES)
        if result["answer"]["content"][0]["text"] != "LATIN SMALL LETTER E WITH ACUTE" or not came:
            raise BenchmarkError(f"name_of gave a wrong answer, or needed no second file: {result}")
        first.append(result["times"][0])
        again.append(result["times"][1])
    details = {"first": first, "again": again}
    medians = statistics.median(first), statistics.median(again)
    return Figure("a call that fetches a second file", "ms", *medians, "the same again", Goal(value=300), details)


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


def warm_starts(
    browser: BenchmarkBrowser, host_url: str, peers: Mapping[str, Framed], rounds: int, *, call: Call | None = None
) -> dict[str, list[Start]]:
    """Start pages in turns in one profile, whose cache has them, and return the starts of each.

    Args:
        browser: The browser.
        host_url: The address of the host page.
        peers: The pages.
        rounds: How often each starts.
        call: As for `start_once`.

    Raises:
        BenchmarkError: As for `start_once`.
    """
    # One tab for all: a new one has the browser load its own surroundings meanwhile, for a second and on both cores.
    with browser.profile() as context, host_page(context, host_url) as host:

        def again(peer: str) -> Start:
            host.page.goto(host_url)
            host.page.wait_for_timeout(SETTLED)
            return start_once(context, host, peers[peer], call=call)

        return take_turns(tuple(peers), rounds, again, warm_up=2)


def fresh_starts(
    browser: BenchmarkBrowser, host_url: str, peers: Mapping[str, Framed], rounds: int, *, call: Call | None = None
) -> dict[str, list[Start]]:
    """Start pages in turns, each in a profile of its own; see `warm_starts`."""

    def in_fresh_profile(peer: str) -> Start:
        with browser.profile() as context, host_page(context, host_url) as host:
            return start_once(context, host, peers[peer], call=call)

    return take_turns(tuple(peers), rounds, in_fresh_profile, warm_up=0)


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
        NotCounted: Not everything that was served has been counted.
        BenchmarkError: The answer is wrong.
    """
    served_before = framed.served.bytes
    if slow:
        session = context.new_cdp_session(host.page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", SLOW_LINE)
    with _noted(host.page) as requests:
        echoes = "typescript" in framed.url
        tool, arguments, check = call or (*CALLS[echoes], check_echo if echoes else check_pi)
        result = host.bench("start", framed.url, tool, arguments)
        check(result["answer"])
        frame = host.frame(framed.url)
        host.page.wait_for_load_state("networkidle")
        marks = {name: epoch - result["epoch"] for name, epoch in frame.evaluate(_MARKS)}
        ended = [request for request in requests.until_ended() if request.frame == frame]
        served = framed.served.bytes - served_before
    # Together they are CDP's `encodedDataLength`, which is 0 for what comes from the cache.
    sizes = {request: request.sizes() for request in ended}
    wire = {request: size["responseHeadersSize"] + size["responseBodySize"] for request, size in sizes.items()}
    if sum(wire.values()) < served:
        raise NotCounted("The page has loaded more than the browser counted.")
    # On a busy machine the page may have begun to fetch what it does when it is quiet.
    answered = result["epoch"] + result["answered"]
    counted = [request for request in ended if request.timing["startTime"] <= answered]
    return Start(
        result["answered"], result["connected"], marks, len(counted), sum(wire[request] for request in counted)
    )


class _Requests:
    """The requests of a page while it is noted."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._begun: set[Request] = set()
        self._ended: list[Request] = []

    def begin(self, request: Request) -> None:
        """Note a request that begins."""
        self._begun.add(request)

    def end(self, request: Request) -> None:
        """Note a request that ends."""
        self._begun.discard(request)
        self._ended.append(request)

    def fail(self, request: Request) -> None:
        """Note a request that gets no answer."""
        self._begun.discard(request)

    def until_ended(self) -> list[Request]:
        """Wait until every request has ended, and return those with an answer.

        Raises:
            NotCounted: One does not end.
        """
        deadline = time.monotonic() + PATIENCE / 1000
        while self._begun:
            if time.monotonic() > deadline:
                raise NotCounted(f"{self._begun.pop().url} does not arrive.")
            self._page.wait_for_timeout(_MOMENT)
        return list(self._ended)


@contextlib.contextmanager
def _noted(page: Page) -> Iterator[_Requests]:
    """Note the requests of a page for as long as the block lasts."""
    requests = _Requests(page)
    listeners = {"request": requests.begin, "requestfinished": requests.end, "requestfailed": requests.fail}
    for event, listener in listeners.items():
        page.on(event, listener)  # type: ignore[call-overload]
    try:
        yield requests
    finally:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)


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
