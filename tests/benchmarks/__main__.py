"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import KitError
from mcpframe.kit.base.progress import counting, step
from mcpframe.kit.browser.chromium import ensure_chromium
from tests import benchmarks
from tests.benchmarks import report, steps
from tests.benchmarks.browser import BenchmarkBrowser
from tests.benchmarks.kept import AGAINST, Kept, Row
from tests.benchmarks.machine import OtherPrograms, Setting, this_setting
from tests.benchmarks.parts import ALL, ASKED_FOR, PARTS, Run
from tests.benchmarks.sites import all_sites

PAGE = checkout_dir() / "docs" / "reference" / "benchmarks.md"
EXPLANATION = checkout_dir() / "docs" / "explanation" / "performance.md"
KEPT = checkout_dir() / ".cache" / "benchmarks.jsonl"


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and return the exit status: 0 unless something could not be measured."""
    options = _options(arguments)
    kept = Kept.read(options.file)
    measured: list[Row] = []
    failed: dict[str, str] = {}
    status = 0
    try:
        if options.kept:
            measured = kept.of([*PARTS, *ASKED_FOR])
        else:
            measure(options, kept, measured, failed)
    except KitError as error:
        print(f"bench: {error}", file=sys.stderr)
        status = 1
    except KeyboardInterrupt:
        status = 130
    if measured:
        Console(width=None if sys.stdout.isatty() else 160).print(report.table([row.figure for row in measured]))
        for row in measured:
            for peer, lines in report.timelines(row.figure):
                print(f"\n{row.figure.name}, {peer}, ms:\n{lines}")
        for setting in dict.fromkeys(f"{row.setting.date}: {row.setting.machine}" for row in measured):
            print(setting)
        print(f"Kept in {options.file}.")
    if options.markdown and not status:
        before = "" if kept.done.issuperset(PARTS) else report.SECTION.read(PAGE)
        report.SECTION.write(PAGE, report.markdown(kept.of(list(PARTS)), before))
        if made := kept.of(["steps"]):
            steps.SECTION.write(EXPLANATION, steps.table([row.figure for row in made]))
    if repeats := report.repeats(measured, failed, runs=options.runs, against=options.against):
        print(repeats, file=sys.stderr)
    return status or int(bool(failed))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="build.py bench",
        description=benchmarks.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that it works, not for figures")
    parser.add_argument("--runs", type=_positive, metavar="N", help="rounds of each peer (20 for calls, 10 for starts)")
    parser.add_argument(
        "--only", choices=(*PARTS, *ASKED_FOR), action="append", help="measure this part; may be given again"
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="CHECKOUT",
        help="measure starts and calls against the bundles of another checkout, such as a worktree; "
        "only this, unless parts are named",
    )
    parser.add_argument(
        "--wait",
        type=float,
        default=10,
        metavar="MINUTES",
        help="wait so long at most, in all, while other programs use the machine (10)",
    )
    parser.add_argument(
        "--file", type=Path, default=KEPT, help="add every figure to this file, with its samples, as it is measured"
    )
    parser.add_argument("--kept", action="store_true", help="measure nothing: print what the file has")
    parser.add_argument(
        "--markdown",
        action="store_true",
        help="write the lines that the file has into docs/reference/benchmarks.md, of this run and earlier ones; "
        "other lines of the page go once the file has all parts",
    )
    options = parser.parse_args(arguments)
    if options.quick and options.file == KEPT:
        options.file = KEPT.with_stem("benchmarks-quick")
    return options


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("give 1 or more")
    return number


def measure(options: argparse.Namespace, kept: Kept, measured: list[Row], failed: dict[str, str]) -> None:
    """Measure the chosen parts.

    Args:
        options: The options of the command line.
        kept: Gets each row at once.
        measured: The same.
        failed: Gets the parts that failed, with the reason. The others are measured all the same.

    Raises:
        KitError: A page could not be built or served.
    """
    named = options.only or (() if options.against else PARTS)
    parts = [part for part in ALL if part in named or (part == AGAINST and options.against)]
    starts = options.runs or (3 if options.quick else 10)
    calls = options.runs or (3 if options.quick else 20)
    patience = options.wait * 60
    chromium = ensure_chromium(progress=step)
    with all_sites(step) as sites, sync_playwright() as playwright:
        browser = BenchmarkBrowser(playwright, chromium)
        setting = this_setting(browser.version(), sites.modules, sites.locked)
        run = Run(browser, sites, starts, calls, options.quick, options.against)
        others = OtherPrograms()
        for part in parts:
            if patience > 0:
                with step("Waiting until other programs use little of the machine"):
                    patience -= others.wait(patience)
            busy = replace(setting, others=others.used()).busy
            print(f"{part}:{' (the machine is busy)' if busy else ''}", file=sys.stderr)
            try:
                _measure_part(part, run, setting, others, kept, measured)
            except Exception as error:  # noqa: BLE001  a part that fails takes no other with it
                failed[part] = str(error) or type(error).__name__
                if not isinstance(error, KitError):
                    traceback.print_exc()


def _measure_part(
    part: str, run: Run, setting: Setting, others: OtherPrograms, kept: Kept, measured: list[Row]
) -> None:
    """Measure a part, and print and keep each of its figures."""
    count = len(measured)
    with counting(lambda counted: print(f"  {counted}", file=sys.stderr)):
        for figure in ALL[part](run):
            row = Row(part, figure, replace(setting, others=others.used()))
            print(report.line(figure), flush=True)
            kept.add(row)
            measured.append(row)
    if len(measured) > count:
        kept.finish(part)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
