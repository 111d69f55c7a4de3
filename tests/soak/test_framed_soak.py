"""A small soak of framed servers in each engine: the command's own, with fewer calls."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mcpframe.kit.base.data import checkout_dir
from tests.browser.firefox import ensure_firefox

pytestmark = [pytest.mark.browser, pytest.mark.extended, pytest.mark.slow]


@pytest.mark.parametrize("engine", ["chromium", "firefox"])
def test_nothing_is_left_of_workers_that_end_and_pages_that_go(engine: str) -> None:
    if engine == "firefox" and ensure_firefox() is None:
        pytest.skip("no Firefox is installed, and none could be: install firefox-esr")
    command = [sys.executable, "-m", "tests.soak", "--only", engine, "--seed", "5"]
    command += ["--calls", "2000", "--ends", "20", "--cycles", "10"]
    done = subprocess.run(command, cwd=checkout_dir(), capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    for kind in ("ends: spin", "ends: limited", "ends: a process", "set up", "reconnected", "left in mid-call"):
        assert kind in done.stdout
