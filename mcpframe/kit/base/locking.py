"""Locks between processes: on a file in the cache, released when the process ends.

The system's own locks, by `flock` or `msvcrt.locking`. A file system without them is an error.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

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


def try_hold(path: Path) -> HeldLock | None:
    """Lock a file, creating it if necessary.

    Returns:
        The lock; None if another process or thread holds it.
    """
    return _acquired(path, 0)


class HeldLock(AbstractContextManager["HeldLock"]):
    """A locked file. The lock is held until this is left as a context, or the process ends.

    Args:
        descriptor: The file, locked.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __exit__(self, *_: object) -> None:
        _unlock(self._descriptor)
        os.close(self._descriptor)


def _acquired(path: Path, timeout: float) -> HeldLock | None:
    """Return the lock of a file once it is held, or None after `timeout` seconds.

    Raises:
        OSError: The file cannot be opened, or its file system has no locks.
    """
    deadline = time.monotonic() + timeout
    while (descriptor := _opened_and_locked(path)) is None:
        if time.monotonic() >= deadline:
            return None
        time.sleep(_INTERVAL)
    return HeldLock(descriptor)


def _opened_and_locked(path: Path) -> int | None:
    """Return the file, opened and locked; None if another opening of it is locked."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)  # not inherited by children (PEP 446)
        try:
            is_held = _lock(descriptor)
            is_current = is_held and _is_at(descriptor, path)
        except BaseException:
            os.close(descriptor)
            raise
        if is_current:
            return descriptor
        os.close(descriptor)
        if not is_held:
            return None


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether a file is still the one at its path: its last holder may have removed it meanwhile."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:  # another opening has locked its first byte
            return False
        return True

    def _unlock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # a child that is just being started may hold the file open
