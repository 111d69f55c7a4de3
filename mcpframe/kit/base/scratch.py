"""Temporary folders in the cache: private, and removed even if their process is killed.

Each has a lock file beside it, released when its process ends. Creating a folder removes those whose lock is free.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from mcpframe.kit.base.cache import cache_dir, is_temporary, writing
from mcpframe.kit.base.errors import WriteError
from mcpframe.kit.base.locking import HeldLock, locked, try_hold

_FOLDER = "scratch"
_LOCK = ".lock"
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_ABANDONED = 3600.0  # seconds: longer than it takes to write any file of the cache


@contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """Create an empty folder for the duration of the block, and remove the folders of killed processes.

    If the cache cannot be written, the folder is in the system's temporary folder; a killed process leaves it there.

    Args:
        purpose: A word that the folder's name begins with.

    Raises:
        WriteError: The disk is full.
    """
    try:
        folder, lock, held = _make_folder(purpose)
    except WriteError as error:
        if not isinstance(error.__cause__, OSError) or error.__cause__.errno not in _FORBIDDEN:
            raise
        with tempfile.TemporaryDirectory(prefix=f"mcpframe-{purpose}-", ignore_cleanup_errors=True) as temporary:
            yield Path(temporary)
        return
    try:
        with held or nullcontext():
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)  # a later call removes files that an ending browser writes
    finally:
        if not folder.exists():
            lock.unlink(missing_ok=True)


def _make_folder(purpose: str) -> tuple[Path, Path, HeldLock | None]:
    """Return a new folder, the path of its lock file, and its lock."""
    base = cache_dir() / _FOLDER
    with writing(base):
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(base), writing(base):
        _sweep(base)
        folder = Path(tempfile.mkdtemp(prefix=f"{purpose}-", dir=base))
        lock = base / f"{folder.name}{_LOCK}"
        return folder, lock, try_hold(lock)


def _sweep(base: Path) -> None:
    """Remove folders whose process has ended. Call this only while holding the lock of `base`."""
    for path in list(base.iterdir()):
        if path.suffix == _LOCK:
            continue
        lock = base / f"{path.name}{_LOCK}"
        if held := try_hold(lock):
            with held:
                shutil.rmtree(path, ignore_errors=True)
    for lock in list(base.glob(f"*{_LOCK}")):
        if not (base / lock.stem).exists():
            with suppress(OSError):
                lock.unlink()


def clear_cache() -> None:
    """Remove half-written files that killed processes left in the cache."""
    now = time.time()
    for path in cache_dir().glob("*/.*"):
        with suppress(OSError):
            if is_temporary(path.name) and path.is_file() and now - path.stat().st_mtime > _ABANDONED:
                path.unlink()
