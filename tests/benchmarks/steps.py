"""What each step to a smaller and faster start has brought: bundles of the commits that made them, in turns."""

from __future__ import annotations

import shutil
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import ToolFailed
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.web.site import Site
from tests.benchmarks.against import build_with
from tests.benchmarks.browser import BenchmarkBrowser, BenchmarkError, host_page
from tests.benchmarks.figures import Figure
from tests.benchmarks.sites import Framed, Sites, serving
from tests.benchmarks.start import fresh_starts, start_once, warm_starts
from tests.support.marked import MarkedPart

SECTION = MarkedPart("steps", "python3 build.py bench --only steps --markdown")
"""The table in docs/explanation/performance.md."""
BEFORE = "the step before"
_CHECKOUTS = checkout_dir() / ".cache" / "steps"
_SERVER = "pi-calculator"


@dataclass(frozen=True)
class Step:
    """A step.

    Attributes:
        words: What it changed.
        commit: The commit with it.
    """

    words: str
    commit: str


STEPS = (
    Step("a snapshot of each server's own", "50e4a48a"),
    Step("snapshots in layers, with the SDK's compressed once at zstd 19", "99c7c023"),
    Step("docstrings of Python and the SDK when they are read", "d179ee83"),
    Step("the SDK's client when it is used", "c5d5caa9"),
    Step("WebAssembly in two files, with tables of CPython in the second", "9f46f9d2"),
    Step("the garbage collector's list as distances between objects", "b4467de1"),
    Step("in the first files also what typed tools, opaque frames, workers, tabs and programs run", "6f3b571f"),
    Step(
        "Python's frozen modules, tables of further encodings, LZMA, SQLite, crypt and C++, and pydantic-core's of "
        "Unicode for patterns, in the second files; zeros where memory has what programs have freed",
        "10b7a40e",
    ),
    Step("the names of Python's exports from its WebAssembly alone", "4362c878"),
    Step("modules of the standard library that no start runs when they are used", "fec19254"),
)


def measure_steps(
    browser: BenchmarkBrowser, sites: Sites, rounds: int, *, progress: Progress = silent
) -> Iterator[Figure]:
    """Yield a figure of each step: its warm start beside that of the step before, and in the details all else.

    Args:
        browser: The browser.
        sites: The host page.
        rounds: Rounds of each start.
        progress: Called with a description of each step.

    Raises:
        BenchmarkError: A commit cannot be fetched or built, or gives a wrong answer.
    """
    with scratch("benchmark-steps") as folder, ExitStack() as stack:
        pages: dict[str, Framed] = {}
        for step in STEPS:
            with progress(f"Building the server as of {step.commit}"):
                _build_twice(_checkout(step.commit), folder / step.commit)
            pages[step.commit] = serving(stack, folder / step.commit / "first", step.commit)(f"{_SERVER}/")
        newest_first = dict(reversed(pages.items()))
        warm = warm_starts(browser, sites.host, newest_first, rounds)
        fresh = fresh_starts(browser, sites.host, newest_first, rounds)
        before = None
        for step in STEPS:
            commit = step.commit
            time = statistics.median(start.answered for start in warm[commit])
            details = {
                "commit": commit,
                "warm": [start.answered for start in warm[commit]],
                "fresh": [start.answered for start in fresh[commit]],
                "bytes": statistics.median(start.bytes for start in fresh[commit]),
                "changed": _changed(browser, sites.host, pages[commit], folder / commit),
            }
            yield Figure(step.words, "ms", time, before, BEFORE if before else "", details=details)
            before = time


def table(figures: Sequence[Figure]) -> str:
    """Return the table for the documentation."""
    rows = [
        (
            "step",
            "commit",
            "first visit, MB",
            "after a change of the server, MB",
            "fresh profile, ms",
            "warm cache, ms",
        ),
        ("---", "---", "--:", "--:", "--:", "--:"),
    ]
    for figure in figures:
        details = figure.details
        sizes = (f"{details[name] / 1e6:.2f}" for name in ("bytes", "changed"))
        times = (f"{statistics.median(details[name]):.0f}" for name in ("fresh", "warm"))
        rows.append((figure.name, details["commit"], *sizes, *times))  # type: ignore[arg-type]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _checkout(commit: str) -> Path:
    """Return a checkout of a commit with its environment, which stay for the next run."""
    folder = _CHECKOUTS / commit
    try:
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            run_tool(["git", "clone", "--quiet", "--shared", str(checkout_dir()), str(folder)], "git")
        run_tool(["git", "checkout", "--quiet", commit], "git", cwd=folder)
        run_tool([sys.executable, "build.py", "test", "--version"], "build.py", cwd=folder)
    except ToolFailed as error:
        raise BenchmarkError(f"{commit} cannot be fetched: {error}") from error
    return folder


def _build_twice(checkout: Path, folder: Path) -> None:
    """Build the server into `first`, and after a change into `second`."""
    project = Path(shutil.copytree(checkout / "templates" / _SERVER, folder / _SERVER))
    build_with(checkout, project, folder / "first")
    with (project / "server.py").open("a") as server:
        server.write("\n\ndef changed() -> int:\n    return 1\n")  # a comment is in no snapshot
    build_with(checkout, project, folder / "second")


def _changed(browser: BenchmarkBrowser, host_url: str, page: Framed, folder: Path) -> int:
    """Return the bytes that a visitor of the first build fetches to the first answer of the second."""
    with browser.profile() as context, host_page(context, host_url) as host:
        start_once(context, host, page)
        page.served.app = Site(folder / "second")
        host.page.goto(host_url)
        return start_once(context, host, page).bytes
