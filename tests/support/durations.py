"""The time that each test file takes, kept in a file, so that a run starts the longest files first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

DURATIONS = Path(__file__).parents[1] / "durations.json"


def read_durations(path: Path = DURATIONS) -> dict[str, float]:
    """Return the seconds that each test file took, by its path in the repository."""
    return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}


def longest_first(items: list[pytest.Item], durations: Mapping[str, float]) -> None:
    """Sort tests by the duration of their files; files that were never measured come first.

    A long file that starts last would leave the other processes idle.
    """
    items.sort(key=lambda item: -durations.get(_file(item.nodeid), float("inf")))


class DurationsRecorder:
    """A pytest plugin of the reporting process: adds up the seconds of each file, and writes them at the end."""

    def __init__(self, path: Path = DURATIONS) -> None:
        self._path = path
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[_file(report.nodeid)] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self) -> None:
        """Replace the seconds of the files that ran; drop files that are gone."""
        measured = {file: round(seconds, 1) for file, seconds in self._seconds.items()}
        root = self._path.parents[1]
        kept = {file: seconds for file, seconds in read_durations(self._path).items() if (root / file).is_file()}
        self._path.write_text(json.dumps(dict(sorted({**kept, **measured}.items())), indent=1) + "\n", "utf-8")


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]
