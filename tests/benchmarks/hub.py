"""The hub over stdio, attached to a browser with one tab and with 200: registration of ten tools, and calls.

The peer is the official client in the page of the same page server: what it costs without a hub. Tabs are pages of
npm's `@mcp-b/transports` with the TypeScript SDK, each of ten tools, and one bundle of mcpframe. They share a few
processes of the browser, as tabs of one site do on a small machine. What the SDK and DevTools take by themselves is
measured, too: no call can take less.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext

from mcpframe.kit.base.progress import Progress
from tests.benchmarks.browser import BenchmarkBrowser, HostPage
from tests.benchmarks.calls import BATCH, SHORT
from tests.benchmarks.crossing import crossings
from tests.benchmarks.dialects import DialectPages, add_client, dialect_pages, open_tab
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import Summary, take_turns
from tests.benchmarks.servers.echo.alone import sdk_alone
from tests.benchmarks.sites import Sites
from tests.benchmarks.stdio import StdioServer, stdio_server

HUB, PAGE = "the hub", "in the page"
TABS = 200
TOOLS = 10
_FLAGS = ("--remote-debugging-port=0", "--renderer-process-limit=4")
_ROUNDS = itertools.count(1)
_REGISTRATION = Goal(value=100)
_ROUND_TRIP = Goal(ratio=3, value=50)


def measure_hub(
    browser: BenchmarkBrowser, sites: Sites, registrations: int, calls: int, *, progress: Progress, tabs: int = TABS
) -> Iterator[Figure]:
    """Yield the figures about the hub.

    Args:
        browser: The browser.
        sites: The bundles.
        registrations: Rounds of the registration.
        calls: Rounds of a hundred calls one after another, over the hub and in the page in turns.
        progress: Reports the step.
        tabs: How many tabs there are at the end.

    Raises:
        BenchmarkError: The hub, or a page, gives a wrong answer.
    """
    with (
        tempfile.TemporaryDirectory(prefix="mcpframe-bench-", ignore_cleanup_errors=True) as profile,
        dialect_pages(sites.modules, progress) as pages,
        browser.profile(flags=_FLAGS, folder=Path(profile)) as context,
        _attached(Path(profile)) as hub,
        open_tab("mcp_b", context, sites.echo.url, pages, PAGE) as bundle,
        open_tab("mcp_b", context, _many(pages), pages, PAGE) as tab,
    ):
        for count in (1, tabs):
            where = "1 tab" if count == 1 else f"{count} tabs"
            if count > 1:
                with progress(f"Opening {count} tabs"):
                    _more_tabs(context, _many(pages), hub, count - 2)
            names = _until(hub, lambda names: {"_peers_" in name for name in names} == {True, False})
            [ours] = [name for name in names if name.endswith("_echo") and "_peers_" not in name]
            theirs = "website_tool_peers_localhost_tab1_echo"
            to_peer = _calls(f"hub, round trip to a page of the TypeScript SDK, {where}", hub, tab, theirs, calls)
            yield _calls(f"hub, round trip, {where}", hub, bundle, ours, calls)
            yield to_peer
            if count == 1:
                yield from _parts(Path(profile), _many(pages), to_peer, calls)
            yield _registration(f"hub, registration of {TOOLS} tools, {where}", hub, tab, pages, registrations)
            tab.page.goto(_many(pages))
            add_client("mcp_b", tab, pages)
            tab.bench("openTab", PAGE)


def _many(pages: DialectPages, prefix: str = "") -> str:
    return f"{pages.peer('mcp_b')}&tools={TOOLS}&prefix={prefix}"


@contextlib.contextmanager
def _attached(folder: Path) -> Iterator[StdioServer]:
    """Run a hub that is attached to the browser of a profile."""
    with stdio_server("hub", "--attach", _devtools(folder), "--site", "*") as hub:
        hub.initialize()
        yield hub


def _devtools(profile: Path) -> str:
    """Return where the DevTools of a profile's browser are."""
    port = (profile / "DevToolsActivePort").read_text("utf-8").splitlines()[0]
    return f"http://127.0.0.1:{port}"


def _more_tabs(context: BrowserContext, url: str, hub: StdioServer, count: int) -> None:
    """Open more tabs, and wait until the hub has their tools."""
    wanted = len(hub.tools()) + count * TOOLS
    for _ in range(count):
        context.new_page().goto(url)
    _until(hub, lambda names: len(names) >= wanted)


def _until(hub: StdioServer, ready: Callable[[list[str]], bool]) -> list[str]:
    """Wait until the tools are those that are expected, and return their names."""
    while not ready(names := hub.tools()):
        hub.wait_for_change()
    return names


def _registration(name: str, hub: StdioServer, tab: HostPage, pages: DialectPages, rounds: int) -> Figure:
    """From the moment that a page begins to serve until the client has its tools, against the client in the page."""

    def once(who: str) -> float:
        prefix = f"r{next(_ROUNDS)}_"
        tab.page.goto(_many(pages, prefix))
        if who == PAGE:
            add_client("mcp_b", tab, pages)
            return float(tab.bench("register", PAGE))
        _until(hub, lambda names: sum(prefix in each for each in names) == TOOLS)
        now = time.time() * 1000
        return now - float(tab.page.evaluate("began"))

    return _figure(name, take_turns((HUB, PAGE), rounds, once, warm_up=2), _REGISTRATION)


def _calls(name: str, hub: StdioServer, tab: HostPage, tool: str, rounds: int) -> Figure:
    def batch(who: str) -> float:
        if who == HUB:
            return statistics.median(hub.calls(tool, BATCH, SHORT))
        return float(tab.bench("calls", PAGE, BATCH, SHORT, 1)["total"]) / BATCH

    return _figure(name, take_turns((HUB, PAGE), rounds, batch, warm_up=2), _ROUND_TRIP)


def _parts(profile: Path, url: str, whole: Figure, rounds: int) -> list[Figure]:
    """What the Python SDK and DevTools take of a round trip at least, against a call in the page."""

    def samples(once: Callable[[], Coroutine[Any, Any, float]]) -> list[float]:
        with ThreadPoolExecutor(1) as thread:  # Playwright has the event loop of this one
            return [thread.submit(asyncio.run, once()).result() for _ in range(rounds)]

    parts = {
        "the Python SDK alone, in memory": samples(lambda: sdk_alone(BATCH, SHORT)),
        "a message over DevTools and back": samples(lambda: crossings(_devtools(profile), url, BATCH, 3 * SHORT)),
    }
    return [
        Figure(f"hub, round trip: {part}, at least", "ms", min(each), whole.peer, PAGE, None, {HUB: each})
        for part, each in parts.items()
    ]


def _figure(name: str, samples: Mapping[str, Sequence[float]], goal: Goal) -> Figure:
    summaries = {who: Summary.of(samples[who]) for who in samples}
    details = {who: {"summary": asdict(summaries[who]), "samples": samples[who]} for who in samples}
    return Figure(name, "ms", summaries[HUB].median, summaries[PAGE].median, PAGE, goal, details)
