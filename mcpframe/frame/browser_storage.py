"""The browser's places for values: localStorage and IndexedDB, as `storage` wants them. Decides nothing.

A connection to the database lives as long as one call: so a page that is left open never keeps a newer one from
changing the format, and no proxy outlives its call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import js
from pyodide.ffi import JsException, create_proxy, to_js

from mcpframe.frame.errors import QuotaError, StorageError
from mcpframe.frame.storage import FORMAT, Record

_DATABASE = "mcpframe"
_STORE = "values"


def local_storage() -> LocalStorage | None:
    """Give this page's localStorage; None where it has none."""
    try:
        storage = js.localStorage
    except JsException:
        return None
    except AttributeError:
        return None
    return None if storage is None else LocalStorage(storage)


class LocalStorage:
    """`storage.Texts` in localStorage."""

    def __init__(self, storage: Any) -> None:
        """Use this `Storage` of the browser."""
        self._storage = storage

    def get(self, key: str) -> str | None:
        """Give a text."""
        found: str | None = self._storage.getItem(key)
        return found if isinstance(found, str) else None

    def set(self, key: str, text: str) -> None:
        """Keep a text. Raises `QuotaError` where there is no room."""
        try:
            self._storage.setItem(key, text)
        except JsException as error:
            raise _error(error) from None

    def delete(self, key: str) -> None:
        """Forget a text."""
        self._storage.removeItem(key)

    def names(self) -> list[str]:
        """Give all keys, of all sessions and of whatever else this origin has."""
        return [self._storage.key(number) for number in range(self._storage.length)]


class Database:
    """`storage.Records` in IndexedDB."""

    async def get(self, session_id: str, key: str) -> Record | None:
        """Give a record."""
        found = await self._run("readonly", lambda store: store.get(to_js([session_id, key])))
        if found is None or isinstance(found, str):
            return found
        if not hasattr(found, "to_bytes"):
            return None  # undefined
        data: bytes = found.to_bytes()
        return data

    async def set(self, session_id: str, key: str, record: Record) -> None:
        """Keep a record."""
        value = record if isinstance(record, str) else to_js(record)
        await self._run("readwrite", lambda store: store.put(value, to_js([session_id, key])))

    async def delete(self, session_id: str, key: str) -> None:
        """Forget a record."""
        await self._run("readwrite", lambda store: store.delete(to_js([session_id, key])))

    async def keys(self, session_id: str) -> list[str]:
        """Give the keys of a session."""
        found = await self._run("readonly", lambda store: store.getAllKeys(_range(session_id)))
        return [str(key) for _, key in found.to_py()]

    async def clear(self, session_id: str) -> None:
        """Forget the records of a session."""
        await self._run("readwrite", lambda store: store.delete(_range(session_id)))

    async def _run(self, mode: str, ask: Callable[[Any], Any]) -> Any:
        """Make one request in a transaction of its own, and give its result once the transaction has completed."""
        try:
            request = js.indexedDB.open(_DATABASE, FORMAT)
            create = ("upgradeneeded", lambda: request.result.createObjectStore(_STORE))
            await _settled(request, "success", ("error",), create)
            database = request.result
            try:
                transaction = database.transaction(_STORE, mode)
                asked = ask(transaction.objectStore(_STORE))
                await _settled(transaction, "complete", ("error", "abort"))
                return asked.result
            finally:
                database.close()
        except JsException as error:
            raise _error(error) from None


async def _settled(
    target: Any, good: str, bad: tuple[str, ...], also: tuple[str, Callable[[], Any]] | None = None
) -> None:
    """Wait until an event of a request or transaction says that it went well; raise `StorageError` where not."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def succeed(_: Any) -> None:
        if not ended.done():
            ended.set_result(None)

    def fail(_: Any) -> None:
        if not ended.done():
            ended.set_exception(_error(target.error))

    listeners = [(good, create_proxy(succeed)), *((kind, create_proxy(fail)) for kind in bad)]
    if also is not None:
        kind, act = also
        listeners.append((kind, create_proxy(lambda _: act())))
    for kind, listener in listeners:
        target.addEventListener(kind, listener)
    try:
        await ended
    finally:
        for kind, listener in listeners:
            target.removeEventListener(kind, listener)
            listener.destroy()


def _range(session_id: str) -> Any:
    """All keys `[session_id, text]`: an array sorts after every text."""
    return js.IDBKeyRange.bound(to_js([session_id]), to_js([session_id, []]))


def _error(reason: Any) -> StorageError:
    name = getattr(reason, "name", "")
    if name == "QuotaExceededError":
        return QuotaError(
            "The browser gives this page no more room: delete what is not needed any more, or free space on the device."
        )
    return StorageError(f"The browser refuses its storage: {getattr(reason, 'message', None) or reason}")
