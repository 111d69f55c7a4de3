"""Files become tables: CSV and other texts, the sheets of an Excel file, the tables and views of a SQLite file."""

import asyncio
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import PurePath
from typing import NamedTuple

import anyio.to_process
import pandas as pd

from text_files import read
from workbooks import read_workbook

MOST_BYTES = 100_000_000
PIECE = 20_000  # rows
_SQLITE = b"SQLite format 3\0"
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # of a zip, and of the format before 2007
_KINDS = {
    **dict.fromkeys((".db", ".sqlite", ".sqlite3"), (_SQLITE,)),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), _WORKBOOKS),
}
"""How files begin whose name says what they are."""

Progress = Callable[[float], None]
"""Called with the share of a file that is read."""


class FileError(Exception):
    """A file has no table that can be read. The text is for the user."""


class Found(NamedTuple):
    """What a file has.

    Attributes:
        tables: Its tables, by names that are variables in expressions.
        remarks: What was guessed, and what is left out: a sentence, or an empty text.
    """

    tables: dict[str, pd.DataFrame]
    remarks: str


async def tables_of(name: str, data: bytes, progress: Progress = lambda _: None) -> Found:
    """Return the tables in a file.

    Args:
        name: The file's name.
        data: Its content.
        progress: See `Progress`.

    Raises:
        FileError: It is too large or damaged, or contains no table.
    """
    if len(data) > MOST_BYTES:
        raise FileError(f"{name} has {len(data):,} bytes; files of at most {MOST_BYTES:,} can be read.")
    path, remarks = PurePath(name), []
    beginnings = _KINDS.get(path.suffix.lower())
    if beginnings and not data.startswith(beginnings):
        raise FileError(f"{name} cannot be read: it does not begin as a file of the kind {path.suffix} does.")
    try:
        if data.startswith(_SQLITE):
            found = await _of_sqlite(data, remarks, progress)
        elif data.startswith(_WORKBOOKS):
            found = await anyio.to_process.run_sync(read_workbook, data, cancellable=True)
            found = dict(zip([path.stem], found.values(), strict=True)) if len(found) == 1 else found
        else:
            text = read(data)
            for share in text.pieces():
                progress(share)
                await asyncio.sleep(0)  # the page draws, and answers other calls
            found, remarks = {path.stem: text.table}, text.remarks
    except (ValueError, sqlite3.Error) as error:
        raise FileError(f"{name} cannot be read: {str(error).rstrip('.')}.") from error
    if not found:
        raise FileError(f"{name} has no table.")
    told = f"{name}: {', '.join(remarks)}." if remarks else ""
    return Found({variable(title): table for title, table in found.items()}, told)


def variable(title: str) -> str:
    """Return the name of a table in expressions."""
    name = re.sub(r"\W+", "_", title).strip("_").lower() or "table"
    return f"t_{name}" if name[0].isdigit() else name


async def _of_sqlite(data: bytes, remarks: list[str], progress: Progress) -> dict[str, pd.DataFrame]:
    with closing(sqlite3.connect(":memory:")) as database:
        # In memory there is no write-ahead log: bytes 18 and 19 say which kind of journal a file needs.
        database.deserialize(data[:18] + b"\1\1" + data[20:])
        listed = database.execute(
            "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' "
            "ESCAPE '~' ORDER BY type"
        ).fetchall()
        found = {}
        for done, (name, kind) in enumerate(listed):
            progress(done / len(listed))
            try:
                found[name] = await _table(database, name)
            except sqlite3.Error as error:
                if kind == "table":
                    raise
                remarks.append(f"the view {name} is left out ({error})")
        return found


async def _table(database: sqlite3.Connection, name: str) -> pd.DataFrame:
    quoted = '"' + name.replace('"', '""') + '"'
    cursor = database.execute(f"SELECT * FROM {quoted}")  # noqa: S608 quoted
    rows: list[tuple] = []
    while piece := cursor.fetchmany(PIECE):
        rows += piece
        await asyncio.sleep(0)
    return pd.DataFrame(rows, columns=[column[0] for column in cursor.description])
