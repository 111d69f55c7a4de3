"""Whatever ends a build, the browser that takes the snapshot ends with it."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.browser.chromium import ensure_chromium
from tests.bundle.conftest import SERVER, write_project
from tests.support.suites import extended

pytestmark = pytest.mark.skipif("not sys.platform.startswith('linux')", reason="only Linux tells who runs, in /proc")

PATIENCE = 120.0
SOON = 60.0
BUILD = [sys.executable, "-m", "mcpframe", "build"]

_BROWSER = """#!/bin/sh
touch "{started}"
{then}
exec "{chromium}" "$@"
"""


def running(mark: str) -> dict[int, str]:
    """The programs with this word in their environment: what they were started with, by their number."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found[int(folder.name)] = (folder / "cmdline").read_text(errors="replace").replace("\0", " ")
        except OSError:
            continue  # it has ended, or is somebody else's
    return found


def started(folder: Path, server: str, then: str = "") -> subprocess.Popen[str]:
    """A build that takes a snapshot, in a group of its own, with a browser that notes that it was started.

    Args:
        folder: Where everything is.
        server: The server.
        then: What the shell does before the browser starts.
    """
    browser = folder / "browser"
    browser.write_text(_BROWSER.format(started=folder / "started", chromium=ensure_chromium(), then=then))
    browser.chmod(0o755)
    project = write_project(folder / "project", server=f"{server}\n# {folder} {time.time_ns()}\n")
    environment = {"PYTHONPATH": str(checkout_dir()), "MCPFRAME_CHROMIUM": str(browser), "MCPFRAME_SNAPSHOT": "1"}
    return subprocess.Popen(
        [*BUILD, str(project), "--out", str(folder / "out")],
        env={**os.environ, **environment, "MARK": str(folder)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def has_ended(folder: Path) -> None:
    """Fail unless the browser was started, and nothing is left of it or of the build."""
    assert (folder / "started").exists()
    for number, command in running(str(folder)).items():  # the browser's helpers end a moment after it
        try:
            program = os.pidfd_open(number)
        except ProcessLookupError:
            continue
        ended, _, _ = select.select([program], [], [], SOON)
        os.close(program)
        assert ended, command


@pytest.mark.extended
@pytest.mark.parametrize(
    ("server", "told"),
    [
        (f"raise RuntimeError('not today')\n{SERVER}", "does not start in the page: RuntimeError: not today."),
        (f"{SERVER}\ndef broken(:", "is not valid Python 3.14: "),
    ],
    ids=["raises", "invalid"],
)
def test_a_server_that_does_not_start_is_told_as_ever(tmp_path: Path, server: str, told: str) -> None:
    process = started(tmp_path, server)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, said
    [line] = [line for line in said.splitlines() if line.startswith("error: ")]
    assert told in line
    assert not re.search(r"playwright|chromium|snapshot", said, re.IGNORECASE)
    has_ended(tmp_path)
    assert not (tmp_path / "out").exists()


def interrupted(process: subprocess.Popen[str], said: str) -> None:
    assert process.wait(PATIENCE) == 130, said
    assert "Traceback" not in said
    assert "never retrieved" not in said


def test_ctrl_c_while_the_browser_starts(tmp_path: Path) -> None:
    # As a terminal does it: to all programs of the group, which the browser's driver is in.
    process = started(tmp_path, SERVER, then='kill -s INT -- "-$(cut -d " " -f 5 "/proc/$PPID/stat")"')
    _, said = process.communicate(timeout=PATIENCE)
    interrupted(process, said)
    has_ended(tmp_path)


@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), extended("SIGHUP", 129)])
def test_a_signal_ends_a_server_that_never_returns(tmp_path: Path, name: str, status: int) -> None:
    process = started(tmp_path, f"{SERVER}\nwhile True: pass")
    deadline = time.monotonic() + PATIENCE
    while not (tmp_path / "started").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        select.select([], [], [], 0.05)
    process.send_signal(getattr(signal, name))
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == status, said
    assert "Traceback" not in said
    assert "never retrieved" not in said
    has_ended(tmp_path)


def test_ctrl_c_while_the_snapshot_is_taken(tmp_path: Path) -> None:
    process = started(tmp_path, SERVER)
    assert process.stderr
    for line in process.stderr:
        if line.startswith("Importing"):  # and that is over
            break
    os.killpg(process.pid, signal.SIGINT)
    said = process.stderr.read()
    process.stderr.close()
    interrupted(process, said)
    has_ended(tmp_path)
