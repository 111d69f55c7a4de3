"""pytest inside Pyodide: runs test files and says what became of each test.

There is one event loop, and it is running already, so asynchronous tests are awaited with Pyodide's `run_sync`.
"""

from __future__ import annotations

import inspect
import os
from typing import Any

import pytest
from pyodide.ffi import run_sync

from mcpframe.frame import sdk


class _Plugin:
    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.failures: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        run_sync(pyfuncitem.obj(**arguments))
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid] = report.outcome
        if report.failed:
            self.failures.append(f"{report.nodeid}\n{report.longreprtext}\n{report.capstderr}")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failures.append(f"{report.nodeid}\n{report.longreprtext}")


async def run(*paths: str, deselect: tuple[str, ...] = ()) -> dict[str, Any]:
    """Run test files, given from the root of the repository.

    Returns:
        `outcomes` by test, and `failures` as texts.
    """
    sdk.prepare()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.chdir("/repo")
    plugin = _Plugin()
    arguments = ["-q", "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-c", "/dev/null"]
    arguments += ["--rootdir", "/repo", "-W", "ignore::pytest.PytestUnknownMarkWarning"]
    arguments += [part for name in deselect for part in ("--deselect", name)]
    pytest.main([*arguments, *paths], plugins=[plugin])
    return {"outcomes": plugin.outcomes, "failures": plugin.failures}
