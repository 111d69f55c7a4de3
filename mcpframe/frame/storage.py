"""What a session keeps in the browser: values under keys, which no other session sees.

    mcpframe:1:<session id>:<key>      in localStorage: JSON text of up to 64 KiB
    mcpframe / values / [id, key]      database, object store and key in IndexedDB: longer JSON text, and bytes

`1` is the version of this format, as is the database's. In the localStorage key the session id's `%` and `:` are
written `%25` and `%3A`, so that no id is the beginning of another one. A key is in one of the two places; while a value
moves, localStorage is what counts. All servers of an origin share these places: sessions are told apart by their id,
which hosts make unguessable.

A page of opaque origin (sandboxed without `allow-same-origin`) has no storage, nor has a page that another site frames
where the browser blocks third-party storage (as private windows do), nor CPython: there values are in memory until the
page or the program ends, and `Storage.persistent` is False.
"""

from __future__ import annotations

import json
import logging
from typing import Any, Protocol

import anyio

from mcpframe.frame.errors import QuotaError, StorageError

log = logging.getLogger(__name__)

FORMAT = 1
"""The version of what is written here. Another format will have another number, and look after the values of this."""

SMALL = 64 * 1024
"""The longest JSON text that goes into localStorage, in characters."""

Record = str | bytes
"""What a place keeps: a text is JSON, bytes are bytes."""


class Texts(Protocol):
    """A synchronous place for short texts: localStorage. `set` raises `QuotaError` where there is no room."""

    def get(self, key: str) -> str | None: ...
    def set(self, key: str, text: str) -> None: ...
    def delete(self, key: str) -> None: ...
    def names(self) -> list[str]: ...


class Records(Protocol):
    """An asynchronous place for records of any size: IndexedDB. Every method may raise `StorageError`."""

    async def get(self, session_id: str, key: str) -> Record | None: ...
    async def set(self, session_id: str, key: str, record: Record) -> None: ...
    async def delete(self, session_id: str, key: str) -> None: ...
    async def keys(self, session_id: str) -> list[str]: ...
    async def clear(self, session_id: str) -> None: ...


class Storage:
    """The values of one session.

    Attributes:
        persistent: whether values outlive the page.
    """

    def __init__(self, session_id: str, texts: Texts | None = None, records: Records | None = None) -> None:
        """Open the values of a session.

        Args:
            session_id: whose values.
            texts: the place for short values; None to keep all values in memory.
            records: the place for the others.
        """
        self.persistent = texts is not None
        self._id = session_id
        self._prefix = f"mcpframe:{FORMAT}:{session_id.replace('%', '%25').replace(':', '%3A')}:"
        self._texts = texts if texts is not None else MemoryTexts()
        self._records = records if records is not None else MemoryRecords()
        self._changing = anyio.Lock(fast_acquire=True)  # one change after the other: values move between the places

    async def get(self, key: str, default: Any = None) -> Any:
        """Give the value under a key: what JSON makes of what was stored, or bytes.

        Args:
            key: the key.
            default: what to give where there is no value.

        Raises:
            StorageError: where the browser refuses.
        """
        record: Record | None = self._texts.get(self._prefix + _checked(key))
        if record is None:
            record = await self._records.get(self._id, key)
        if record is None:
            return default
        return json.loads(record) if isinstance(record, str) else record

    async def set(self, key: str, value: Any) -> None:
        """Store a value under a key, in place of the one before. Where this raises, that one is still there.

        Args:
            key: any text but the empty one.
            value: what JSON can express, or bytes. JSON makes lists of tuples and texts of a dict's keys.

        Raises:
            QuotaError: where the browser has no room for it.
            StorageError: where it has no JSON form, or the browser refuses.
        """
        name = self._prefix + _checked(key)
        if isinstance(value, bytes | bytearray | memoryview):
            record: Record = bytes(value)
        else:
            record = _encoded(key, value)
        async with self._changing:
            if isinstance(record, str) and len(record) <= SMALL and self._set_text(name, record):
                await self._records.delete(self._id, key)
                return
            await self._records.set(self._id, key, record)
            self._texts.delete(name)

    async def delete(self, key: str) -> None:
        """Remove a key and its value, if there. Raises `StorageError` where the browser refuses."""
        name = self._prefix + _checked(key)
        async with self._changing:
            self._texts.delete(name)
            await self._records.delete(self._id, key)

    async def keys(self) -> list[str]:
        """Give all keys, sorted. Raises `StorageError` where the browser refuses."""
        return sorted({*self._own_texts(), *await self._records.keys(self._id)})

    async def clear(self) -> None:
        """Remove everything of this session. Raises `StorageError` where the browser refuses."""
        async with self._changing:
            for key in self._own_texts():
                self._texts.delete(self._prefix + key)
            await self._records.clear(self._id)

    def _set_text(self, name: str, text: str) -> bool:
        try:
            self._texts.set(name, text)
        except QuotaError:
            return False  # localStorage is small: IndexedDB may still have room
        return True

    def _own_texts(self) -> list[str]:
        return [name.removeprefix(self._prefix) for name in self._texts.names() if name.startswith(self._prefix)]


class MemoryTexts:
    """Short texts in memory."""

    def __init__(self) -> None:
        """Begin without any."""
        self._texts: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        """Give a text."""
        return self._texts.get(key)

    def set(self, key: str, text: str) -> None:
        """Keep a text."""
        self._texts[key] = text

    def delete(self, key: str) -> None:
        """Forget a text."""
        self._texts.pop(key, None)

    def names(self) -> list[str]:
        """Give all keys."""
        return list(self._texts)


class MemoryRecords:
    """Records in memory."""

    def __init__(self) -> None:
        """Begin without any."""
        self._records: dict[tuple[str, str], Record] = {}

    async def get(self, session_id: str, key: str) -> Record | None:
        """Give a record."""
        return self._records.get((session_id, key))

    async def set(self, session_id: str, key: str, record: Record) -> None:
        """Keep a record."""
        self._records[session_id, key] = record

    async def delete(self, session_id: str, key: str) -> None:
        """Forget a record."""
        self._records.pop((session_id, key), None)

    async def keys(self, session_id: str) -> list[str]:
        """Give the keys of a session."""
        return [key for owner, key in self._records if owner == session_id]

    async def clear(self, session_id: str) -> None:
        """Forget the records of a session."""
        for key in await self.keys(session_id):
            del self._records[session_id, key]


def open_storage(session_id: str) -> Storage:
    """Open the values of a session in this page; outside of a browser, or where the page has no storage, in memory.

    Args:
        session_id: whose values.
    """
    from mcpframe.frame import browser_storage

    texts = browser_storage.local_storage()
    if texts is None:
        log.warning(
            "This page has no storage, so that what the session keeps is gone with the page: the sandbox lacks "
            "allow-same-origin, or the browser blocks the storage of pages that another site frames."
        )
        return Storage(session_id)
    return Storage(session_id, texts, browser_storage.Database())


def _checked(key: object) -> str:
    if not isinstance(key, str) or not key:
        raise StorageError(f"A key is a text of at least one character, not {key!r}.")
    return key


def _encoded(key: str, value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise StorageError(f"The value for {key!r} is neither bytes nor JSON: {error}.") from None
