"""Excel's workbooks. Both functions compute for long, so that a process of the page runs them."""

import io
from typing import Any

import pandas as pd
import xlsxwriter

MOST_ROWS = 1_048_575
"""The most rows of a sheet below its header."""


def read_workbook(data: bytes) -> dict[str, pd.DataFrame]:
    """Return the sheets with columns, by their titles.

    Raises:
        ValueError: It is not a workbook that can be read.
    """
    from python_calamine import CalamineError

    try:
        sheets = pd.read_excel(io.BytesIO(data), sheet_name=None, engine="calamine")
    except (CalamineError, OSError, KeyError) as error:
        raise ValueError(f"it is not a workbook, or damaged or protected by a password ({error})") from error
    return {title: sheet for title, sheet in sheets.items() if len(sheet.columns)}


def workbook_of(table: pd.DataFrame) -> bytes:
    """Return a workbook with one sheet.

    Raises:
        ValueError: The table has more rows than a sheet.
    """
    if len(table) > MOST_ROWS:
        raise ValueError(f"a sheet of Excel has at most {MOST_ROWS:,} rows below its header: choose csv")
    target = io.BytesIO()
    options = {"constant_memory": True, "in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    book = xlsxwriter.Workbook(target, {**options, "remove_timezone": True, "default_date_format": "yyyy-mm-dd hh:mm"})
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, [str(name) for name in table.columns])
    columns = [[_cell(value) for value in table.iloc[:, at]] for at in range(table.shape[1])]
    for number, row in enumerate(zip(*columns, strict=True), 1):
        sheet.write_row(number, 0, row)
    book.close()
    return target.getvalue()


def _cell(value: Any) -> Any:
    """Return a value as Excel has it: nothing for a missing one, and a text for what it does not know."""
    if isinstance(value, str):
        return value[:32_767]  # the longest text of a cell
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and value - value != 0:
        return str(value)  # infinite
    return value.to_pydatetime(warn=False) if isinstance(value, pd.Timestamp) else _plain(value)


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float) else str(value)
