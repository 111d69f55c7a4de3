"""Locks between processes: on a file in the cache, released when the process ends."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mcpframe.kit.base.cache import cache_dir, writing
from mcpframe.kit.base.errors import WriteError

if TYPE_CHECKING:
    from filelock import AcquireReturnProxy, BaseFileLock

_TIMEOUT = 600.0  # seconds: longer than any build
_INTERVAL = 0.1


@contextmanager
def locked(folder: Path, timeout: float = _TIMEOUT) -> Iterator[None]:
    """Hold the lock of a folder during the block; wait while another process or thread holds it.

    The lock file is in the cache, so nothing is left in the folder.

    Args:
        folder: The folder, which need not exist.
        timeout: The longest wait, in seconds.

    Raises:
        WriteError: The lock was not released in time, or the cache cannot be written.
    """
    name = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:32]
    path = cache_dir() / "locks" / f"{name}.lock"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        held = _acquired(path, timeout)
    if held is None:
        raise WriteError(f"Another build has been writing {folder} for {timeout:.0f} seconds; stop it and try again.")
    with held:
        yield


def try_hold(path: Path) -> AcquireReturnProxy[BaseFileLock] | None:
    """Lock a file, creating it if necessary.

    Returns:
        The lock, which is held until it is left as a context, or this process ends; None if another process or thread
        holds it.
    """
    return _acquired(path, 0)


def _acquired(path: Path, timeout: float) -> AcquireReturnProxy[BaseFileLock] | None:
    """Return the lock of a file once it is held, or None after `timeout` seconds."""
    from filelock import FileLock, Timeout  # a slow import

    # A file system without locks is an error: the library's replacement would outlast a process that is killed.
    lock: BaseFileLock = FileLock(path, timeout, thread_local=False, poll_interval=_INTERVAL, fallback_to_soft=False)
    try:
        return lock.acquire()
    except Timeout:
        return None
