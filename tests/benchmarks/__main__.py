"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import KitError
from mcpframe.kit.base.progress import step
from mcpframe.kit.browser.chromium import ensure_chromium
from tests import benchmarks
from tests.benchmarks import report
from tests.benchmarks.against import measure_against
from tests.benchmarks.bridge import measure_bridge
from tests.benchmarks.browser import BenchmarkBrowser
from tests.benchmarks.builds import measure_builds
from tests.benchmarks.calls import measure_calls
from tests.benchmarks.dev import measure_dev
from tests.benchmarks.dialects import measure_dialects
from tests.benchmarks.figures import Figure
from tests.benchmarks.framed import measure_framed_tests
from tests.benchmarks.hub import measure_hub
from tests.benchmarks.machine import Setting, this_setting
from tests.benchmarks.memory import measure_memory
from tests.benchmarks.others import measure_others
from tests.benchmarks.phone import measure_phone
from tests.benchmarks.profile import measure_profile
from tests.benchmarks.science import measure_science
from tests.benchmarks.sites import all_sites
from tests.benchmarks.start import measure_opens, measure_start
from tests.benchmarks.view_peers import measure_view_peers
from tests.benchmarks.views import measure_views
from tests.benchmarks.webkit import measure_webkit
from tests.benchmarks.workers import measure_workers

PARTS = (
    *("start", "views", "workers", "phone", "dialects", "others", "opens", "build", "calls", "memory"),
    *("bridge", "hub", "dev", "tests", "webkit", "science"),
)
PAGE = checkout_dir() / "docs" / "reference" / "benchmarks.md"
ASKED_FOR = ("profile",)
"""Parts that are measured only where they are named."""


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and return the exit status: 0 unless something could not be measured."""
    options = _options(arguments)
    try:
        figures, setting = measure(options)
    except KitError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    Console(width=None if sys.stdout.isatty() else 160).print(report.table(figures))
    print(setting.sentence)
    if setting.busy:
        print(f"The machine was busy when this began (load {setting.load}): times say little.")
    for figure in figures:
        for peer, lines in report.timelines(figure):
            print(f"\n{figure.name}, {peer}, ms:\n{lines}")
    if options.markdown:
        partial = options.only or options.against
        before = report.SECTION.read(PAGE) if partial else ""
        report.SECTION.write(PAGE, report.markdown(figures, setting, before))
    if options.json:
        write_file(options.json, (json.dumps(report.as_json(figures, setting), indent=1) + "\n").encode())
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="build.py bench",
        description=benchmarks.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that it works, not for figures")
    parser.add_argument("--runs", type=_positive, metavar="N", help="rounds of each peer (20 for calls, 10 for starts)")
    parser.add_argument(
        "--only", choices=PARTS + ASKED_FOR, action="append", help="measure this part; may be given again"
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="CHECKOUT",
        help="measure starts and calls against the bundles of another checkout, such as a worktree; "
        "only this, unless parts are named",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    parser.add_argument(
        "--markdown",
        action="store_true",
        help="write the table into docs/reference/benchmarks.md; with --only, these lines of it",
    )
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("give 1 or more")
    return number


def measure(options: argparse.Namespace) -> tuple[list[Figure], Setting]:
    """Measure the chosen parts.

    Raises:
        KitError: A page could not be built or served, or gave a wrong answer.
    """
    parts = options.only or (() if options.against else PARTS)
    starts = options.runs or (3 if options.quick else 10)
    calls = options.runs or (3 if options.quick else 20)
    figures: list[Figure] = []
    chromium = ensure_chromium(progress=step)
    with all_sites(step) as sites, sync_playwright() as playwright:
        browser = BenchmarkBrowser(playwright, chromium)
        setting = this_setting(browser.version(), sites.modules, sites.locked)
        if options.against:
            with step(f"Taking turns with {options.against}"):
                figures += measure_against(browser, sites, options.against.resolve(), starts, calls)
        if "start" in parts:
            with step(f"Starting {starts} times each, warm and fresh"):
                figures += measure_start(browser, sites, starts)
        if "views" in parts:
            with step(f"Starting views {starts} times each"):
                figures += measure_views(browser, sites, starts)
                figures += measure_view_peers(browser, sites, starts)
        if "workers" in parts:
            with step(f"Starting {starts} times in a worker, and computing"):
                figures += measure_workers(browser, sites, starts)
        if "phone" in parts:
            with step("Starting a worker with little memory"):
                figures += measure_phone(browser, sites)
        if "dialects" in parts:
            with step(f"Starting {starts} times in each dialect, and calling"):
                figures += measure_dialects(browser, sites, starts, calls, progress=step)
        if "others" in parts:
            with step(f"Starting servers of other SDKs {starts} times each"):
                figures += measure_others(browser, sites, starts)
        if "opens" in parts:
            with step("Opening fifty times"):
                figures += measure_opens(browser, sites)
        if "build" in parts:
            with step("Building anew"):
                figures += measure_builds(3)
        if "calls" in parts:
            with step("Calling"):
                figures += measure_calls(browser, sites, calls)
        if "memory" in parts:
            with step("Calling for memory"):
                figures += measure_memory(browser, sites, 100 if options.quick else 1000)
        if "bridge" in parts:
            with step("Bridging"):
                figures += measure_bridge(browser, sites, calls, starts)
        if "hub" in parts:
            with step("Calling through the hub"):
                figures += measure_hub(browser, sites, starts, calls, progress=step, tabs=20 if options.quick else 200)
        if "dev" in parts:
            with step("Changing a server"):
                figures += measure_dev(browser, starts)
        if "tests" in parts:
            with step("Testing a server"):
                figures += measure_framed_tests(max(starts, 3))
        if "science" in parts:
            with step(f"Starting scientific servers {starts} times each"):
                figures += measure_science(browser, sites, starts)
        if "profile" in parts:
            with step("Looking into a start"):
                figures += measure_profile(browser, sites)
        if "webkit" in parts:
            with step(f"Starting {starts} times each in WebKitGTK"):
                figures += measure_webkit(sites, starts)
    return figures, setting


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
