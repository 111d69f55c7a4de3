"""Running programs, and saying in one sentence why one failed."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import ToolFailed, ToolTimeout
from mcpframe.kit.base.processes import python, run_tool, running

PYTHON = [sys.executable, "-c"]


def test_its_output_is_returned(tmp_path: Path) -> None:
    assert run_tool([*PYTHON, "import os; print(os.getcwd())"], "it", cwd=tmp_path).strip() == str(tmp_path)


def test_its_environment_can_be_given() -> None:
    assert run_tool([*PYTHON, "import os; print(os.environ['A'])"], "it", environment={"A": "1"}).strip() == "1"


def test_nothing_is_imported_from_the_folder_it_runs_in(tmp_path: Path) -> None:
    for name in ("mcpframe", "typer", "json"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the module of somebody else')")
    assert "Usage" in run_tool(python("-m", "mcpframe", "hub", "--help"), "it", cwd=tmp_path)
    assert run_tool(python("-c", "import mcpframe, json; print(json.dumps(1))"), "it", cwd=tmp_path) == "1\n"


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        (
            "npm error code ENOTFOUND\nnpm error network request failed\nnpm error A complete log",
            "network request failed",
        ),
        ("npm error code E404", "code E404"),
        ("ERROR: No matching distribution", "No matching distribution"),
        ("E: Unable to locate package", "Unable to locate"),
        ("error: Failed to fetch", "Failed to fetch"),
        ("Traceback\n  something", "Traceback"),
        (
            "loading\nTraceback (most recent call last):\n  File 'a.py', line 1\nKeyError: 'a'\n\nNode.js v24",
            "KeyError: 'a'",
        ),
        ("", "it printed nothing"),
    ],
)
def test_the_error_has_the_line_that_says_why(printed: str, reason: str) -> None:
    program = f"import sys; sys.stderr.write({printed!r}); sys.exit(3)"
    with pytest.raises(ToolFailed, match=f"^it failed with status 3: .*{reason}") as caught:
        run_tool([*PYTHON, program], "it")
    assert caught.value.output == printed


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(ToolFailed, match="it could not be started"):
        run_tool(["/nowhere/at/all"], "it")


def test_a_program_that_does_not_end() -> None:
    with pytest.raises(ToolTimeout, match="more than"):
        run_tool([*PYTHON, "input() if False else __import__('threading').Event().wait()"], "it", timeout=0.3)


# Starts a program that ends by itself only after a long time, and says its number.
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait(600)"])
open(sys.argv[1], "w").write(str(child.pid))
child.wait()
"""
SOON = 60.0
only_linux = pytest.mark.skipif("not sys.platform.startswith('linux')", reason="only Linux has pidfd_open")


def number_in(file: Path) -> int:
    """The number that a program writes into a file, once it does."""
    deadline = time.monotonic() + SOON
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < deadline
        os.sched_yield()
    return int(file.read_text())


def has_ended(number: int) -> bool:
    try:
        program = os.pidfd_open(number)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([program], [], [], SOON)[0])
    finally:
        os.close(program)


@only_linux
def test_what_a_program_has_started_ends_with_it(tmp_path: Path) -> None:
    file = tmp_path / "number"
    for timeout in (1, 10, 60):  # a busy machine takes long to start it
        with pytest.raises(ToolTimeout):
            run_tool([*PYTHON, PARENT, str(file)], "it", timeout=timeout)
        if file.exists() and file.read_text():
            break
    assert has_ended(number_in(file))


@only_linux
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_what_was_started(tmp_path: Path, name: str) -> None:
    number = getattr(signal, name)
    program = "import sys\nfrom mcpframe.kit.base.processes import end_on_signals, run_tool\nend_on_signals()\n"
    program += f"run_tool([sys.executable, '-c', {PARENT!r}, sys.argv[1]], 'it')"
    file = tmp_path / "number"
    process = subprocess.Popen([*PYTHON, program, str(file)], env={**os.environ, "PYTHONPATH": str(checkout_dir())})
    child = number_in(file)
    process.send_signal(number)
    assert process.wait(SOON) == 128 + number
    assert has_ended(child)


# Receives a signal after the start of a program, before its starter has it; optionally starts it in another thread.
SIGNALLED = """
import signal, subprocess, sys, threading
from mcpframe.kit.base import processes
processes.end_on_signals()
handled, end, start = threading.Event(), signal.getsignal(signal.SIGTERM), subprocess.Popen

def handle(*arguments):
    try:
        end(*arguments)
    finally:
        handled.set()

def signalled(*arguments, **options):
    process = start(*arguments, **options)
    open(sys.argv[1], "w").write(str(process.pid))
    signal.pthread_kill(threading.main_thread().ident, signal.SIGTERM)
    handled.wait()
    return process

def run():
    processes.run_tool([sys.executable, "-c", "import threading; threading.Event().wait(600)"], "it")

signal.signal(signal.SIGTERM, handle)
subprocess.Popen = signalled
if sys.argv[2] == "main":
    run()
else:
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(1)  # a signal that comes just before a wait does not end it
"""


@only_linux
@pytest.mark.parametrize("thread", ["main", "other"])
def test_a_signal_during_the_start_of_a_program_ends_it(tmp_path: Path, thread: str) -> None:
    file = tmp_path / "number"
    environment = {**os.environ, "PYTHONPATH": str(checkout_dir())}
    process = subprocess.Popen([*PYTHON, SIGNALLED, str(file), thread], env=environment)
    assert process.wait(SOON) == 128 + signal.SIGTERM
    assert has_ended(number_in(file))


@only_linux
def test_a_running_program_ends_also_where_its_owner_is_killed(tmp_path: Path) -> None:
    endless = "import os, sys\nopen(sys.argv[1], 'w').write(str(os.getpid()))\nwhile True: pass"
    program = "import sys, time\nfrom mcpframe.kit.base.processes import running\n"
    program += f"command = [sys.executable, '-c', {endless!r}, sys.argv[1]]\n"
    program += "with running(command, 'it', data=b'', environment={}, processor_seconds=600): time.sleep(600)"
    file = tmp_path / "number"
    process = subprocess.Popen([*PYTHON, program, str(file)], env={**os.environ, "PYTHONPATH": str(checkout_dir())})
    child = number_in(file)
    process.kill()
    process.wait(SOON)
    assert has_ended(child)


def test_a_running_program_is_read_piece_by_piece() -> None:
    echo = "import sys; sys.stdout.write('before' + sys.stdin.read() + 'after')"
    with running([*PYTHON, echo], "it", data=b"-", environment={}, processor_seconds=60) as program:
        deadline = time.monotonic() + SOON
        assert [program.read(size, deadline) for size in (6, 1, 5)] == [b"before", b"-", b"after"]
        with pytest.raises(ToolFailed, match="status 0"):
            program.read(1, deadline)


def test_a_running_program_has_deadlines() -> None:
    endless = "print('x', end='', flush=True)\nwhile True: pass"
    with running([*PYTHON, endless], "it", data=b"", environment={}, processor_seconds=60) as program:
        assert program.read(1, time.monotonic() + SOON) == b"x"
        with pytest.raises(ToolTimeout):
            program.read(1, time.monotonic() + 0.1)


@pytest.mark.skipif("os.name != 'posix'", reason="Windows has no such limit")
def test_a_running_program_ends_without_anybody_who_ends_it() -> None:
    endless = [*PYTHON, "while True: pass"]
    with (
        running(endless, "it", data=b"", environment={}, processor_seconds=1) as program,
        pytest.raises(ToolFailed, match="status -"),
    ):
        program.read(1, time.monotonic() + 60)


def test_a_running_program_may_print_more_than_anybody_reads() -> None:
    flood = "import sys\nwhile True: sys.stdout.write('x' * 65536); sys.stderr.write('y' * 65536)"
    with running([*PYTHON, flood], "it", data=b"z" * 1_000_000, environment={}, processor_seconds=60) as program:
        assert program.read(3, time.monotonic() + SOON) == b"xxx"
