"""A session's storage in the browser: values under keys that no other session sees.

    mcpframe / values / [session id, key]    database, object store and key in IndexedDB: JSON text, or bytes
    mcpframe:1:<session id>                  the lock of the session's values (Web Locks API)
    mcpframe:1:<session id>:<key>            in localStorage: JSON text written by an earlier version

`1` is the version of this format and of the database. A session may have several pages, in several processes. Each
change of the database is a transaction; the lock orders changes that consist of several steps. localStorage is only
read and emptied. Another process's writes to localStorage arrive late, even under a lock. So an old value there could
hide a newer one in the database. In its keys the session id's `%` and `:` are written `%25` and `%3A`, so that no id is
a prefix of another; a value that is still there takes precedence. All servers of an origin share these places: sessions
are distinguished by their id, which hosts make unguessable.

There is no storage in a page of opaque origin (sandboxed without `allow-same-origin`), in a page that another site
frames while the browser blocks third-party storage (as private windows do), and in CPython. Values are then kept in
memory until the page or the program ends, and `Storage.persistent` is False.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import anyio

from mcpframe.frame.core.errors import StorageError
from mcpframe.frame.core.outline import nesting

if TYPE_CHECKING:
    from mcpframe.frame.storage.interfaces import Locks, Record, Records, Texts

FORMAT = 1
"""The version of this format. A later format has another number, and migrates the values of this one."""

CHANGE_TIMEOUT = 30.0
"""The longest one change may take once it has the lock, and the longest one read may take, in seconds."""

LOCK_LEASE = CHANGE_TIMEOUT + 5
"""Seconds after which a page releases the lock, even if its Python is busy."""

LOCK_TIMEOUT = LOCK_LEASE + 10
"""Seconds a page waits for the lock: long enough for one other page's lease to expire."""

MAX_NESTING = 500
"""The deepest nesting of lists and dicts in a value. In Pyodide deeper JSON ends Python."""


class Storage:
    """The values of one session.

    Args:
        session_id: The session that owns the values.
        texts: The store in which earlier versions kept short values, if there is one.
        records: The store of all other values; None keeps them in memory.
        locks: Keep the pages of one session from changing values at the same time; None if there are no other pages,
            or the browser has no locks.
        change_timeout: The longest one change or one read may take, in seconds.

    Attributes:
        persistent: whether values outlive the page.
        unkept: whether a value was stored that does not outlive the page.
    """

    def __init__(
        self,
        session_id: str,
        texts: Texts | None = None,
        records: Records | None = None,
        locks: Locks | None = None,
        *,
        change_timeout: float = CHANGE_TIMEOUT,
    ) -> None:
        self.persistent = records is not None
        self.unkept = False
        self._id = session_id
        self._prefix = f"mcpframe:{FORMAT}:{session_id.replace('%', '%25').replace(':', '%3A')}:"
        self._lock_name = f"mcpframe:{FORMAT}:{session_id}"
        self._records = records if records is not None else MemoryRecords()
        self._texts = texts
        self._locks = locks
        self._change_timeout = change_timeout
        self._changing = anyio.Lock(fast_acquire=True)  # changes of this page are made in order

    async def get(self, key: str, default: Any = None) -> Any:
        """Return the value under a key: the parsed JSON, or bytes.

        Args:
            key: the key.
            default: returned if there is no value.

        Raises:
            StorageError: if the browser refuses or does not answer, or the record was not written by `set`.
        """
        _check(key)
        record: Record | None = None if self._texts is None else self._texts.get(self._prefix + key)
        if record is None:
            with self._in_time(f"read {key!r}"):
                record = await self._records.get(self._id, key)
        if record is None:
            return default
        return _decoded(key, record)

    async def set(self, key: str, value: Any) -> None:
        """Store a value under a key, replacing the previous one. If this raises, the previous value is kept.

        Args:
            key: any text but the empty one.
            value: a JSON value, or bytes. JSON turns tuples into lists and the keys of a dict into texts.

        Raises:
            QuotaError: if the browser's quota is exceeded.
            StorageError: if it has no JSON form or is nested deeper than `MAX_NESTING`, the browser refuses or does not
                answer, or another page of this session does not release its lock.
        """
        _check(key)
        record = _encoded(key, value)
        async with self._change(f"store {key!r}"):
            await self._write(key, record)

    async def update(self, key: str, change: Callable[[Any], Any], default: Any = None) -> Any:
        """Replace the value under a key by the result of a function of it. Nothing else changes the value meanwhile.

        Between a `get` and a `set` the value may be changed by another call of a tool, or by another page of the same
        session. (In a browser without locks, that is in an insecure context, this only serializes calls of one page.)

        Args:
            key: any text but the empty one.
            change: called with the value; returns the new one. If it raises, the value stays as it is.
            default: passed to `change` if there is no value.

        Returns:
            The new value.

        Raises:
            QuotaError, StorageError: see `set`.
        """
        _check(key)
        async with self._change(f"update {key!r}"):
            value = change(await self.get(key, default))
            await self._write(key, _encoded(key, value))
        return value

    async def delete(self, key: str) -> None:
        """Remove a key and its value, if present. Raises `StorageError`, like `set`."""
        _check(key)
        async with self._change(f"delete {key!r}"):
            await self._records.delete(self._id, key)  # the earlier text last, as it takes precedence
            self._delete_texts(key)

    async def keys(self) -> list[str]:
        """Return all keys, sorted. Raises `StorageError` if the browser refuses or does not answer."""
        with self._in_time("list the keys"):
            stored = await self._records.keys(self._id)
        return sorted({*self._own_texts(), *stored})

    async def clear(self) -> None:
        """Remove all values of this session. Raises `StorageError`, like `set`."""
        async with self._change("remove everything"):
            await self._records.clear(self._id)
            self._delete_texts(*self._own_texts())

    async def _write(self, key: str, record: Record) -> None:
        await self._records.set(self._id, key, record)
        self.unkept = not self.persistent
        self._delete_texts(key)

    @asynccontextmanager
    async def _change(self, doing: str) -> AsyncIterator[None]:
        """Run the block as the only change in all pages of the session, within the time limit of a change."""
        async with self._changing, self._locked():
            with self._in_time(doing):
                yield

    @contextmanager
    def _in_time(self, doing: str) -> Iterator[None]:
        """Raise `StorageError` if the browser takes longer than the limit."""
        with anyio.move_on_after(self._change_timeout) as scope:
            yield
        if scope.cancelled_caught:
            limit = f"{self._change_timeout:g} seconds"
            raise StorageError(f"The browser did not {doing} within {limit}. Close other tabs of it, or try again.")

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[None]:
        if self._locks is None:
            yield
            return
        async with self._locks.held(self._lock_name):
            yield

    def _delete_texts(self, *keys: str) -> None:
        if self._texts is not None:
            for key in keys:
                self._texts.delete(self._prefix + key)

    def _own_texts(self) -> list[str]:
        names = [] if self._texts is None else self._texts.names()
        return [name.removeprefix(self._prefix) for name in names if name.startswith(self._prefix)]


class MemoryRecords:
    """Records in memory."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str], Record] = {}

    async def get(self, session_id: str, key: str) -> Record | None:
        """Return a record."""
        return self._records.get((session_id, key))

    async def set(self, session_id: str, key: str, record: Record) -> None:
        """Keep a record."""
        self._records[session_id, key] = record

    async def delete(self, session_id: str, key: str) -> None:
        """Forget a record."""
        self._records.pop((session_id, key), None)

    async def keys(self, session_id: str) -> list[str]:
        """Return the keys of a session."""
        return [key for owner, key in self._records if owner == session_id]

    async def clear(self, session_id: str) -> None:
        """Forget the records of a session."""
        for key in await self.keys(session_id):
            del self._records[session_id, key]


def _check(key: object) -> None:
    if not isinstance(key, str) or not key:
        raise StorageError(f"A key is a text of at least one character, not {key!r}.")


def _encoded(key: str, value: Any) -> Record:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if _is_deeper(value, MAX_NESTING):
        raise StorageError(f"The value for {key!r} is nested deeper than {MAX_NESTING} levels, or contains itself.")
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise StorageError(f"The value for {key!r} is neither bytes nor JSON: {error}.") from None


def _decoded(key: str, record: Record) -> Any:
    """Return the value of a record, which other programs of this origin may have replaced."""
    if isinstance(record, bytes):
        return record
    fault = f"What is stored under {key!r} is not what was written; delete the key to go on"
    if nesting(record)[0] > MAX_NESTING:
        raise StorageError(f"{fault}: it is nested deeper than {MAX_NESTING} levels.")
    try:
        return json.loads(record)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{fault}: {error}.") from None


def _is_deeper(value: Any, limit: int) -> bool:
    """Return whether containers are nested deeper than the limit. Works level by level, without recursion."""
    level = [value]
    for _ in range(limit):
        inner: dict[int, Any] = {}
        for item in level:
            if isinstance(item, dict):
                inner.update((id(each), each) for each in item.values())
            elif isinstance(item, list | tuple):
                inner.update((id(each), each) for each in item)
        level = [item for item in inner.values() if isinstance(item, dict | list | tuple)]
        if not level:
            return False
    return True
