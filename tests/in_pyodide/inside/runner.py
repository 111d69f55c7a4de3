"""pytest inside Pyodide: runs test files and says what became of each test.

There is one event loop, and it is running already, so asynchronous tests are awaited with Pyodide's `run_sync`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from pyodide.ffi import run_sync

from mcpframe.frame.compat import sdk


class _Plugin:
    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.failures: list[str] = []
        self._begun: list[tuple[str, AsyncGenerator[Any]]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Any:
        if not inspect.isasyncgenfunction(fixturedef.func):
            return None
        arguments = {name: request.getfixturevalue(name) for name in fixturedef.argnames}
        generator = fixturedef.func(**arguments)
        self._begun.append((fixturedef.argname, generator))  # run in the task of the test, as its cancel scopes want
        fixturedef.cached_result = (generator, fixturedef.cache_key(request), None)
        return generator

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        fixtures, self._begun = self._begun, []
        run_sync(self._call(pyfuncitem.obj, arguments, fixtures))
        return True

    async def _call(
        self, test: Any, arguments: dict[str, Any], fixtures: list[tuple[str, AsyncGenerator[Any]]]
    ) -> None:
        async with AsyncExitStack() as stack:
            for name, generator in fixtures:
                value = await stack.enter_async_context(asynccontextmanager(lambda made=generator: made)())
                if name in arguments:
                    arguments[name] = value
            await test(**arguments)

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
