"""Values of sessions in an SQL database, by SQLAlchemy: SQLite for the processes of one machine, or PostgreSQL.

A change is one transaction, in which the session's lock is held: PostgreSQL's advisory lock, or SQLite's own write
lock. So a process that ends leaves neither half a change nor a lock, and a pool of connections in transaction mode
will do.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from mcpframe.frame.core.errors import QuotaError, StorageError
from mcpframe.frame.storage.values import CHANGE_TIMEOUT, LOCK_TIMEOUT
from mcpframe.kit.base.errors import ConfigError

if TYPE_CHECKING:
    from mcpframe.frame.storage.interfaces import Record

TABLE = "mcpframe_values"
_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+psycopg"}
_START_SECONDS = 10.0
_PAUSE = 0.01
_READS = {"mcpframe_reads": True}
_UNSTORABLE = re.compile("[%\0\ud800-\udfff]")
"""Characters that a text of PostgreSQL cannot hold, and the escape character."""
_FULL = ("53100", "53200")
"""PostgreSQL's codes of a full disk and of memory that is used up."""

_values = sa.Table(
    TABLE,
    sa.MetaData(),
    sa.Column("id", sa.String(64), primary_key=True),  # a hash: an index of PostgreSQL takes no long keys
    sa.Column("server", sa.Text, nullable=False),
    sa.Column("session", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("json", sa.Text),
    sa.Column("bytes", sa.LargeBinary),
    sa.Index(f"{TABLE}_session", "server", "session"),
)


@asynccontextmanager
async def opened(address: str, server: str) -> AsyncIterator[SqlValues]:
    """Open a server's values in a database for the duration of the block. The table is created if there is none.

    Raises:
        ConfigError: The address is invalid, or the database does not answer.
    """
    try:
        url = sa.make_url(address)
    except ArgumentError as error:
        raise ConfigError("The address of the database is not SQLAlchemy's form: see its documentation.") from error
    kind = url.get_backend_name()
    is_sqlite = kind == "sqlite"
    if is_sqlite and not (url.database and url.database != ":memory:"):
        raise ConfigError("SQLite has to be a file that processes share: sqlite:////folder/values.db")
    connecting = {"timeout": CHANGE_TIMEOUT} if is_sqlite else {"connect_timeout": int(_START_SECONDS)}
    engine = create_async_engine(url.set(drivername=_DRIVERS[kind]), pool_pre_ping=True, connect_args=connecting)
    if is_sqlite:
        _prepare_sqlite(engine)
    values = SqlValues(engine, server, is_sqlite=is_sqlite)
    try:
        if is_sqlite:
            await asyncio.to_thread(_make_file, Path(str(url.database)))
        async with asyncio.timeout(_START_SECONDS):
            await values.create_table()
    except (SQLAlchemyError, sqlite3.Error, StorageError, OSError) as error:  # TimeoutError is an OSError
        await engine.dispose()
        place = url.render_as_string(hide_password=True)
        raise ConfigError(f"The database {place} cannot be used: {_reason(error)}.") from error
    try:
        yield values
    finally:
        await engine.dispose()


def _make_file(file: Path) -> None:
    """Create a database whose readers do not wait for a change, unless it is there."""
    file.absolute().parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + _START_SECONDS
    with closing(sqlite3.connect(file, CHANGE_TIMEOUT)) as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")  # which the file keeps
                return
            except sqlite3.OperationalError as error:
                # Where several processes do this at once, SQLite refuses all but one without waiting.
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
            time.sleep(_PAUSE)


def _prepare_sqlite(engine: AsyncEngine) -> None:
    @sa.event.listens_for(engine.sync_engine, "connect")
    def connected(connection: Any, _: object) -> None:
        connection.isolation_level = None  # the driver begins no transactions of its own
        cursor = connection.cursor()
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()

    @sa.event.listens_for(engine.sync_engine, "begin")
    def begun(connection: sa.Connection) -> None:
        reads = connection.get_execution_options().get("mcpframe_reads")
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


class SqlValues:
    """`storage.interfaces.Records` and `Locks` in a table that several servers share."""

    def __init__(self, engine: AsyncEngine, server: str, *, is_sqlite: bool) -> None:
        self._engine = engine
        self._server = server
        self._is_sqlite = is_sqlite
        self._insert: Any = sqlite_insert if is_sqlite else postgresql_insert
        self._change: ContextVar[AsyncConnection | None] = ContextVar("mcpframe_change", default=None)

    async def create_table(self) -> None:
        """Create the table, unless it is there. Several processes may do this at once."""
        async with self.held("create"), self._connection() as connection:
            await connection.run_sync(_values.metadata.create_all)

    async def get(self, session_id: str, key: str) -> Record | None:
        """Return a record."""
        query = sa.select(_values.c.json, _values.c.bytes).where(_values.c.id == self._id(session_id, key))
        async with self._connection(reads=True) as connection:
            row = (await connection.execute(query)).one_or_none()
        if row is None:
            return None
        record: Record = row[0] if row[1] is None else bytes(row[1])
        return record

    async def set(self, session_id: str, key: str, record: Record) -> None:
        """Keep a record."""
        is_bytes = isinstance(record, bytes)
        value = {"json": None if is_bytes else record, "bytes": record if is_bytes else None}
        names = {"server": _stored(self._server), "session": _stored(session_id), "key": _stored(key)}
        adding = self._insert(_values).values(id=self._id(session_id, key), **names, **value)
        async with self._connection() as connection:
            await connection.execute(adding.on_conflict_do_update(index_elements=["id"], set_=value))

    async def delete(self, session_id: str, key: str) -> None:
        """Forget a record."""
        async with self._connection() as connection:
            await connection.execute(sa.delete(_values).where(_values.c.id == self._id(session_id, key)))

    async def keys(self, session_id: str) -> list[str]:
        """Return the keys of a session."""
        async with self._connection(reads=True) as connection:
            rows = await connection.execute(sa.select(_values.c.key).where(*self._of(session_id)))
            return [_restored(key) for (key,) in rows]

    async def clear(self, session_id: str) -> None:
        """Forget the records of a session."""
        async with self._connection() as connection:
            await connection.execute(sa.delete(_values).where(*self._of(session_id)))

    @asynccontextmanager
    async def held(self, name: str) -> AsyncIterator[None]:
        """Hold a lock, in a transaction that the block's changes are part of. Raises `StorageError`, also if late."""
        async with self._connection() as connection:
            if not self._is_sqlite:
                milliseconds = int(LOCK_TIMEOUT * 1000)
                await connection.execute(sa.text(f"SET LOCAL lock_timeout = {milliseconds}"))
                number = int.from_bytes(_digest(self._server, name)[:8], signed=True)
                await connection.execute(sa.text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})
            token = self._change.set(connection)
            try:
                yield
            finally:
                self._change.reset(token)

    @asynccontextmanager
    async def _connection(self, *, reads: bool = False) -> AsyncIterator[AsyncConnection]:
        """Return the connection of the change that this code is part of, or one in a transaction of its own."""
        try:
            if change := self._change.get():
                yield change
                return
            engine = self._engine.execution_options(**_READS) if reads else self._engine
            async with engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            code = getattr(getattr(error, "orig", None), "sqlstate", None)
            kind = QuotaError if code in _FULL or "database or disk is full" in str(error) else StorageError
            raise kind(f"The database has not stored or found the values: {_reason(error)}.") from error

    def _id(self, session_id: str, key: str) -> str:
        return _digest(self._server, session_id, key).hex()

    def _of(self, session_id: str) -> tuple[Any, Any]:
        return _values.c.server == _stored(self._server), _values.c.session == _stored(session_id)


def _digest(*texts: str) -> bytes:
    """Return the SHA-256 of several texts, none of which can pass for a part of another."""
    hashed = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        hashed.update(len(data).to_bytes(8) + data)
    return hashed.digest()


def _stored(text: str) -> str:
    return _UNSTORABLE.sub(lambda found: f"%{ord(found[0]):04X}", text)


def _restored(text: str) -> str:
    return re.sub("%([0-9A-F]{4})", lambda found: chr(int(found[1], 16)), text)


def _reason(error: BaseException) -> str:
    """Return the database's own words in one line, without the statement and its values."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    words = str(cause).strip().splitlines()
    return words[0].rstrip(".") if words else f"no answer ({type(cause).__name__})"
