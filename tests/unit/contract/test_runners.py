"""Whatever the contract says is run on every window: no file of it is forgotten, and no test hides another one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]
TEST = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)
SUITES = [path for path in sorted((TESTS / "contract").glob("*.py")) if TEST.search(path.read_text("utf-8"))]
RUNNERS = {
    "fake windows": sorted((TESTS / "unit" / "contract").glob("test_*.py")),
    "Chromium": sorted((TESTS / "browser").glob("test_*.py")),
}


@pytest.mark.parametrize("window", RUNNERS)
@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.stem)
def test_each_suite_runs_on_each_window(suite: Path, window: str) -> None:
    line = f"from tests.contract.{suite.stem} import *"
    (runner,) = (path for path in RUNNERS[window] if re.search(rf"^{re.escape(line)}", path.read_text("utf-8"), re.M))
    hidden = set(TEST.findall(runner.read_text("utf-8"))) & set(TEST.findall(suite.read_text("utf-8")))
    assert hidden == set()
