"""Files that outlive the page: `persist` of `[tool.mcpframe]` names their paths, and each session has its own.

    mcpframe / values / ["files of <session id>", path]      in IndexedDB, beside the values of `storage`

They are restored once the session has begun, before the program's `main` or the server's first request. Changed files
are stored before each answer is sent, every few seconds, when the page is hidden, and at the end. A server in a worker
keeps them there, and a worker that follows an ended one restores them. Empty folders are
kept, too, as paths with a slash at the end. Links and their contents are not.

A session without an id, in dialects without ids, keeps no files: two hosts would share them.
"""

from __future__ import annotations

import asyncio
import logging
import os
import posixpath
import stat
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from mcpframe.frame.core.errors import QuotaError, StorageError
from mcpframe.frame.storage.values import Storage
from mcpframe.frame.waiting.streams import WriteStream

log = logging.getLogger("mcpframe")

MOST_BYTES = 64 * 1024 * 1024
"""The most bytes that are kept for one session."""
MOST_FILES = 10_000
INTERVAL = 2.0
"""Seconds between two checks of the files."""
LAST_SAVE = 5.0
"""Seconds that storing may take after the end of the session."""
_HEAD = b"mcpframe file 1 "
_UNSURE = 50_000_000
"""Nanoseconds: a file newer than this may change again without a new time."""

Report = Callable[[str, str], None]
OnHidden = Callable[[Callable[[], None]], Callable[[], None]]
_State = tuple[int, int]
"""Size and time of the last change; a folder's is (-1, -1)."""
_FOLDER: _State = (-1, -1)


def storage_id(session_id: str) -> str:
    """Return the storage id of a session's files."""
    return f"files of {session_id}"


class KeptFiles:
    """The files below some paths, and their storage.

    Args:
        paths: Files and folders, absolute or below `~`.
        storage: Their storage, which nothing else uses.
        report: called with a sentence and details about a file that cannot be kept or restored.
        most_bytes: The most bytes that are kept.
        most_files: The most files and empty folders that are kept.
    """

    def __init__(
        self,
        paths: Iterable[str],
        storage: Storage,
        report: Report,
        *,
        most_bytes: int = MOST_BYTES,
        most_files: int = MOST_FILES,
    ) -> None:
        self._home = posixpath.expanduser("~").rstrip("/")
        self._roots = sorted({posixpath.normpath(posixpath.expanduser(path)) for path in paths})
        self._storage = storage
        self._report = report
        self._most_bytes = most_bytes
        self._most_files = most_files
        self._stored: dict[str, _State | None] = {}  # by path; None if unsure
        self._is_restored = False
        self._reported = ""
        self._saving = anyio.Lock(fast_acquire=True)

    async def restore(self) -> None:
        """Write the kept files into the file system. A file that cannot be restored is reported and skipped."""
        try:
            for key in await self._storage.keys():
                await self._restore(key)
        except StorageError as error:
            self._report(f"The kept files cannot be read, so that nothing is kept in this page: {error}", "")
            return
        self._is_restored = True

    async def _restore(self, key: str) -> None:
        path = self._path(key)
        if path is None:
            return  # stored for other paths
        try:
            record = await self._storage.get(key)
            if key.endswith("/"):
                os.makedirs(path, exist_ok=True)  # noqa: PTH103
                self._stored[path] = _FOLDER
                return
            changed, content = _decoded(record)
            os.makedirs(posixpath.dirname(path), exist_ok=True)  # noqa: PTH103
            with open(path, "wb") as file:  # noqa: ASYNC230, PTH123  in memory
                file.write(content)
            os.utime(path, ns=(changed, changed))
        except (StorageError, ValueError, OSError) as error:
            self._report(f"The kept file {key} cannot be restored; the others are: {error}", "")
            return
        self._stored[path] = _state(os.lstat(path))

    async def save(self) -> None:
        """Store the files that have changed. A failure is reported, and leaves the stored files as they are."""
        if not self._is_restored or not self._storage.persistent:
            return
        async with self._saving:
            try:
                await self._save()
            except (StorageError, OSError) as error:
                if str(error) != self._reported:
                    self._reported = str(error)
                    log.error("%s", error)
                    self._report(str(error), "")
            else:
                self._reported = ""

    async def _save(self) -> None:
        now = time.time_ns()
        states = dict(self._look())
        size = sum(max(state[0], 0) for state in states.values())
        if size > self._most_bytes or len(states) > self._most_files:
            raise QuotaError(
                f"{self._named()}: {len(states):,} files with {size:,} bytes together are too many to keep; the limits "
                f"are {self._most_files:,} files and {self._most_bytes:,} bytes. Nothing was stored: delete some, or "
                "narrow persist in [tool.mcpframe]."
            )
        for path, state in states.items():
            if self._stored.get(path) == state:
                continue
            if state == _FOLDER:
                await self._storage.set(self._key(path) + "/", {})
            else:
                with open(path, "rb") as file:  # noqa: ASYNC230, PTH123  in memory
                    content = file.read()
                await self._storage.set(self._key(path), _encoded(state[1], content))
            self._stored[path] = None if now - state[1] < _UNSURE and state != _FOLDER else state
        for path in self._stored.keys() - states.keys():
            for key in (self._key(path), self._key(path) + "/"):
                await self._storage.delete(key)
            del self._stored[path]

    def _look(self) -> Iterator[tuple[str, _State]]:
        for root in self._roots:
            try:
                status = os.lstat(root)
            except OSError:  # the server has not written it yet
                continue
            if stat.S_ISREG(status.st_mode):
                yield root, _state(status)
            for folder, folders, files in os.walk(root):
                if not folders and not files:
                    yield folder, _FOLDER
                for name in files:
                    path = posixpath.join(folder, name)
                    status = os.lstat(path)
                    if stat.S_ISREG(status.st_mode):
                        yield path, _state(status)

    def _key(self, path: str) -> str:
        return f"~{path[len(self._home) :]}" if f"{path}/".startswith(f"{self._home}/") else path

    def _path(self, key: str) -> str | None:
        """Return the path of a key; None if it is not below any root: others may have written it."""
        path = posixpath.normpath(self._home + key[1:] if key.startswith(("~/", "~")) else key)
        inside = any(f"{path}/".startswith(f"{root}/") for root in self._roots)
        return path if inside and self._key(path) == key.rstrip("/") else None

    def _named(self) -> str:
        return ", ".join(map(self._key, self._roots))


def _state(status: os.stat_result) -> _State:
    return status.st_size, status.st_mtime_ns


def _encoded(changed: int, content: bytes) -> bytes:
    return _HEAD + f"{changed} {len(content)}\n".encode() + content


def _decoded(record: Any) -> tuple[int, bytes]:
    """Return the time of a file's last change, and its content. Raises ValueError for a damaged record."""
    if not isinstance(record, bytes) or not record.startswith(_HEAD):
        raise ValueError("the stored value is not a file")
    head, _, content = record[len(_HEAD) :].partition(b"\n")
    changed, size = (int(part) for part in head.split(b" ", 1))
    if size != len(content):
        raise ValueError("the stored value is not the whole file")
    return changed, content


class SavingWriter(WriteStream):
    """The write stream of a session, which stores the files before each answer.

    Args:
        write: The stream.
        files: The files.
        members: Returns the members of a message.
    """

    def __init__(self, write: Any, files: KeptFiles, members: Callable[[Any], Any]) -> None:
        self._write = write
        self._files = files
        self._members = members

    async def send(self, item: Any, /) -> None:
        """Send a message."""
        if "method" not in self._members(item):
            await self._files.save()
        await self._write.send(item)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._write.aclose()


@asynccontextmanager
async def keeping(
    paths: Iterable[str],
    session_id: str,
    open_storage: Callable[[str], Storage],
    report: Report,
    on_hidden: OnHidden,
) -> AsyncIterator[KeptFiles]:
    """Restore the files of a session, and store them during the block and at its end.

    Args:
        paths: see `KeptFiles`.
        session_id: the id of the session.
        open_storage: returns the storage of an id.
        report: see `KeptFiles`.
        on_hidden: registers a function that is called when the page is hidden or left; returns one that removes it.
    """
    if not session_id:
        log.warning("This session has no id, so that no files are kept for it.")
    files = KeptFiles(paths, open_storage(storage_id(session_id)) if session_id else Storage(""), report)
    await files.restore()
    now = asyncio.Event()

    async def watch() -> None:
        while True:
            with anyio.move_on_after(INTERVAL):
                await now.wait()
            now.clear()
            await files.save()

    stop = on_hidden(now.set)
    watching = asyncio.create_task(watch())
    try:
        yield files
    finally:
        stop()
        watching.cancel()
        await asyncio.wait([watching])
        with anyio.move_on_after(LAST_SAVE, shield=True):
            await files.save()
