"""The command line of the conformance runs."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcpframe.kit.base.data import checkout_dir, templates_dir
from mcpframe.kit.base.errors import KitError, ToolFailed
from mcpframe.kit.base.node import find_node, install_locked
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.base.progress import step
from tests import conformance

HERE = Path(__file__).parent
EVERYTHING = str(templates_dir() / "everything")
TASKS = str(HERE / "tasks_server")
PAGE = checkout_dir() / "docs" / "reference" / "conformance.md"
FIGURES = re.compile(r"(^    \S.*: \d+ passed, \d+ failed\n)+", re.MULTILINE)
"""The figures in a page."""
_START_SECONDS = 300.0
_RUN_SECONDS = 1800.0


@dataclass(frozen=True)
class Suite:
    """A run of the suite.

    Attributes:
        name: what it is called here.
        package: the npm package, by its name in package.json.
        options: what it is given.
        scenarios: the scenarios that are run one by one; empty for those of `options`.
        server: the server that is graded.
    """

    name: str
    package: str
    options: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    server: str = EVERYTHING


SUITES = (
    Suite("0.1.16 --suite all", "conformance-0.1", ("--suite", "all")),
    Suite("0.2.0-alpha.12 --requirements 2025-11-25", "conformance-0.2", ("--requirements", "2025-11-25")),
    Suite(
        "0.2.0-alpha.12 --suite all --spec-version 2026-07-28",
        "conformance-0.2",
        ("--suite", "all", "--spec-version", "2026-07-28"),
    ),
    # No suite has them: extensions are on request only. `tasks-status-notifications` is left out, which checks nothing.
    Suite(
        "0.2.0-alpha.12 --scenario tasks-*",
        "conformance-0.2",
        scenarios=(
            "tasks-lifecycle",
            "tasks-capability-negotiation",
            "tasks-wire-fields",
            "tasks-request-state-removal",
            "tasks-mrtr-input",
            "tasks-request-headers",
            "tasks-dispatch-and-envelope",
            "tasks-required-task-error",
            "tasks-mrtr-composition",
        ),
        server=TASKS,
    ),
)


_EXCUSED = frozenset({"tasks-capability-negotiation: wire-schema-valid"})
"""The suite's schema of a JSON value has no numbers but integers. The times of a page's start, which `server/discover`
has among the experimental capabilities, are no integers."""


@dataclass(frozen=True)
class Result:
    """The outcome of a run.

    Attributes:
        suite: which.
        passed: how many checks passed.
        failed: how many did not.
        failures: the lines that name the scenarios with failures.
        output: everything that was printed.
    """

    suite: Suite
    passed: int
    failed: int
    failures: list[str]
    output: str

    @property
    def line(self) -> str:
        """The figures, as they are printed."""
        return f"{self.suite.name}: {self.passed} passed, {self.failed} failed"


def main(arguments: Sequence[str]) -> int:
    """Run the suites, and print passed and failed of each.

    Returns:
        1 where something failed unexpectedly, or the documentation has other figures.
    """
    options = _options(arguments)
    try:
        with step("Installing the suite"):
            modules = install_locked(HERE)
        results = _graded([suite for suite in SUITES if options.only in suite.name], modules, options.server)
    except KitError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 1
    for result in results:
        print(result.line)
        for line in result.failures:
            print(f"    {line}")
        if options.output:
            options.output.mkdir(parents=True, exist_ok=True)
            name = re.sub(r"[^a-z0-9.]+", "-", result.suite.name)
            (options.output / f"{name}.txt").write_text(result.output, "utf-8")
    stale = False
    if len(results) == len(SUITES) and options.server is None:
        stale = not has_figures(PAGE, [result.line for result in results], write=options.write)
    if stale:
        print(f"{PAGE.name} has other figures: update it with build.py conformance --write", file=sys.stderr)
    return int(stale or any(line not in _EXCUSED for result in results for line in result.failures))


def _graded(suites: Sequence[Suite], modules: Path, server: str | None) -> list[Result]:
    """Run suites, those of one server after the other with one bridge.

    Args:
        server: the server, in place of those of the suites; None for these.
    """
    results: list[Result] = []
    for where, of_server in itertools.groupby(suites, lambda suite: server or suite.server):
        with bridge(where) as url:
            results += [_run(suite, modules, url) for suite in of_server]
    return results


def has_figures(page: Path, lines: Sequence[str], *, write: bool) -> bool:
    """Return whether a page of the documentation has these figures; with `write`, put them there."""
    text = page.read_text("utf-8")
    current = FIGURES.sub("".join(f"    {line}\n" for line in lines), text)
    if write and current != text:
        page.write_text(current, "utf-8")
    return write or current == text


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="build.py conformance", description=conformance.__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="run the suites whose name has this text")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="keep what the suites print")
    parser.add_argument("--server", metavar="WHERE", help="another server, as for mcpframe bridge")
    parser.add_argument("--write", action="store_true", help="write the figures into docs/reference/conformance.md")
    return parser.parse_args(arguments)


@contextlib.contextmanager
def bridge(server: str) -> Iterator[str]:
    """Run a bridge, for as long as the block lasts, and give its address.

    Raises:
        ToolFailed: it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="mcpframe-conformance-", ignore_cleanup_errors=True) as profile:
        command = [sys.executable, "-m", "mcpframe", "bridge", server, "--http", "--port", "0", "--profile", profile]
        process = subprocess.Popen([*command, "--timeout", str(_START_SECONDS)], stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            if not address:
                raise ToolFailed("The bridge did not start.")
            yield address
        finally:
            process.terminate()
            process.communicate()


def _run(suite: Suite, modules: Path, url: str) -> Result:
    with step(f"Running {suite.name}"):
        if not suite.scenarios:
            return _read(suite, _output(suite, modules, url, suite.options))
        outputs = {each: _output(suite, modules, url, ("--scenario", each)) for each in suite.scenarios}
        return sum_of_scenarios(suite, outputs)


def _output(suite: Suite, modules: Path, url: str, options: Sequence[str]) -> str:
    """Return what a run prints, whether or not something failed."""
    program = modules / suite.package / "dist" / "index.js"
    with tempfile.TemporaryDirectory(prefix="mcpframe-conformance-") as folder:
        command = [str(find_node().executable), str(program), "server", "--url", url, *options]
        try:
            return run_tool(command, "The suite", cwd=Path(folder), timeout=_RUN_SECONDS)
        except ToolFailed as error:
            if not error.output:
                raise
            return error.output


def _read(suite: Suite, output: str) -> Result:
    total = re.search(r"^Total: (\d+) passed, (\d+) failed", output, re.MULTILINE)
    if total is None:
        raise ToolFailed(f"{suite.name} printed no total: {output.strip().splitlines()[-1:]}", output)
    failures = [line.strip() for line in output.splitlines() if re.match(r"\s*✗ .*: \d+ passed, [1-9]\d* failed", line)]
    return Result(suite, int(total[1]), int(total[2]), failures, output)


def sum_of_scenarios(suite: Suite, outputs: Mapping[str, str]) -> Result:
    """Return the sum of scenarios that were run one by one; one without a check has failed."""
    passed = failed = 0
    failures: list[str] = []
    for scenario, output in outputs.items():
        total = re.search(r"^Passed: (\d+)/(\d+), (\d+) failed", output, re.MULTILINE)
        if total is None:
            raise ToolFailed(f"{scenario} printed no total: {output.strip().splitlines()[-1:]}", output)
        passed, failed = passed + int(total[1]), failed + int(total[3])
        names = re.findall(r"\[([\w-]+) *\] \S*FAILURE", output)
        if len(names) != int(total[2]) - int(total[1]) or not int(total[2]):
            names = [f"{total[1]} of {total[2]} passed"]
        failures += (f"{scenario}: {name}" for name in names)
    return Result(suite, passed, failed, failures, "\n".join(outputs.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
