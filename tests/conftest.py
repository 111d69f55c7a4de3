"""Options and fixtures of every suite."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import os
import signal
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.durations import DurationsRecorder, longest_first, read_durations
from tests.support.repeat import Load, add_repeat_options, repeat, summarize
from tests.support.settling import USUAL
from tests.support.suites import LeftOut, add_suite_options, choose_suite

pytest.register_assert_rewrite("tests.contract")

# The same examples on each machine, however fast it is. With --hypothesis-profile=default they are others each time.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")

os.environ.setdefault("UV_EXCLUDE_NEWER", "2026-11-20T12:00:00Z")
"""Builds without a lock resolve the same versions each day. Move it when `python3 build.py lock` has renewed the locks:
uv installs nothing newer. `tests/browser/test_fastmcp.py` has a test of the newest versions."""


TEST_SECONDS = 420
"""The deadline of an asynchronous test: Playwright's own limits do not hold in a frame that it has lost. A test that
blocks its thread is ended later, with its process (`faulthandler_timeout` in pyproject.toml)."""


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """Pyodide has asyncio and nothing else, so that is what is tested."""
    return USUAL


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-durations", action="store_true", help="update tests/durations.json with this run's times")
    add_suite_options(parser)
    add_repeat_options(parser)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    repeat(metafunc)


# Here and not in browser/: of tests in several processes, the one that reports reads this file only.
def pytest_configure(config: pytest.Config) -> None:
    """Say what failed as soon as it has: a run of many minutes that is stopped early would else keep it to itself.

    And heed Ctrl-C and the end of a terminal, which a shell's background jobs ignore: what a test starts would, too.
    """
    for name, handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    config.pluginmanager.register(LeftOut(config))
    if hasattr(config, "workerinput"):
        return

    class Teller:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            terminal = config.pluginmanager.get_plugin("terminalreporter")
            if report.failed and terminal:
                told = getattr(getattr(report.longrepr, "reprcrash", None), "message", report.longreprtext)
                terminal.ensure_newline()
                terminal.write_line(f"{report.when} of {report.nodeid} failed: {told[:2000]}", red=True)

    config.pluginmanager.register(Teller())
    if config.getoption("write_durations"):
        config.pluginmanager.register(DurationsRecorder())
    if config.getoption("load"):
        config.pluginmanager.register(Load())


def pytest_collection_finish() -> None:
    """Keep the collected tests, which live as long as the process, out of each collection of garbage."""
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose the suite, and put the longest files first, for runs in several processes."""
    durations = read_durations()
    choose_suite(config, items, durations)
    longest_first(items, durations)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Let no asynchronous test wait for ever."""
    test = pyfuncitem.obj
    if inspect.iscoroutinefunction(test):

        @functools.wraps(test)
        async def within_deadline(**arguments: Any) -> None:
            async with asyncio.timeout(TEST_SECONDS):  # anyio's would have to end after those that the test leaves open
                await test(**arguments)

        pyfuncitem.obj = within_deadline
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep ill-formed text that a test has logged from ending the process that the report is sent from."""
    report = yield
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]
    return report


_MATRIX = (
    *("tests/browser/test_contract_", "tests/browser/test_hostile_", "tests/unit/hostile/"),
    *("tests/unit/hub/core/test_matrix_", "tests/unit/hub/relay/test_matrix_"),
)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many repeated runs failed, and how many lines of the matrix of bad input and attacks have held."""
    summarize(terminalreporter)
    held = [
        dict(report.user_properties).get("lines", 1)
        for report in terminalreporter.stats.get("passed", [])
        if report.when == "call" and report.nodeid.startswith(_MATRIX)
    ]
    if held:
        terminalreporter.write_line(f"bad input and attacks: {sum(held)} lines held, in {len(held)} tests")
