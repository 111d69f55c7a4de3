"""The interfaces of `storage` in a real browser: localStorage, IndexedDB and the Web Locks API.

A database connection lives for one call, so that an open page never blocks a newer one from upgrading the format.
Opening the database goes on when its caller gives up: the browser would finish it anyway, and without its listeners it
would make the database without its store, for all pages of the origin. A database without its store is replaced.

A lock is released when its page is closed. If Python has ended or hangs in an open page, a timer of the browser, which
needs no Python, releases the lock after its lease.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import anyio
import js
from pyodide.ffi import JsException, create_proxy, to_js

from mcpframe.frame.core.errors import QuotaError, StorageError
from mcpframe.frame.storage.values import FORMAT, LOCK_LEASE, LOCK_TIMEOUT

if TYPE_CHECKING:
    from mcpframe.frame.storage.interfaces import Record

_DATABASE = "mcpframe"
_STORE = "values"
_REPLACING = f"{_DATABASE}:{FORMAT}"
"""The lock under which the database is replaced. No session has it: their locks end with a colon and an id."""


def local_storage() -> LocalStorage | None:
    """Return this page's localStorage; None if it has none."""
    try:
        storage = js.localStorage
    except JsException:  # an opaque origin, or storage is blocked
        return None
    except AttributeError:  # a worker
        return None
    return LocalStorage(storage) if hasattr(storage, "getItem") else None  # null where the user has switched it off


class LocalStorage:
    """`storage.interfaces.Texts` in localStorage."""

    def __init__(self, storage: Any) -> None:
        """Use this `Storage` of the browser."""
        self._storage = storage

    def get(self, key: str) -> str | None:
        """Return a text. Raises `StorageError` if the browser refuses."""
        try:
            text: str | None = self._storage.getItem(key)
        except JsException as error:
            raise _error(error) from None
        return text if isinstance(text, str) else None

    def delete(self, key: str) -> None:
        """Forget a text. Raises `StorageError` if the browser refuses."""
        try:
            self._storage.removeItem(key)
        except JsException as error:
            raise _error(error) from None

    def names(self) -> list[str]:
        """Return all keys of this origin, of all sessions and of other programs."""
        keys = [self._storage.key(number) for number in range(self._storage.length)]
        return [name for name in keys if isinstance(name, str)]  # another page may have deleted a key meanwhile


class Database:
    """`storage.interfaces.Records` in IndexedDB."""

    async def get(self, session_id: str, key: str) -> Record | None:
        """Return a record."""
        record = await self._run("readonly", lambda store: store.get(to_js([session_id, key])))
        if record is None or isinstance(record, str):
            return record
        if not hasattr(record, "to_bytes"):
            return None  # undefined
        data: bytes = record.to_bytes()
        return data

    async def set(self, session_id: str, key: str, record: Record) -> None:
        """Keep a record."""
        value = record if isinstance(record, str) else to_js(record)
        await self._run("readwrite", lambda store: store.put(value, to_js([session_id, key])))

    async def delete(self, session_id: str, key: str) -> None:
        """Forget a record."""
        await self._run("readwrite", lambda store: store.delete(to_js([session_id, key])))

    async def keys(self, session_id: str) -> list[str]:
        """Return the keys of a session."""
        pairs = await self._run("readonly", lambda store: store.getAllKeys(_range(session_id)))
        return [str(key) for _, key in pairs.to_py()]

    async def clear(self, session_id: str) -> None:
        """Forget the records of a session."""
        await self._run("readwrite", lambda store: store.delete(_range(session_id)))

    async def _run(self, mode: str, ask: Callable[[Any], Any]) -> Any:
        """Make one request in a transaction of its own, and return its result once the transaction has completed."""
        try:
            database = await _opened()
            try:
                transaction = database.transaction(_STORE, mode)
                asked = ask(transaction.objectStore(_STORE))
                try:
                    await _settled(transaction, "complete", ("error", "abort"))
                except asyncio.CancelledError:
                    _abort(transaction)
                    raise
                return asked.result
            finally:
                database.close()
        except JsException as error:
            raise _error(error) from None


async def _opened() -> Any:
    """Return a connection to the database with its store."""
    opening = asyncio.ensure_future(_open())
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close_unused)
        raise


def _close_unused(opening: asyncio.Future[Any]) -> None:
    if not opening.cancelled() and not opening.exception():
        opening.result().close()


async def _open() -> Any:
    database = await _connected()
    if _has_store(database):
        return database
    database.close()
    locks = page_locks()
    async with locks.held(_REPLACING) if locks else nullcontext():  # another page's new database is not deleted
        database = await _connected()
        if _has_store(database):
            return database
        database.close()
        js.indexedDB.deleteDatabase(_DATABASE)  # before the next request is handled
        return await _connected()


async def _connected() -> Any:
    request = js.indexedDB.open(_DATABASE, FORMAT)
    create = ("upgradeneeded", lambda: request.result.createObjectStore(_STORE))
    await _settled(request, "success", ("error",), create)
    return request.result


def _has_store(database: Any) -> bool:
    return bool(database.objectStoreNames.contains(_STORE))


def page_locks() -> PageLocks | None:
    """Return the locks of this page's origin; None if the browser has none, as in insecure contexts."""
    manager = getattr(js.navigator, "locks", None)
    return PageLocks(manager) if hasattr(manager, "request") else None


class PageLocks:
    """`storage.interfaces.Locks`: the browser's (Web Locks API).

    Args:
        manager: The browser's `LockManager`.
        wait: the most seconds to wait for a lock.
        lease: the most seconds that a lock is held.
    """

    def __init__(self, manager: Any, *, wait: float = LOCK_TIMEOUT, lease: float = LOCK_LEASE) -> None:
        self._manager = manager
        self._wait = wait
        self._lease = lease

    @asynccontextmanager
    async def held(self, name: str) -> AsyncIterator[None]:
        """Hold a lock. Raises `StorageError` if it cannot be acquired in time, or the browser refuses."""
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        let_go: list[Any] = []
        executor = create_proxy(lambda resolve, _: let_go.append(resolve))
        until = js.Promise.new(executor)  # the lock is held until this is resolved
        executor.destroy()
        [release] = let_go
        timer: list[Any] = []

        def hold(_: Any) -> Any:
            if granted.done():
                return None  # the wait has timed out
            timer.append(js.setTimeout(release, self._lease * 1000))
            granted.set_result(None)
            return until

        def refuse(reason: Any) -> None:
            if not granted.done():
                granted.set_exception(_error(reason))

        callback = create_proxy(hold)
        giving_up = js.AbortController.new()
        options = to_js({"signal": giving_up.signal}, dict_converter=js.Object.fromEntries)
        # the request's own promise settles when the lock has been released, or was never acquired
        self._manager.request(name, options, callback).then(None, refuse).finally_(callback.destroy)
        try:
            with anyio.move_on_after(self._wait) as scope:
                await granted
            if scope.cancelled_caught:
                raise StorageError(
                    f"Another page of this session has been changing its values for {self._wait:g} seconds: "
                    "close it, or try again."
                )
            yield
        finally:
            giving_up.abort()
            release()
            for number in timer:
                js.clearTimeout(number)


async def _settled(
    target: Any, good: str, bad: tuple[str, ...], also: tuple[str, Callable[[], Any]] | None = None
) -> None:
    """Wait for a request or transaction to succeed. Raises `StorageError` if it fails."""
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


def _abort(transaction: Any) -> None:
    try:
        transaction.abort()
    except JsException:
        return  # already over


def _range(session_id: str) -> Any:
    """Return the range of all keys `[session_id, text]`: an array sorts after every text."""
    return js.IDBKeyRange.bound(to_js([session_id]), to_js([session_id, []]))


def _error(reason: Any) -> StorageError:
    name = getattr(reason, "name", "")
    if name == "QuotaExceededError":
        return QuotaError(
            "The browser gives this page no more room: delete what is not needed any more, or free space on the device."
        )
    return StorageError(f"The browser refuses its storage: {getattr(reason, 'message', None) or reason}")
