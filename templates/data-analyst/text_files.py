"""Texts become tables: their encoding, separator and decimal mark are guessed, and the guesses are told.

A file is parsed in pieces, so that the page draws and answers meanwhile.
"""

import codecs
import csv
import io
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pandas as pd

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
PIECE = 20_000  # rows
SAMPLE = 500  # lines
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CONTROL = re.compile(r"[\0-\x08\x0e-\x1a\x1c-\x1f]")
_COMMA = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+")
_POINT = re.compile(r"[-+]?\d*\.\d+")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}([.,]\d{3})+")
_SKIPPED = re.compile(r"Skipping line (\d+)")
_MOST_NAMED = 5


@dataclass
class Reading:
    """A text file that is being parsed.

    Attributes:
        data: Its content.
        encoding: Its encoding.
        options: The arguments of `read_csv`.
        remarks: What was guessed, and what is wrong, for the user.
        table: The table, once all pieces are parsed.
    """

    data: bytes
    encoding: str
    options: dict[str, object]
    remarks: list[str]
    table: pd.DataFrame = field(default_factory=pd.DataFrame)

    def pieces(self) -> Iterator[float]:
        """Parse piece by piece, and yield the share that is done."""
        parts, skipped = yield from self._parsed({})
        kinds = {name: {part.dtypes[name].kind for part in parts} for name in parts[0].columns}
        if mixed := [name for name, found in kinds.items() if "O" in found and len(found) > 1]:
            parts, skipped = yield from self._parsed(dict.fromkeys(mixed, "str"))
        self.table = pd.concat(parts, ignore_index=True)
        if skipped:
            lines = ", ".join(map(str, skipped[:_MOST_NAMED])) + (", …" if len(skipped) > _MOST_NAMED else "")
            named = f"line {lines}" if len(skipped) == 1 else f"lines {lines}"
            self.remarks.append(f"{len(skipped):,} left out, with more values than columns: {named}")

    def _parsed(self, types: dict[str, str]):
        parts: list[pd.DataFrame] = []
        skipped: list[int] = []
        source = io.BytesIO(self.data)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", pd.errors.ParserWarning)
            options = {"encoding": self.encoding, "chunksize": PIECE, "on_bad_lines": "warn", "dtype": types}
            with pd.read_csv(source, **options, **self.options) as reader:
                for part in reader:
                    parts.append(part)
                    yield source.tell() / len(self.data)
            for warning in caught:
                skipped += map(int, _SKIPPED.findall(str(warning.message)))
        return parts, sorted(skipped)


def read(data: bytes) -> Reading:
    """Guess how a text is to be read.

    Raises:
        ValueError: It is not a text, or empty.
    """
    encoding = _encoding(data)
    with io.TextIOWrapper(io.BytesIO(data), encoding=encoding, errors="replace", newline="") as text:
        lines = list(itertools.islice(text, SAMPLE))
    sample = "".join(lines)
    if not sample.strip():
        raise ValueError("it is empty")
    if len(_CONTROL.findall(sample)) > len(sample) / 100:
        raise ValueError("it is neither a text nor a workbook or database of a known kind")
    separator = max(SEPARATORS, key=lambda each: _fit(lines, each))
    cells = [cell.strip() for row in csv.reader(lines, delimiter=separator) for cell in row]
    options: dict[str, object] = {"sep": separator}
    remarks = [encoding.removesuffix("-sig").upper().replace("CP1252", "Windows-1252")]
    remarks.append(f"separated by {SEPARATORS[separator]}")
    if not _quotes_close(lines, separator):
        options["quoting"] = csv.QUOTE_NONE
        remarks.append("quotation marks are read as characters, as one is not closed")
    if _has_decimal_commas(cells, separator):
        options["decimal"] = ","
        remarks.append("decimal commas")
        if any(_THOUSANDS.fullmatch(cell.partition(",")[0]) for cell in cells):
            options["thousands"] = "."
    return Reading(data, encoding, options, remarks)


def _encoding(data: bytes) -> str:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return encoding
    head = data[:2000]
    evens, odds = head[::2].count(0), head[1::2].count(0)
    if max(evens, odds) > len(head) / 4:
        return "utf-16-le" if odds > evens else "utf-16-be"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), 1 << 20):
            decoder.decode(data[at : at + (1 << 20)])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _fit(lines: list[str], separator: str) -> tuple[float, int]:
    """Return the share of rows that are as wide as the first one, and that width; nothing for a single column."""
    widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
    width = widths[0] if widths else 0
    return (Counter(widths)[width] / len(widths), width) if width > 1 else (0.0, 0)


def _quotes_close(lines: list[str], separator: str) -> bool:
    """Return whether no quoted value of the sample spans most of it, as behind a quotation mark that is not closed."""
    rows = list(csv.reader(lines, delimiter=separator))
    return not any(cell.count("\n") > max(20, len(lines) / 2) for row in rows for cell in row)


def _has_decimal_commas(cells: list[str], separator: str) -> bool:
    commas = [cell for cell in cells if _COMMA.fullmatch(cell)]
    if not commas or any(_POINT.fullmatch(cell) and not _THOUSANDS.fullmatch(cell) for cell in cells):
        return False
    # 1,234 may be a number with thousands where commas separate
    return separator != "," or any(not _THOUSANDS.fullmatch(cell) for cell in commas)
