"""A small soak of the hub: the command's own, with fewer calls."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mcpframe.kit.base.data import checkout_dir

pytestmark = [pytest.mark.browser, pytest.mark.extended, pytest.mark.slow]


def test_nothing_is_left_of_tabs_that_close_crash_and_come_back() -> None:
    command = [sys.executable, "-m", "tests.soak", "--only", "hub", "--calls", "400", "--cycles", "16", "--seed", "3"]
    done = subprocess.run(command, cwd=checkout_dir(), capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    for kind in (
        "legacy, answered",
        "auto, cancelled",
        "tabs closed",
        "tabs left",
        "tabs loaded again",
        "tabs crashed",
    ):
        assert kind in done.stdout
