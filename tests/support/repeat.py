"""`--repeat N` and `--load`, to reproduce a race: each chosen test N times, while every core is busy."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

_BUSY = "while True: pass"


def add_repeat_options(parser: pytest.Parser) -> None:
    parser.addoption("--repeat", type=int, default=1, metavar="N", help="run each test N times, and count the failures")
    parser.addoption("--load", action="store_true", help="keep each core busy with another process during the run")


def repeat(metafunc: pytest.Metafunc) -> None:
    """Parametrize a test with the number of its run."""
    times = metafunc.config.getoption("repeat")
    if times > 1:
        metafunc.fixturenames.append("run_number")
        metafunc.parametrize("run_number", range(1, times + 1), ids=lambda number: f"run {number}")


class Load:
    """A pytest plugin of the reporting process: a busy process for each core."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []

    def pytest_sessionstart(self) -> None:
        self._processes = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(os.cpu_count() or 1)]

    def pytest_sessionfinish(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


def summarize(terminalreporter: Any) -> None:
    """Print how many of the repeated runs failed."""
    if terminalreporter.config.getoption("repeat") < 2:
        return
    stats = terminalreporter.stats
    failed = {report.nodeid for key in ("failed", "error") for report in stats.get(key, [])}
    passed = {report.nodeid for report in stats.get("passed", [])} - failed
    terminalreporter.write_line(f"repeated: {len(passed) + len(failed)} runs, {len(failed)} failures")
