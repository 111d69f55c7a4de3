"""Run other processes, and raise one clear error if they fail. Standard library only."""

from __future__ import annotations

import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO

from mcpframe.kit.base.errors import ToolFailed, ToolTimeout

_CHUNK = 65536
_MOST_QUEUED = 64  # chunks; a program that prints more waits
_MOST_ERRORS = 256 * 1024  # bytes of standard error that are kept
_ENDING = 5.0  # seconds
_WATCH = 'read -r _; sleep 1; kill -9 "-$1" 2>/dev/null'  # dash takes no `--` after -9
_WITH_LIMIT = 'ulimit -t "$0" && ulimit -c 0 && exec "$@"'


def python(*arguments: str) -> list[str]:
    """Return a command of this Python, which imports nothing from the folder that it runs in (`-P`).

    MCP clients start programs in the folder that their user has open, which may be an untrusted repository.
    """
    return [sys.executable, "-P", *arguments]


def shell_text(command: Sequence[str]) -> str:
    """Return a command as a person writes it in this system's shell."""
    return subprocess.list2cmdline(command) if os.name == "nt" else shlex.join(command)


def run_tool(
    command: Sequence[str],
    name: str,
    *,
    cwd: Path | None = None,
    timeout: float = 600,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run a program to its end and return its standard output. All processes that it started are ended, too.

    Args:
        command: Program and arguments.
        name: Its name in errors.
        timeout: The longest it may take, in seconds.
        environment: Its environment variables; by default those of this process.

    Raises:
        ToolTimeout: It took too long.
        ToolFailed: It could not be started, or exited with an error. The message has the line of its output that
            says why.
    """
    with _started(command, name, subprocess.DEVNULL, cwd, environment) as process:
        try:
            printed, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as error:
            raise ToolTimeout(f"{name} took more than {timeout:.0f} seconds and was stopped.") from error
    printed_text, error_text = (part.decode("utf-8", "replace") for part in (printed, errors))
    if process.returncode:
        raise _failed(name, process.returncode, error_text + printed_text)
    return printed_text


@contextmanager
def _started(
    command: Sequence[str], name: str, stdin: int, cwd: Path | None, environment: Mapping[str, str] | None
) -> Iterator[subprocess.Popen[bytes]]:
    """A program in its own process group, which is killed when the block ends, also on an error."""
    with _signals_held():
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=environment,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0 if os.name == "posix" else None,
            )
        except OSError as error:
            raise ToolFailed(f"{name} could not be started ({error}).") from error
        _children.add(process)
    try:
        yield process
    finally:
        _kill(process)
        _children.discard(process)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


_children: set[subprocess.Popen[bytes]] = set()
"""The running programs, of all threads."""
_starting: set[object] = set()
"""One object for each program that is being started: it may run, and nobody can end it yet."""
_held: set[int] = set()
"""Signals that came meanwhile."""


@contextmanager
def _signals_held() -> Iterator[None]:
    """Hold the signals of `end_on_signals` until the block ends.

    They are not blocked in the system's mask, which the program would inherit.
    """
    this = object()
    _starting.add(this)
    try:
        yield
    finally:
        _starting.discard(this)
        if not _starting:
            with suppress(KeyError):
                _send_to_main_thread(_held.pop())


def _send_to_main_thread(number: int) -> None:
    if hasattr(signal, "pthread_kill"):  # it also ends a wait of that thread
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)


def start_watchdog(group: int) -> subprocess.Popen[bytes]:
    """Start a watchdog: a process that kills a process group once this process has ended. Not on Windows.

    Args:
        group: The group's id.

    Returns:
        The watchdog; end it with `end_watchdog` before or after the group ends.
    """
    return subprocess.Popen(
        ["/bin/sh", "-c", _WATCH, "watchdog", str(group)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def end_watchdog(watchdog: subprocess.Popen[bytes]) -> None:
    watchdog.kill()
    watchdog.communicate()


def _kill(process: subprocess.Popen[bytes]) -> None:
    _kill_group(process)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_ENDING)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):  # macOS raises the latter for a group that has ended
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()


class Terminated(SystemExit):
    """Raised in the main thread by a signal that ends programs, so that children and temporary files are cleaned up."""


def end_on_signals() -> None:
    """Turn SIGTERM, and the SIGHUP of a closing terminal, into `Terminated`: by default they leave children behind.

    A second signal ends this program at once. Programs that other threads run are killed, as no code of theirs may run
    after the main thread's end.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A signal that this program was started to ignore, as by nohup, stays ignored.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _terminate)


def _terminate(number: int, _frame: FrameType | None) -> None:
    _held.add(number)
    if _starting:
        return  # it comes again
    try:
        _held.remove(number)
    except KeyError:  # another thread has just ended its start, and sends it again
        return
    signal.signal(number, signal.SIG_DFL)
    for child in list(_children):
        _kill_group(child)
    raise Terminated(128 + number)


def _failed(name: str, status: int, output: str) -> ToolFailed:
    return ToolFailed(f"{name} failed with status {status}: {printed_reason(output)}.", output)


class Running:
    """A running program. Its standard output is read in pieces, each with a deadline."""

    def __init__(self, process: subprocess.Popen[bytes], name: str) -> None:
        self._process = process
        self._name = name
        self._buffer = bytearray()
        self._chunks: queue.Queue[bytes] = queue.Queue(_MOST_QUEUED)
        self._errors = bytearray()
        self._is_over = threading.Event()
        assert process.stdout is not None
        assert process.stderr is not None
        self._readers = [
            threading.Thread(target=self._read_output, args=(process.stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def read(self, size: int, deadline: float) -> bytes:
        """Return the next `size` bytes of its standard output.

        Args:
            deadline: The end of the wait, in seconds of `time.monotonic`.

        Raises:
            ToolTimeout: They were not printed in time.
            ToolFailed: The program has ended.
        """
        while len(self._buffer) < size:
            try:
                chunk = self._chunks.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise ToolTimeout(f"{self._name} took too long and was stopped.") from None
            if not chunk:
                raise self._ended()
            self._buffer += chunk
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _ended(self) -> ToolFailed:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING)
        self._readers[1].join(_ENDING)
        status = self._process.returncode
        return _failed(self._name, 0 if status is None else status, self._errors.decode("utf-8", "replace"))

    def _read_output(self, pipe: IO[bytes]) -> None:
        with suppress(OSError, ValueError):  # `_started` closes the pipe in the end
            while chunk := os.read(pipe.fileno(), _CHUNK):
                self._put(chunk)
        self._put(b"")

    def _put(self, chunk: bytes) -> None:
        while not self._is_over.is_set():
            with suppress(queue.Full):
                self._chunks.put(chunk, timeout=0.1)
                return

    def _read_errors(self, pipe: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while chunk := os.read(pipe.fileno(), _CHUNK):
                self._errors += chunk[: _MOST_ERRORS - len(self._errors)]

    def close(self) -> None:
        """End the reading threads, once the program has ended."""
        self._is_over.set()
        for reader in self._readers:
            reader.join(_ENDING)


@contextmanager
def running(
    command: Sequence[str],
    name: str,
    *,
    data: bytes,
    environment: Mapping[str, str],
    cwd: Path | None = None,
    processor_seconds: int,
) -> Iterator[Running]:
    """Run a program for the duration of the block, and read its standard output meanwhile.

    It ends also if this process is killed, except on Windows.

    Args:
        command: Program and arguments.
        name: Its name in errors.
        data: Its standard input.
        processor_seconds: The limit of its processor time. Not on Windows.

    Raises:
        ToolFailed: It could not be started.
    """
    if os.name == "posix":
        command = ["/bin/sh", "-c", _WITH_LIMIT, str(processor_seconds), *command]
    with _started(command, name, subprocess.PIPE, cwd, environment) as process:
        assert process.stdin is not None
        watchdog = start_watchdog(process.pid) if os.name == "posix" else None
        program = Running(process, name)
        feeder = threading.Thread(target=_feed, args=(process.stdin, data), daemon=True)
        feeder.start()
        try:
            yield program
        finally:
            if watchdog is not None:
                end_watchdog(watchdog)
            _kill(process)
            feeder.join(_ENDING)
            program.close()


def _feed(pipe: IO[bytes], data: bytes) -> None:
    with suppress(OSError, ValueError):  # the program ended without reading everything
        pipe.write(data)
        pipe.close()


_PREFIX = re.compile(r"(npm )?(err(or)?|E)\b:?\s*", re.IGNORECASE)
_NOT_WHY = re.compile(r"(code|errno|syscall|A complete log)\b")
_EXCEPTION = re.compile(r"^Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\S.*)", re.MULTILINE)


def printed_reason(output: str) -> str:
    """Return the line of a failed program's output with the reason.

    It is the exception of the last traceback, or a line that begins with a word like `error`.
    """
    if exceptions := _EXCEPTION.findall(output):
        return str(exceptions[-1]).strip().rstrip(".")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [_PREFIX.sub("", line, count=1) for line in lines if _PREFIX.match(line)]
    reasons = [line for line in errors if line and not _NOT_WHY.match(line)]
    return (reasons or errors or lines or ["it printed nothing"])[0].rstrip(".")
