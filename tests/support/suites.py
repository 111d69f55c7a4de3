"""The three suites: `--quick` in plain CPython, the default one, and `--all`; a run prints what it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

QUICK_FOLDER = "tests/unit/"
QUICK_SECONDS = 5.0
"""A file that takes longer is not in the quick suite."""

_SHOWN = 12
_LEFT_OUT = pytest.StashKey[dict[str, int]]()


def extended(*values: Any) -> Any:
    """Return the values of one case of a parametrization that only `--all` runs."""
    return pytest.param(*values, marks=pytest.mark.extended)


def except_for(values: Iterable[Any], *usual: Any) -> list[Any]:
    """Return the values of a parametrization, all of which `--all` runs, and the default suite only the usual ones."""
    return [value if value in usual else extended(value) for value in values]


def newest_first(values: Sequence[Any]) -> list[Any]:
    """Return the values of a parametrization: the first is in the default suite, the others in `--all` only."""
    return [values[0], *map(extended, values[1:])]


def mark_folder(items: Iterable[pytest.Item], folder: str, marker: str) -> None:
    """Add a marker to the tests of a folder, given by its path in the repository with a slash at its end."""
    for item in items:
        if item.nodeid.startswith(folder):
            item.add_marker(marker)


def add_suite_options(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="only the short files of tests/unit: no browser, no build")
    parser.addoption("--all", action="store_true", help="every test, those that are marked `extended` included")


def choose_suite(config: pytest.Config, items: list[pytest.Item], durations: Mapping[str, float]) -> None:
    """Deselect the tests that are not in the suite of this run, and remember how many of each file.

    A test that is named on the command line runs, whatever its mark.
    """
    if config.getoption("all"):
        return
    quick = config.getoption("quick")
    named = _named_files(config)
    left_out: dict[str, list[pytest.Item]] = {}
    for item in items:
        file = item.nodeid.partition("::")[0]
        too_long = quick and (not file.startswith(QUICK_FOLDER) or durations.get(file, 0.0) > QUICK_SECONDS)
        if too_long or (item.get_closest_marker("extended") and item.path not in named):
            left_out.setdefault(file, []).append(item)
    gone = {id(item) for each in left_out.values() for item in each}
    if gone:
        config.hook.pytest_deselected(items=[item for item in items if id(item) in gone])
        items[:] = [item for item in items if id(item) not in gone]
    config.stash[_LEFT_OUT] = {file: len(each) for file, each in left_out.items()}


def _named_files(config: pytest.Config) -> set[Path]:
    """Return the files that the command line names, alone or with a test."""
    return {(config.invocation_params.dir / str(each).partition("::")[0]).resolve() for each in config.args}


class LeftOut:
    """A pytest plugin: prints what the run left out, also where other processes collected the tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_sessionfinish(self) -> None:
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["left_out"] = self._config.stash.get(_LEFT_OUT, {})

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Every process has collected, and left out, the same."""
        self._config.stash[_LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", {})

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        left_out = self._config.stash.get(_LEFT_OUT, {})
        if not left_out:
            return
        files = sorted(file.removeprefix("tests/") for file in left_out)
        more = f", and {len(files) - _SHOWN} more files" if len(files) > _SHOWN else ""
        command = "python3 build.py test" if self._config.getoption("quick") else "python3 build.py test --all"
        terminalreporter.write_line(f"left out: {sum(left_out.values())} tests of {', '.join(files[:_SHOWN])}{more}")
        terminalreporter.write_line(f"`{command}` runs them")
