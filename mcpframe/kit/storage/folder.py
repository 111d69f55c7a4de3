"""Values of sessions in a folder: a file for each, written atomically, readable for its owner only.

    <session>/<value>          JSON of the key and the value's kind in the first line, and the value after it
    <session>.lock             the lock of the session's values

All names are hashes: a session or a key may be any text. Several processes may share the folder if its file system
has locks: one of this machine. Several machines share a database instead.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.errors import StorageError
from mcpframe.frame.storage.values import LOCK_TIMEOUT
from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.errors import WriteError
from mcpframe.kit.base.locking import try_hold

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpframe.frame.storage.interfaces import Record

_ENDING = ".value"
_TRY_SECONDS = 0.01


class FolderValues:
    """`storage.interfaces.Records` and `Locks` in a folder, which is created by the first write."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def get(self, session_id: str, key: str) -> Record | None:
        """Return a record. Raises `StorageError` for one that is damaged."""
        record = await _done(_read, self._path(session_id, key))
        return None if record is None else record[1]

    async def set(self, session_id: str, key: str, record: Record) -> None:
        """Keep a record."""
        head = json.dumps([key, "bytes" if isinstance(record, bytes) else "json"])
        data = record if isinstance(record, bytes) else record.encode()
        await _done(write_file, self._path(session_id, key), head.encode() + b"\n" + data)

    async def delete(self, session_id: str, key: str) -> None:
        """Forget a record."""
        await _done(_remove, self._path(session_id, key))

    async def keys(self, session_id: str) -> list[str]:
        """Return the keys of a session."""
        stored: list[str] = await _done(_keys, self._session(session_id))
        return stored

    async def clear(self, session_id: str) -> None:
        """Forget the records of a session."""
        for key in await self.keys(session_id):
            await self.delete(session_id, key)

    @asynccontextmanager
    async def held(self, name: str) -> AsyncIterator[None]:
        """Hold a lock between processes. Raises `StorageError` if another process does not release it in time."""
        path = self._folder / f"{_hash(name)}.lock"
        await _done(lambda: path.parent.mkdir(parents=True, exist_ok=True))
        deadline = time.monotonic() + LOCK_TIMEOUT
        try:
            while (lock := try_hold(path)) is None:
                if time.monotonic() >= deadline:
                    raise StorageError("Another process does not finish its change of these values: try again.")
                await asyncio.sleep(_TRY_SECONDS)
        except OSError as error:
            raise StorageError(f"{path} cannot be locked: {error.strerror}.") from error
        with lock:
            yield

    def _session(self, session_id: str) -> Path:
        return self._folder / _hash(session_id)

    def _path(self, session_id: str, key: str) -> Path:
        return self._session(session_id) / f"{_hash(key)}{_ENDING}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _read(path: Path) -> tuple[str, Record] | None:
    with suppress(FileNotFoundError):
        head, _, data = path.read_bytes().partition(b"\n")
        try:
            key, kind = json.loads(head)
            return str(key), data if kind == "bytes" else data.decode()
        except (ValueError, TypeError) as error:
            raise StorageError(f"{path} is not a stored value: delete it to go on.") from error
    return None


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def _keys(folder: Path) -> list[str]:
    keys = []
    for path in folder.glob(f"*{_ENDING}"):
        with suppress(FileNotFoundError, ValueError, TypeError), path.open("rb") as file:
            keys.append(str(json.loads(file.readline())[0]))
    return keys


async def _done(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function of the file system in a thread; its failure is a `StorageError`."""
    try:
        return await asyncio.to_thread(function, *arguments)
    except WriteError as error:
        raise StorageError(str(error)) from error
    except OSError as error:
        raise StorageError(
            f"{error.filename or 'The folder of the values'} cannot be used: {error.strerror}."
        ) from error
