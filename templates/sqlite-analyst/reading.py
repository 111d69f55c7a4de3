"""Reads tables from CSV, TSV, JSON and JSON Lines into a SQLite database."""

import csv
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

SQLITE_MAGIC = b"SQLite format 3\0"

_DELIMITERS = ",;\t|"
_SAMPLE = 64 * 1024
_INTEGER = re.compile(r"[+-]?(0|[1-9]\d{0,17})\Z", re.ASCII)  # fits into 64 bits; not 007, which is a name
_REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
_LEADING_ZERO = re.compile(r"[+-]?0\d", re.ASCII)
_MAX_INTEGER = 2**63


class FileError(ValueError):
    """A file contains no tables."""


@dataclass(frozen=True)
class Table:
    """The rows of a new table.

    Attributes:
        name: A name for it.
        columns: The names of its columns, all different.
        types: Their SQLite types.
        rows: The rows, each as long as `columns`.
    """

    name: str
    columns: list[str]
    types: list[str]
    rows: list[list[Any]]


def tables_of(name: str, data: bytes) -> list[Table]:
    """Read a text file.

    Args:
        name: The file's name; its ending says whether it is JSON.
        data: Its content.

    Raises:
        FileError: It contains no rows, or its content does not match its ending.
    """
    stem, _, ending = name.rpartition(".")
    text = _text(name, data)
    if ending.lower() in ("json", "jsonl", "ndjson", "geojson"):
        tables = list(_json_tables(stem, name, text))
    else:
        tables = [_csv_table(stem or name, text)]
    if not any(table.rows for table in tables):
        raise FileError(f"{name} has no rows.")
    return tables


def write_table(database: sqlite3.Connection, table: Table) -> str:
    """Create a table under an unused name, and return that name."""
    taken = {row[0].lower() for row in database.execute("SELECT name FROM main.sqlite_schema")}
    wanted = identifier(table.name)
    name = _free(wanted, taken)
    columns = ", ".join(f"{quoted(column)} {kind}" for column, kind in zip(table.columns, table.types, strict=True))
    database.execute(f"CREATE TABLE main.{quoted(name)} ({columns})")
    marks = ", ".join("?" * len(table.columns))
    database.executemany(f"INSERT INTO main.{quoted(name)} VALUES ({marks})", table.rows)  # noqa: S608 quoted above
    database.commit()
    return name


def quoted(name: str) -> str:
    """Return a name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def identifier(name: str) -> str:
    """Return a similar name that needs no quotes in SQL."""
    made = re.sub(r"\W+", "_", name).strip("_").lower()
    return f"t_{made}" if not made or made[0].isdigit() or made.startswith("sqlite_") else made


def _text(name: str, data: bytes) -> str:
    is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    # spreadsheets in Western Europe write the last one
    for encoding in ["utf-16"] if is_wide else ["utf-8-sig", "cp1252"]:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise FileError(f"{name} is neither a SQLite database nor text.")


def _csv_table(name: str, text: str) -> Table:
    sample = text[:_SAMPLE]
    try:
        dialect: Any = csv.Sniffer().sniff(sample, _DELIMITERS)
    except csv.Error:
        dialect = csv.excel  # usually a single column
    try:
        rows = [row for row in csv.reader(text.splitlines(keepends=True), dialect) if row]
    except csv.Error as error:
        raise FileError(f"{name} cannot be read as CSV: {error}.") from None
    if not rows:
        return Table(name, [], [], [])
    header = not any(_INTEGER.match(cell) or _REAL.match(cell) for cell in rows[0])
    body = rows[1:] if header else rows
    width = max(map(len, rows))
    titles = rows[0] if header else []
    columns = _columns([*titles, *[""] * (width - len(titles))])
    kinds = [_kind(row[at] for row in body if at < len(row)) for at in range(width)]
    filled = [[_cell(row[at], kinds[at]) if at < len(row) else None for at in range(width)] for row in body]
    return Table(name, columns, kinds, filled)


def _kind(cells: Iterable[str]) -> str:
    found = ""
    for cell in cells:
        cell = cell.strip()
        if not cell:
            continue
        if _INTEGER.match(cell):
            found = found or "INTEGER"
        elif _REAL.match(cell) and not _LEADING_ZERO.match(cell):
            found = "REAL"
        else:
            return "TEXT"
    return found or "TEXT"


def _cell(cell: str, kind: str) -> str | int | float | None:
    if not cell.strip():
        return None
    return cell if kind == "TEXT" else (int(cell) if kind == "INTEGER" else float(cell))


def _json_tables(stem: str, name: str, text: str) -> Iterator[Table]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        try:
            value = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError:
            where = f"line {error.lineno}, column {error.colno}"
            raise FileError(f"{name} is not JSON: {where}: {error.msg}.") from None
    except RecursionError:
        raise FileError(f"{name} is nested too deeply to be read.") from None
    if isinstance(value, dict):
        lists = {key: inner for key, inner in value.items() if isinstance(inner, list) and inner}
        if lists:  # an object of tables, as in exports of whole databases
            for key, inner in lists.items():
                yield _records(key, inner)
            return
        value = [value]
    yield _records(stem or name, value if isinstance(value, list) else [value])


def _records(name: str, records: list[Any]) -> Table:
    titles: dict[str, None] = {}
    for record in records:
        titles.update(dict.fromkeys(record if isinstance(record, dict) else ["value"]))
    keys = list(titles)
    rows = []
    for record in records:
        fields = record if isinstance(record, dict) else {"value": record}
        rows.append([_json_cell(fields.get(key)) for key in keys])
    kinds = []
    for at in range(len(keys)):
        types = {type(row[at]) for row in rows} - {type(None)}
        kinds.append("INTEGER" if types == {int} else "REAL" if types and types <= {int, float} else "TEXT")
    return Table(name, _columns(keys), kinds, rows)


def _json_cell(value: Any) -> str | int | float | None:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)  # SQL reaches into it with json_extract
    if isinstance(value, int) and not -_MAX_INTEGER <= value < _MAX_INTEGER:
        return str(value)
    cell: str | int | float | None = value
    return cell


def _columns(titles: Sequence[str]) -> list[str]:
    taken: set[str] = set()
    names = []
    for number, title in enumerate(titles, 1):
        name = _free(title.strip() or f"column_{number}", taken)
        taken.add(name.lower())
        names.append(name)
    return names


def _free(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 1
    while name.lower() in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name
