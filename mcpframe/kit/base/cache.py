"""The cache folder, and atomic writes: a failure never leaves half a file or half a folder."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs

from mcpframe.kit.base.errors import WriteError

_TEMPORARY = re.compile(r"[a-z0-9_]{8}")  # how `tempfile` ends its names
_PUBLIC_FILE, _PUBLIC_FOLDER = 0o644, 0o755

_REASONS = {
    errno.ENOSPC: "the disk is full: free some space, or",
    errno.EDQUOT: "the disk quota is used up: free some space, or",
    errno.EFBIG: "a file may not be that large here: raise the limit (ulimit -f), or",
    errno.EROFS: "the file system is read-only:",
    errno.EACCES: "permission is denied: change that, or",
    errno.EPERM: "permission is denied: change that, or",
    errno.ENOTDIR: "there is a file where a folder is needed: move it, or",
    errno.EEXIST: "there is a file where a folder is needed: move it, or",
}


def cache_dir() -> Path:
    """Return the folder of files that can be fetched or rebuilt: `$MCPFRAME_CACHE`, else the user's cache folder."""
    chosen = os.environ.get("MCPFRAME_CACHE")
    return Path(chosen).expanduser().absolute() if chosen else platformdirs.user_cache_path("mcpframe", appauthor=False)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Turn an error of the file system while `place` is written into a `WriteError`.

    Raises:
        WriteError: Disk full, quota used up, read-only or no permission. Other errors are not changed.
    """
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0)
        if reason is None:
            raise
        elsewhere = (
            "another cache folder with MCPFRAME_CACHE" if cache_dir() in (place, *place.parents) else "another folder"
        )
        raise WriteError(f"Cannot write {place}, as {reason} choose {elsewhere}.") from error


def check_writable(folder: Path) -> None:
    """Check that a folder can be written or created, before long work whose result goes there.

    Raises:
        WriteError: It cannot.
    """
    with writing(folder):
        above = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=above):  # access() is wrong for some systems
            pass


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Create the folder `target` atomically: the block fills an empty folder, which is then renamed.

    The folder gets its name only when the block ends without an error; otherwise it is removed. An existing `target` is
    replaced, also one that another process creates meanwhile.

    Raises:
        WriteError: The folder cannot be written.
    """
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            folder = temporary / "new"
            folder.mkdir()
            yield folder
            _replace(folder, target, temporary / "old")
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _replace(folder: Path, target: Path, aside: Path) -> None:
    # A folder cannot be renamed over one with files in it: the old one is moved away first.
    with suppress(FileNotFoundError):
        target.rename(aside)
    try:
        folder.rename(target)
    except OSError:
        if aside.exists() and not target.exists():
            aside.rename(target)
        raise


def clear_leftovers(target: Path) -> None:
    """Remove the temporary files that a process left beside `target` when it was killed.

    A folder that the process had moved away is moved back. Call this only while no other process can write `target`.

    Raises:
        WriteError: The leftovers cannot be removed.
    """
    start = f".{target.name}."
    with writing(target):
        for left in [path for path in target.parent.glob(".*") if path.name.startswith(start)]:
            if not _TEMPORARY.fullmatch(left.name.removeprefix(start)):
                continue
            if left.is_file():
                left.unlink()
            elif all(path.name in ("new", "old") for path in left.iterdir()):
                if not target.exists() and (left / "old").exists():
                    (left / "old").rename(target)
                shutil.rmtree(left)


def is_temporary(name: str) -> bool:
    """Return whether `write_file` or `new_folder` uses such a name until it renames the file or folder."""
    stem, _, ending = name.rpartition(".")
    return stem.startswith(".") and len(stem) > 1 and _TEMPORARY.fullmatch(ending) is not None


def make_public(folder: Path) -> None:
    """Make a folder and everything in it readable for every user, whatever the umask is.

    A web server runs as another user.

    Raises:
        WriteError: The permissions cannot be changed.
    """
    with writing(folder):
        for path in (folder, *folder.rglob("*")):
            if not path.is_symlink():
                path.chmod(_PUBLIC_FOLDER if path.is_dir() else _PUBLIC_FILE)


def make_public_folder(folder: Path) -> None:
    """Create a folder that every user can read, and its missing parents; existing folders are left as they are.

    Raises:
        WriteError: A folder cannot be created.
    """
    with writing(folder):
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for path in missing:
            path.chmod(_PUBLIC_FOLDER)


def move_file(source: Path, target: Path) -> None:
    """Move a file atomically, also to another file system.

    Raises:
        WriteError: The target cannot be written.
    """
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            source.replace(target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            write_file(target, source.read_bytes())
            source.unlink()


def write_file(target: Path, data: bytes, *, public: bool = False) -> None:
    """Write a file atomically: it has all of `data`, or is as it was before.

    Args:
        public: Whether every user can read it; otherwise only its owner can.

    Raises:
        WriteError: The file cannot be written.
    """
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            if public:
                temporary.chmod(_PUBLIC_FILE)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
