"""The databases of a session in one SQLite connection: reading, writing if that is allowed, and their images.

Text files become tables of the database `main`. A SQLite file is a database of its own, named after the file. Both are
in memory; an image is the content of a database file.
"""

import re
import sqlite3
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from reading import SQLITE_MAGIC, FileError, identifier, quoted, tables_of, write_table
from stored import Stored

MAIN = "main"
MAX_DATABASES = 10  # SQLite's own limit for attached ones
QUERY_SECONDS = 20.0
MAX_STORED_ROWS = 1_000_000
MAX_TEMPORARY_BYTES = 512 * 1024 * 1024  # what a session keeps, and once more for the result that is being stored
EARLIER = "result"
"""The name of an earlier result in statements."""

_STORED = "stored_"
_OWN_TABLE = re.compile(rf"{_STORED}\d+", re.IGNORECASE)
"""The tables in the schema `temp` that statements cannot create or change."""
_STEPS_BETWEEN_LOOKS = 20_000
# PRAGMAs that only return information.
_TELLING = frozenset(
    [
        "collation_list",
        "compile_options",
        "database_list",
        "encoding",
        "foreign_key_check",
        "foreign_key_list",
        "function_list",
        "index_info",
        "index_list",
        "index_xinfo",
        "integrity_check",
        "module_list",
        "page_count",
        "page_size",
        "pragma_list",
        "quick_check",
        "table_info",
        "table_list",
        "table_xinfo",
    ]
)
_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})

_CREATING = frozenset({sqlite3.SQLITE_CREATE_TEMP_TABLE, sqlite3.SQLITE_CREATE_TEMP_VIEW})

# SQLite asks for this on the first use of a table-valued function such as json_each; a statement cannot do it.
_SCHEMA = frozenset({"sqlite_master", "sqlite_schema"})


class QueryError(ToolError):
    """SQLite rejects a statement, or it is not allowed."""


@dataclass(frozen=True)
class Result:
    """The result of a statement.

    Attributes:
        columns: The names of its columns.
        rows: The rows, at most as many as requested.
        more: Whether there are more rows.
        stored: All rows of a query that only reads, at most `MAX_STORED_ROWS`; None otherwise.
        cut: Whether there are more rows than were stored.
        changed: How many rows it changed; None if it only reads.
        seconds: How long it took.
    """

    columns: list[str]
    rows: list[tuple[Any, ...]]
    more: bool
    changed: int | None
    seconds: float
    stored: Stored | None = None
    cut: bool = False


class Workspace:
    """The databases of a session."""

    def __init__(self, *, writable: bool = False) -> None:
        """Start with an empty database.

        Args:
            writable: Whether statements may change the data.
        """
        self.writable = writable
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._deadline = 0.0
        self._refused = ""
        self._may_write = False
        self._wrote = False
        self._stored = 0
        self._unused: list[str] = []
        self._database.execute("PRAGMA temp_store = MEMORY")
        [[size]] = self._inside("PRAGMA temp.page_size")
        self._database.execute(f"PRAGMA temp.max_page_count = {MAX_TEMPORARY_BYTES // size}")
        self._database.set_progress_handler(self._is_late, _STEPS_BETWEEN_LOOKS)

    def close(self) -> None:
        """Close everything."""
        self._database.close()

    def databases(self) -> list[str]:
        """The names of the databases, `main` first."""
        return [row[1] for row in self._inside("PRAGMA database_list") if row[1] != "temp"]

    def add(self, name: str, data: bytes) -> list[str]:
        """Add a file.

        Args:
            name: The file's name.
            data: Its content: SQLite, CSV, TSV, JSON or JSON Lines.

        Returns:
            The new tables, prefixed by their database if that is not `main`.

        Raises:
            FileError: It has another format, or contains no table.
        """
        if not data.startswith(SQLITE_MAGIC):
            return [write_table(self._database, table) for table in tables_of(name, data) if table.rows]
        database = self._free_database(identifier(name.rpartition(".")[0] or name))
        self._attach(database, data, name)
        return [f"{database}.{table}" for table in self._tables(database)]

    def restore(self, images: Mapping[str, bytes]) -> None:
        """Load the images of a workspace, instead of the present content.

        Raises:
            FileError: An image is damaged.
        """
        for database, image in images.items():
            self._attach(database, image, database)

    def images(self) -> dict[str, bytes]:
        """Return every database that has tables, as the content of a SQLite file."""
        return {name: self.image(name) for name in self.databases() if self._tables(name)}

    def image(self, database: str) -> bytes:
        """Return one database as the content of a SQLite file.

        Raises:
            QueryError: There is no such database.
        """
        if database not in self.databases():
            raise QueryError(f"There is no database {database!r}; there are: {', '.join(self.databases())}.")
        return self._database.serialize(name=database)

    def run(
        self, sql: str, limit: int, *, earlier: Stored | None = None, store: bool = False, read_only: bool = False
    ) -> Result:
        """Execute one statement.

        Args:
            sql: The statement.
            limit: How many rows to return.
            earlier: An earlier result, which the statement can read as the table `result`.
            store: Whether to store all rows of a query.
            read_only: Refuse to change data even where that is allowed.

        Raises:
            QueryError: SQLite rejects it, it takes too long, or it would write and that is not allowed; or the earlier
                result is of files that were chosen before.
        """
        self._drop_unused()
        start = time.monotonic()
        if earlier is not None:
            self._show_earlier(earlier)
        self._deadline = start + QUERY_SECONDS
        self._refused, self._wrote, self._may_write = "", False, self.writable and not read_only
        before = self._database.total_changes
        self._database.execute(f"PRAGMA query_only = {int(not self._may_write)}")
        self._database.set_authorizer(self._allow)
        stored, cut = None, False
        try:
            cursor = self._database.execute(sql)
            columns = [column[0] for column in cursor.description or ()]
            if store and columns and not self._wrote:
                self._database.set_authorizer(None)
                self._database.execute("PRAGMA query_only = 0")
                stored = self._store(columns, cursor)  # first: as objects of Python, rows have no limit in bytes
                cut = cursor.fetchone() is not None
                rows = stored[: limit + 1]
            else:
                rows = cursor.fetchmany(limit + 1)
            cursor.close()
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            self._database.rollback()
            raise QueryError(self._explain(error)) from None
        finally:
            self._database.set_authorizer(None)
            self._database.execute("PRAGMA query_only = 0")
            self._deadline = 0.0
            if earlier is not None:
                self._database.execute(f"DROP VIEW IF EXISTS temp.{EARLIER}")
        self._database.commit()
        changed = self._database.total_changes - before if self._wrote else None
        return Result(columns, rows[:limit], len(rows) > limit, changed, time.monotonic() - start, stored, cut)

    def _show_earlier(self, earlier: Stored) -> None:
        """Let statements read an earlier result under its name, until the view is dropped."""
        if earlier.database is not self._database:
            raise QueryError("This result is of files that were chosen before: run its query again.")
        try:
            self._database.execute(f"CREATE TEMP VIEW {EARLIER} AS {earlier.named(quoted)}")
        except sqlite3.Error as error:  # a table was renamed to that
            raise QueryError(f"SQLite: {error}. Rename temp.{EARLIER}: that is the name of earlier results.") from None

    def _store(self, columns: list[str], rows: Iterable[tuple[Any, ...]]) -> Stored:
        self._stored += 1
        place, count = f"temp.{_STORED}{self._stored}", len(columns)
        begun = self._temporary_bytes()
        self._database.execute(f"CREATE TABLE {place} ({', '.join(f'c{number}' for number in range(count))})")
        insert = f"INSERT INTO {place} VALUES ({', '.join('?' * count)})"  # noqa: S608 our name
        try:
            stored = self._database.executemany(insert, islice(rows, MAX_STORED_ROWS)).rowcount
        except sqlite3.Error:
            self._unused.append(place)  # the table itself is there already
            raise
        size = max(stored, 0), self._temporary_bytes() - begun
        return Stored(self._database, place, columns, size, self._unused.append)

    def _drop_unused(self) -> None:
        while self._unused:
            self._database.execute(f"DROP TABLE IF EXISTS {self._unused.pop()}")

    def _temporary_bytes(self) -> int:
        [[pages], [free], [size]] = [
            self._inside(f"PRAGMA temp.{name}")[0] for name in ("page_count", "freelist_count", "page_size")
        ]
        return (pages - free) * size

    def tables(self) -> list[tuple[str, str, str]]:
        """Return every table and view: its database, its name, and which of the two it is."""
        return [(name, table, kind) for name in self.databases() for table, kind in self._tables(name).items()]

    def describe(self, database: str, table: str) -> dict[str, Any]:
        """Return the columns, keys and number of rows of a table or view."""
        place = f"{quoted(database)}.{quoted(table)}"
        self._deadline = time.monotonic() + QUERY_SECONDS
        try:
            columns = self._inside(f"PRAGMA {quoted(database)}.table_xinfo({quoted(table)})")
            keys = self._inside(f"PRAGMA {quoted(database)}.foreign_key_list({quoted(table)})")
            ((count,),) = self._inside(f"SELECT count(*) FROM {place}")  # noqa: S608 quoted above
        except sqlite3.Error as error:
            raise QueryError(self._explain(error)) from None
        finally:
            self._deadline = 0.0
        return {
            "rows": count,
            "columns": [
                {"name": name, "type": kind, "required": bool(required), "key": bool(key)}
                for _, name, kind, required, _, key, _ in columns
            ],
            "references": [{"column": row[3], "table": row[2], "to": row[4]} for row in keys],
        }

    def _tables(self, database: str) -> dict[str, str]:
        rows = self._inside(
            f"SELECT name, type FROM {quoted(database)}.sqlite_schema "  # noqa: S608 quoted
            "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        )
        return dict(rows)

    def _inside(self, sql: str) -> list[Any]:
        return self._database.execute(sql).fetchall()

    def _free_database(self, wanted: str) -> str:
        there = self.databases()
        if len(there) > MAX_DATABASES:
            raise FileError(f"SQLite opens at most {MAX_DATABASES} database files at a time.")
        name, number = wanted, 1
        while name in (*there, "temp"):
            number += 1
            name = f"{wanted}_{number}"
        return name

    def _attach(self, database: str, image: bytes, shown: str) -> None:
        if database != MAIN:
            self._database.execute(f"ATTACH ':memory:' AS {quoted(database)}")
        # In memory there is no write-ahead log: bytes 18 and 19 say which kind of journal a file needs.
        plain = image[:18] + b"\1\1" + image[20:] if image[18:20] == b"\2\2" else image
        try:
            self._database.deserialize(plain, name=database)
            self._tables(database)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if database != MAIN:
                self._database.execute(f"DETACH {quoted(database)}")
            raise FileError(f"{shown} is a damaged or encrypted SQLite file ({error}).") from None

    def _allow(self, action: int, first: str | None, second: str | None, database: str | None, _: str | None) -> int:
        if action == sqlite3.SQLITE_ALTER_TABLE:  # it names the database first
            database, first = first, second
        if action in _READING or (action == sqlite3.SQLITE_UPDATE and first in _SCHEMA):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_PRAGMA:
            if first in _TELLING:
                return sqlite3.SQLITE_OK
            self._refused = f"PRAGMA {first} is not allowed here."
        elif action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH):
            # VACUUM attaches a temporary file.
            self._refused = "ATTACH, DETACH and VACUUM are not allowed here."
        elif database == "temp" and _OWN_TABLE.fullmatch(first or ""):
            self._refused = "Kept results cannot be changed."
        elif action in _CREATING and (first or "").lower() == EARLIER:
            self._refused = f"temp.{EARLIER} is the name of an earlier result: use another one."
        elif self._may_write:
            self._wrote = True
            return sqlite3.SQLITE_OK
        else:
            allow = "use query" if self.writable else "the user can allow changes in this server's setup"
            self._refused = f"The data is read-only here: {allow}."
        return sqlite3.SQLITE_DENY

    def _is_late(self) -> int:
        return int(bool(self._deadline) and time.monotonic() > self._deadline)

    def _explain(self, error: Exception) -> str:
        if self._refused:
            return self._refused
        if "interrupted" in str(error):
            return f"The query took more than {QUERY_SECONDS:.0f} seconds and was stopped: narrow it or add an index."
        if "is full" in str(error):
            kept = MAX_TEMPORARY_BYTES // 1024**2
            return f"The result, with what is kept, takes more than {kept} MiB: select fewer columns or rows."
        if "one statement" in str(error):
            return "Only one statement can be executed at a time."
        message = f"SQLite: {error}."
        if "no such table" in message:
            there = [table if database == MAIN else f"{database}.{table}" for database, table, _ in self.tables()]
            message += f" There are: {', '.join(there) or 'none'}."
        return message
