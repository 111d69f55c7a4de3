"""Opens the place of sessions' values by its name: a folder, or the address of an SQL database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from mcpframe.frame.storage.values import Storage
from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.base.extras import need

if TYPE_CHECKING:
    from mcpframe.frame.storage.interfaces import Locks, Records

DATABASES = ("sqlite", "postgresql")


@dataclass(frozen=True)
class Values:
    """An open place of values, shared by all processes that open it.

    Attributes:
        records: The values.
        locks: Order the changes of one session's values in all of these processes.
    """

    records: Records
    locks: Locks

    def storage(self, session_id: str) -> Storage:
        """Return the storage of a session."""
        return Storage(session_id, None, self.records, self.locks)


def is_database(place: str) -> bool:
    """Return whether a place is the address of a database, not a folder."""
    return "://" in place or (":" in place and _kind(place) in DATABASES)


def _kind(place: str) -> str:
    return place.split(":", 1)[0].split("+", 1)[0]


def check_place(place: str) -> None:
    """Check a place without opening it.

    Raises:
        ConfigError: It is neither a folder nor the address of such a database.
        ExtraMissing: The packages for databases are not installed.
    """
    if not is_database(place):
        if Path(place).exists() and not Path(place).is_dir():
            raise ConfigError(f"{place} is a file: values are kept in a folder, SQLite (sqlite:///) or PostgreSQL.")
        return
    kind = _kind(place)
    if kind not in DATABASES:
        raise ConfigError(
            f"Values are kept in SQLite and PostgreSQL, not in {kind!r}: use sqlite:/// or postgresql://."
        )
    need("server", f"A database ({kind})")


@asynccontextmanager
async def open_values(place: str, server: str) -> AsyncIterator[Values]:
    """Open the values of a server for the duration of the block.

    Args:
        place: The absolute path of a folder, which is created; or SQLAlchemy's address of a database, such as
            `sqlite:////srv/values.db` or `postgresql://user:password@host/name`.
        server: The server's name. Servers of different names may share a place.

    Raises:
        ConfigError: The address is invalid, or the database does not answer.
    """
    if is_database(place):
        check_place(place)
        sql = import_module("mcpframe.kit.storage.sql")
        async with sql.opened(place, server) as database:
            yield Values(database, database)
    else:
        from mcpframe.kit.storage.folder import FolderValues

        folder = FolderValues(Path(place, server))
        yield Values(folder, folder)
