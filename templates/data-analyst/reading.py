"""Files become tables: CSV and TSV, the sheets of an Excel file, the tables of a SQLite file."""

import io
import re
import sqlite3
import zipfile
from contextlib import closing
from pathlib import PurePath

import pandas as pd

MOST_BYTES = 100_000_000
SEPARATORS = ",;\t|"
_SQLITE = b"SQLite format 3\0"
_EXCEL = b"PK\x03\x04"


class FileError(Exception):
    """A file has no table that can be read. The text is for the user."""


def tables_of(name: str, data: bytes) -> dict[str, pd.DataFrame]:
    """Return the tables in a file, by names that are variables in expressions.

    Args:
        name: The file's name.
        data: Its content.

    Raises:
        FileError: It is too large or damaged, or contains no table.
    """
    if len(data) > MOST_BYTES:
        raise FileError(f"{name} has {len(data):,} bytes; files of at most {MOST_BYTES:,} can be read.")
    try:
        found = _read(PurePath(name), data)
    except (ValueError, KeyError, sqlite3.Error, zipfile.BadZipFile, pd.errors.ParserError, UnicodeError) as error:
        raise FileError(f"{name} cannot be read: {error}") from error
    if not found:
        raise FileError(f"{name} has no table.")
    return {variable(title): table for title, table in found.items()}


def variable(title: str) -> str:
    """Return the name of a table in expressions."""
    name = re.sub(r"\W+", "_", title).strip("_").lower() or "table"
    return f"t_{name}" if name[0].isdigit() else name


def _read(path: PurePath, data: bytes) -> dict[str, pd.DataFrame]:
    if data.startswith(_SQLITE):
        return _of_sqlite(data)
    if data.startswith(_EXCEL):
        sheets = pd.read_excel(io.BytesIO(data), sheet_name=None, engine="openpyxl")
        filled = {title: sheet for title, sheet in sheets.items() if len(sheet.columns)}
        return dict(zip([path.stem], filled.values(), strict=True)) if len(filled) == 1 else filled
    first_line = data.partition(b"\n")[0]
    separator = max(SEPARATORS, key=lambda each: first_line.count(each.encode()))
    return {path.stem: pd.read_csv(io.BytesIO(data), sep=separator)}


def _of_sqlite(data: bytes) -> dict[str, pd.DataFrame]:
    with closing(sqlite3.connect(":memory:")) as database:
        # In memory there is no write-ahead log: bytes 18 and 19 say which kind of journal a file needs.
        database.deserialize(data[:18] + b"\1\1" + data[20:])
        names = database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
        )
        return {name: _table(database, name) for (name,) in names.fetchall()}


def _table(database: sqlite3.Connection, name: str) -> pd.DataFrame:
    quoted = '"' + name.replace('"', '""') + '"'
    cursor = database.execute(f"SELECT * FROM {quoted}")  # noqa: S608 quoted
    return pd.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description])
