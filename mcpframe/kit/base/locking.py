"""Locks between processes: on a file in the cache, released when the process ends."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mcpframe.kit.base.cache import cache_dir, writing
from mcpframe.kit.base.errors import WriteError

_TIMEOUT = 600.0  # seconds: longer than any build
_INTERVAL = 0.1


@contextmanager
def locked(folder: Path, timeout: float = _TIMEOUT) -> Iterator[None]:
    """Hold the lock of a folder during the block; wait while another process or thread holds it.

    The lock file is in the cache, so nothing is left in the folder.

    Args:
        folder: The folder, which need not exist.
        timeout: How long to wait, in seconds.

    Raises:
        WriteError: The lock was not released in time, or the cache cannot be written.
    """
    name = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:32]
    path = cache_dir() / "locks" / f"{name}.lock"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    with file:
        deadline = time.monotonic() + timeout
        while not _try_lock(file.fileno()):
            if time.monotonic() > deadline:
                raise WriteError(
                    f"Another build has been writing {folder} for {timeout:.0f} seconds; stop it and try again."
                )
            time.sleep(_INTERVAL)
        yield


def try_hold(path: Path) -> IO[bytes] | None:
    """Lock a file, creating it if necessary. The lock lasts until the returned file is closed or this process ends.

    Returns:
        The open file; None if another process or thread holds the lock.
    """
    file = path.open("ab")
    if _try_lock(file.fileno()):
        return file
    file.close()
    return None


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
