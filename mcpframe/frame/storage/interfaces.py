"""The interfaces of the browser's storage. For type checkers: no bundle contains it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

Record = str | bytes
"""A stored record: a str is JSON, bytes are a value of bytes."""


class Texts(Protocol):
    """The store of texts that earlier versions wrote: localStorage. Every method may raise `StorageError`."""

    def get(self, key: str) -> str | None: ...
    def delete(self, key: str) -> None: ...
    def names(self) -> list[str]: ...


class Records(Protocol):
    """An asynchronous store of records of any size: IndexedDB. Every method may raise `StorageError`."""

    async def get(self, session_id: str, key: str) -> Record | None: ...
    async def set(self, session_id: str, key: str, record: Record) -> None: ...
    async def delete(self, session_id: str, key: str) -> None: ...
    async def keys(self, session_id: str) -> list[str]: ...
    async def clear(self, session_id: str) -> None: ...


class Locks(Protocol):
    """Locks shared by the pages of an origin. Closing a page releases its locks."""

    def held(self, name: str) -> AbstractAsyncContextManager[None]:
        """Return a context manager that holds a lock. Entering it raises `StorageError` if it cannot get the lock."""
        ...
