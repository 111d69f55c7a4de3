"""Features of a process that a page lacks: sockets, processes, signals from outside, limits.

Sockets and processes immediately raise the error types that programs expect, with advice. Pyodide's sockets would
connect to nothing. A handler of a signal is accepted, but no signal arrives. Our module for `resource`,
which Pyodide lacks, is `resource_module`; for `multiprocessing.pool`, which needs processes, `thread_pool`.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

from mcpframe.frame.compat.process import NO_PROCESSES

_NO_SOCKETS = (
    "A page has no sockets: use a library for HTTP, such as httpx or requests, and list the server's origin in "
    "csp.connect_src of [tool.mcpframe]."
)


def replace() -> None:
    """Replace functions that cannot work in a page, and add missing ones. Does nothing when repeated."""
    if any(isinstance(finder, _OwnFinder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _OwnFinder())
    sockets: Any = socket.socket
    for name in ("connect", "bind", "listen"):
        setattr(sockets, name, _raising(errno.ENETUNREACH, _NO_SOCKETS))
    sockets.connect_ex = _unreachable
    for number, owner, names in _PROCESSES:
        for name in names:
            setattr(owner, name, _raising(number, NO_PROCESSES))
    loop: Any = type(asyncio.get_running_loop())
    loop.add_signal_handler = _accept_handler
    loop.remove_signal_handler = _remove_handler
    if not hasattr(time, "tzset"):
        setattr(time, "tzset", _keep_zone)  # noqa: B010


# Where a program is named: FileNotFoundError, as for one that is not installed. Many packages go on without it.
_PROCESSES: tuple[tuple[int, Any, tuple[str, ...]], ...] = (
    (errno.ENOENT, subprocess.Popen, ("__init__",)),
    (errno.ENOSYS, os, ("fork", "forkpty", "system", "popen")),
    (errno.ENOENT, os, ("posix_spawn", "posix_spawnp", "spawnv", "spawnvp", "spawnl")),
    (errno.ENOENT, os, ("execv", "execve", "execvp", "execvpe", "execl", "execle", "execlp")),
)


def _raising(number: int, message: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise OSError(number, message)

    return refuse


def _unreachable(self: object, address: object) -> int:
    return errno.ENETUNREACH


def _accept_handler(self: object, sig: int, callback: Callable[..., Any], *args: Any) -> None:
    """Do nothing: no signal comes from outside."""


def _remove_handler(self: object, sig: int) -> bool:
    return False


def _keep_zone() -> None:
    """Do nothing: the visitor's time zone cannot be changed."""


class _OwnFinder(MetaPathFinder, Loader):
    """Answers imports of modules that cannot work in a page with modules of this folder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in _OWN else None

    def exec_module(self, module: ModuleType) -> None:
        own = import_module(_OWN[module.__name__])
        module.__dict__.update({name: value for name, value in vars(own).items() if not name.startswith("_")})


_OWN = {
    "multiprocessing.pool": "mcpframe.frame.world.thread_pool",
    "resource": "mcpframe.frame.world.resource_module",
}
