"""A query's rows in a table of SQLite of their own: other statements read them, and no row is an object of Python."""

import sqlite3
import weakref
from collections.abc import Callable, Sequence
from typing import Any


class Stored(Sequence[Any]):
    """The rows of a query. The table goes when nobody has this any more.

    Attributes:
        columns: The names of its columns.
        nbytes: How many bytes its table has.
        place: The table's name in SQL.
        database: The connection that has it.
    """

    def __init__(
        self,
        database: sqlite3.Connection,
        place: str,
        columns: Sequence[str],
        size: tuple[int, int],
        gone: Callable[[str], None],
    ) -> None:
        """Describe a table that is there.

        Args:
            database: The connection that has it.
            place: Its name in SQL.
            columns: The names of the query's columns.
            size: The number of its rows and its bytes.
            gone: Called with `place` when nobody has this any more.
        """
        self.columns, self.place = list(columns), place
        self._count, self.nbytes = size
        self.database = database
        weakref.finalize(self, gone, place)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            start, stop, step = at.indices(self._count)
            assert step == 1
            sql = f"SELECT * FROM {self.place} WHERE rowid > ? AND rowid <= ? ORDER BY rowid"  # noqa: S608 our name
            return self.database.execute(sql, (start, stop)).fetchall()
        number = range(self._count)[at]
        return self[number : number + 1][0]

    def named(self, quoted: Callable[[str], str]) -> str:
        """Return the query that reads it under the names of its columns."""
        names = ", ".join(f"c{number} AS {quoted(name)}" for number, name in enumerate(self.columns))
        return f"SELECT {names} FROM {self.place}"  # noqa: S608 quoted
