"""Start and round trip in each dialect, beside the SEP's start and a page with the dialect's packages in JavaScript."""

from __future__ import annotations

import contextlib
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.base.progress import Progress
from mcpframe.kit.web.host_page import bundle_module
from mcpframe.kit.web.serve import serve_folder
from tests.benchmarks.browser import BenchmarkBrowser, HostPage, host_page
from tests.benchmarks.calls import BATCH, SHORT
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.samples import Summary, take_turns
from tests.benchmarks.sites import PAGES, Sites
from tests.benchmarks.start import ITERATIONS, OURS, SETTLED, check_pi

SEP = "SEP"
_START = Goal(ratio=1.1)
_ROUND_TRIP = Goal(ratio=3)
_AS_SEP = Goal(ratio=1.05)
_CALL = ("calculate_pi", {"iterations": ITERATIONS})


@dataclass(frozen=True)
class _Peer:
    """The JavaScript of a dialect.

    Attributes:
        name: What people call the peer.
        packages: The folder with its lock, in the repository.
    """

    name: str
    packages: str


_PEERS = {
    "mcp_apps": _Peer("App SDK", "."),
    "mcp_ui": _Peer("a page by hand", "tests/npm/mcp-ui-6.1"),
    "mcp_b": _Peer("TypeScript SDK", "tests/npm/mcp-b"),
    "plain_mcp": _Peer("TypeScript SDK", "."),
    "webmcp": _Peer("a page by hand", "."),
}
_FRAMED = ("mcp_apps", "mcp_ui", "mcp_b", "plain_mcp")
_PAGE = """<!doctype html>
<meta charset="utf-8">
<title>{0}</title>
<link rel="icon" href="data:,">
<body>
<script type="module" src="{0}.js"></script>
"""


@dataclass(frozen=True)
class DialectPages:
    """Where the pages are served.

    Attributes:
        hosts: The address of the folder with the hosts.
        peers: The address of the folder with the peers.
        scripts: The folder with the scripts of the hosts.
    """

    hosts: str
    peers: str
    scripts: Path

    def host(self, dialect: str) -> str:
        """The address of the host of a dialect."""
        return f"{self.hosts}/{dialect}_host.html"

    def peer(self, dialect: str) -> str:
        """The address of the peer of a dialect."""
        return f"{self.peers}/{dialect}_peer.html?host={self.hosts}"


def measure_dialects(
    browser: BenchmarkBrowser, sites: Sites, starts: int, calls: int, *, progress: Progress
) -> Iterator[Figure]:
    """Yield the figures about dialects: starts of the same bundle, and rounds of a hundred calls one after another.

    Args:
        browser: The browser.
        sites: The bundles.
        starts: Rounds of each start.
        calls: Rounds of calls.
        progress: Reports the step.

    Raises:
        BenchmarkError: A page gives no answer, or a wrong one.
    """
    with dialect_pages(sites.modules, progress) as pages:
        yield _start("mcp_b", sites.pi.url, _CALL, browser, sites, pages, starts)
        yield _start("mcp_ui", sites.acting.url, ("echo", {"text": "a"}), browser, sites, pages, starts)
        for dialect in _FRAMED:
            yield _framed_calls(dialect, browser, sites, pages, calls)
        yield _beside_sep("plain_mcp", browser, sites, pages, calls)
        for dialect in ("mcp_b", "webmcp"):
            yield from _tab_calls(dialect, browser, sites, pages, calls)


@contextlib.contextmanager
def dialect_pages(modules: Path, progress: Progress) -> Iterator[DialectPages]:
    """Bundle the peers, and serve them for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="mcpframe-bench-") as scratch:
        folder = Path(scratch)
        with progress("Bundling the peers of dialects"):
            for dialect, peer in _PEERS.items():
                own = install_locked(checkout_dir() / peer.packages, progress=progress)
                # Copies beside their packages, as imports are resolved from the file's own folder.
                with tempfile.TemporaryDirectory(dir=own, prefix=".bench-") as sources:
                    shutil.copytree(PAGES, sources, dirs_exist_ok=True)
                    for name in (f"{dialect}_host", f"{dialect}_peer"):
                        bundle_module(str(Path(sources, "dialects", f"{name}.js")), folder / f"{name}.js", modules)
                        (folder / f"{name}.html").write_text(_PAGE.format(name))
        with serve_folder(folder) as served:
            port = served.port
            yield DialectPages(f"http://hosts.localhost:{port}", f"http://peers.localhost:{port}", folder)


def _start(
    dialect: str,
    url: str,
    call: tuple[str, Mapping[str, Any]],
    browser: BenchmarkBrowser,
    sites: Sites,
    pages: DialectPages,
    rounds: int,
) -> Figure:
    """The first answer of a bundle, or its first action, against its first answer under the SEP."""
    hosts = {dialect: pages.host(dialect), SEP: sites.host}
    with browser.profile() as context, host_page(context, "about:blank") as host:

        def again(peer: str) -> float:
            host.page.goto(hosts[peer])
            host.page.wait_for_timeout(SETTLED)
            started = host.bench("start", url, *call)
            if call == _CALL and "answer" in started:
                check_pi(started["answer"])
            return float(started["answered"])

        times = take_turns(tuple(hosts), rounds, again, warm_up=2)
    what = "first action" if dialect == "mcp_ui" else "first answer"
    ours, sep = (statistics.median(times[peer]) for peer in (dialect, SEP))
    return Figure(f"page start → {what}, in {dialect}", "ms", ours, sep, SEP, _START, dict(times))


def _framed_calls(dialect: str, browser: BenchmarkBrowser, sites: Sites, pages: DialectPages, rounds: int) -> Figure:
    ours = sites.acting.url if dialect == "mcp_ui" else sites.echo.url
    with browser.profile() as context, host_page(context, pages.host(dialect)) as host:
        host.bench("open", OURS, ours)
        host.bench("open", _PEERS[dialect].name, pages.peer(dialect))
        return _calls(
            f"round trip in {dialect}, 100 bytes", _PEERS[dialect].name, dict.fromkeys(_both(dialect), host), rounds
        )


def _beside_sep(dialect: str, browser: BenchmarkBrowser, sites: Sites, pages: DialectPages, rounds: int) -> Figure:
    """The round trip to the same bundle in two dialects."""
    with (
        browser.profile() as context,
        host_page(context, pages.host(dialect)) as host,
        host_page(context, sites.host) as sep,
    ):
        host.bench("open", OURS, sites.echo.url, {"byHand": True})
        sep.bench("open", SEP, sites.echo.url)
        return _calls(f"round trip in {dialect} by hand, 100 bytes", SEP, {OURS: host, SEP: sep}, rounds, _AS_SEP)


def _tab_calls(dialect: str, browser: BenchmarkBrowser, sites: Sites, pages: DialectPages, rounds: int) -> list[Figure]:
    """Calls in pages of their own, by a script in the same window: the server's page is in front while it is asked."""
    ours, peer = _both(dialect)
    with (
        browser.profile(features="WebMCP" if dialect == "webmcp" else "") as context,
        open_tab(dialect, context, sites.echo.url, pages, ours) as mine,
        open_tab(dialect, context, pages.peer(dialect), pages, peer) as other,
    ):
        name = f"round trip in a tab, {dialect}"
        whole = _calls(f"{name}, 100 bytes", peer, {ours: mine, peer: other}, rounds)
        return [whole, *(_parts(name, mine, whole, rounds) if dialect == "mcp_b" else ())]


def _parts(name: str, mine: HostPage, whole: Figure, rounds: int) -> list[Figure]:
    """What the Python SDK and the browser take of a round trip at least, against all of the peer's."""
    mine.page.bring_to_front()
    parts = [mine.bench("ask", OURS, "parts", {"count": BATCH, "length": SHORT}) for _ in range(rounds)]
    samples = {
        "the Python SDK alone, in memory": [each["sdk"] for each in parts],
        "one postMessage from Python": [each["post"] for each in parts],
    }
    return [
        Figure(f"{name}: {part}, at least", "ms", min(each), whole.peer, whole.peer_name, None, {OURS: each})
        for part, each in samples.items()
    ]


@contextlib.contextmanager
def open_tab(dialect: str, context: BrowserContext, url: str, pages: DialectPages, peer: str) -> Iterator[HostPage]:
    """Open a page server in a tab of its own, with a client in the same window that `bench.calls` calls `peer`."""
    with host_page(context, url) as tab:
        add_client(dialect, tab, pages)
        tab.bench("openTab", peer)
        yield tab


def add_client(dialect: str, tab: HostPage, pages: DialectPages) -> None:
    """Have `bench` be in the window of a page server."""
    script = (pages.scripts / f"{dialect}_host.js").read_text("utf-8")
    # In a task of its own: what is evaluated is exempt from the page's policy until it returns, which zod notices.
    tab.page.evaluate(f"() => new Promise((done) => setTimeout(() => {{ {script}; done(); }}))")


def _both(dialect: str) -> tuple[str, str]:
    return OURS, _PEERS[dialect].name


def _calls(name: str, peer: str, hosts: Mapping[str, HostPage], rounds: int, goal: Goal = _ROUND_TRIP) -> Figure:
    def batch(who: str) -> float:
        if len(set(hosts.values())) > 1:
            hosts[who].page.bring_to_front()
        result = hosts[who].bench("calls", who, BATCH, SHORT, 1)
        return float(result["total"]) / BATCH  # one call is too short for the browser's clock

    samples = take_turns((OURS, peer), rounds, batch, warm_up=2)
    summaries = {who: Summary.of(samples[who]) for who in samples}
    details = {who: {"summary": asdict(summaries[who]), "samples": samples[who]} for who in samples}
    return Figure(name, "ms", summaries[OURS].median, summaries[peer].median, peer, goal, details)
