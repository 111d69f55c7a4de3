"""Process and terminal functions in a page, which has neither: they raise, and Python continues.

`os._exit`, `os.abort` and a fatal signal to its own process would end the page's Python for all tools; here they raise
SystemExit, as `sys.exit` does. `breakpoint()`, `pdb` and reading `sys.stdin` would wait for a user who cannot answer;
here they raise an error with an alternative, and so does `input()` where `serving.user_input` cannot ask; and so does
`os.system`, which would return -1. The functions of `posix` are unchanged.

A recursion limit too high for the browser's stack is lowered: a RecursionError can be answered, a stack overflow ends
Python.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

NO_PROCESSES = (
    "A page has no processes: call a Python library instead of a program, or leave it to a server that the page "
    "fetches from."
)
_NO_TERMINAL = (
    "A page has no terminal: take what the server needs to know as a tool's argument, or ask the user with "
    "elicitation or an element of the page."
)
_NO_DEBUGGER = (
    "A page has no terminal for a debugger: print what you want to see, or run the server in plain CPython, "
    "for example in a test with mcp.Client(server)."
)
_HARMLESS = frozenset({"SIGCHLD", "SIGCONT", "SIGURG", "SIGWINCH"})
"""Signals whose default action does not end a process (POSIX, signal.h)."""


def outlive_exits() -> None:
    """Replace functions that would end Python or wait for a terminal. Call it in Pyodide, before the author's code."""
    os._exit = _exit
    os.abort = _abort
    if signal.raise_signal is not _raise_signal:
        global _really_raise
        _really_raise = signal.raise_signal
        signal.raise_signal = _raise_signal
    os.kill = _kill
    os.system = _no_shell
    sys.breakpointhook = _no_debugger
    if sys.setrecursionlimit is not _limit_recursion:
        global _really_limit
        _really_limit = sys.setrecursionlimit
        sys.setrecursionlimit = _limit_recursion
    sys.stdin = _NoTerminal()


def _exit(status: int) -> NoReturn:
    raise SystemExit(status)


def _abort() -> NoReturn:
    raise SystemExit("os.abort() was called")


def _kill(pid: int, number: int, /) -> None:
    if pid not in (os.getpid(), 0, -1):
        raise ProcessLookupError(f"No process {pid}: a page has only its own.")
    if number:
        _raise_signal(number)


def _no_shell(command: object) -> NoReturn:
    raise OSError(errno.ENOSYS, NO_PROCESSES)


_really_raise: Callable[[int], None] = signal.raise_signal


def _raise_signal(number: int, /) -> None:
    handler = signal.getsignal(number)
    if callable(handler):
        _really_raise(number)
        return
    name = signal.Signals(number).name
    if handler is not signal.SIG_IGN and name not in _HARMLESS:
        raise SystemExit(f"{name} was raised")


MOST_FRAMES = 3000
"""The highest recursion limit. Beyond about 10,000 frames the browser's stack is too small to free a traceback."""

_really_limit: Callable[[int], None] = sys.setrecursionlimit


def _limit_recursion(limit: int, /) -> None:
    _really_limit(min(limit, MOST_FRAMES))


def _no_debugger(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError(_NO_DEBUGGER)


class _NoTerminal(io.TextIOBase):
    """A standard input without data."""

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> NoReturn:
        raise io.UnsupportedOperation(_NO_TERMINAL)

    def readline(self, size: int = -1, /) -> NoReturn:  # type: ignore[override]
        raise io.UnsupportedOperation(_NO_TERMINAL)
