"""pandas over the user's CSV, Excel and SQLite files, in their browser: only small results leave it.

The user drops files onto the page, or chooses them there. They are in the memory of this page until it is closed.
A result of many rows stays there, too: the model gets its handle, and passes it to the next tool.
In a host of MCP Apps the page is a view: of the tool `query`, or by itself.
"""

import asyncio
import itertools
import os
import shutil
import tempfile
import weakref
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio.to_process
import matplotlib.figure
import pandas as pd
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from expressions import evaluate
from mcpframe import FrameServer, Kept, kept
from mcpframe.views import View, Views
from view import AnalystPage
from workbooks import workbook_of

Expression = Annotated[
    str, Field(description="An expression of pandas over the tables, such as sales.groupby('city').amount.sum()")
]
Earlier = Annotated[
    Kept[pd.DataFrame] | None,
    Field(description="The handle of an earlier result: the variable result in the expression"),
]
RESULT = "result"
"""The variable that an earlier result is."""
MOST_ROWS = 20
"""The most rows of a result that the model reads: it gets a small table whole, and nothing of a larger one."""
PIECE = 20_000  # rows
HEARTBEAT = 2.0  # seconds
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
PUBLISHED = os.environ.get("DATA_ANALYST_URL", "http://localhost:8001/data-analyst/")
"""Where `dist/data-analyst/` is published: this machine, until you replace it by your own address."""

server = FrameServer(
    "data-analyst",
    title="Data analyst",
    version="0.1.0",
    instructions="Answers questions about the user's files with pandas. Begin with describe; the tables are variables. "
    "A query's rows stay in the user's page, unless they are few: pass its handle to the next query, plot or export.",
)
tables: dict[str, pd.DataFrame] = {}
page = AnalystPage(tables)
server.ui(page.run)
views = Views(server, View(PUBLISHED, uri="ui://data-analyst/page", title="Data analyst", prefers_border=True))


@server.tool(annotations=READS)
def describe() -> pd.DataFrame:
    """List the columns of the user's tables: types, missing and distinct values, an example."""
    columns = [
        {
            "table": name,
            "rows": len(table),
            "column": column,
            "type": str(values.dtype),
            "missing": int(values.isna().sum()),
            "distinct": values.nunique(),
            "example": next(iter(values.dropna()), None),
        }
        for name, table in loaded().items()
        for column, values in table.items()
    ]
    return pd.DataFrame(columns)


@views.tool("ui://data-analyst/page", annotations=READS)
async def query(expression: Expression, result: Earlier = None) -> Kept[pd.DataFrame]:
    """Evaluate an expression: tables are variables, columns attributes or ["names"], with pandas' methods.

    The user sees all rows in the page. You read those of a result of at most 20 rows; of a larger one you get a handle.
    """
    found = kept(result_of(expression, result), summary=f"The result of {expression}", inline=MOST_ROWS)
    await page.show(expression, found)
    return found


@server.tool(annotations=READS)
async def plot(
    expression: Expression = RESULT,
    result: Earlier = None,
    kind: Annotated[
        Literal["line", "bar", "barh", "hist", "box", "area", "scatter"], Field(description="The kind of chart")
    ] = "bar",
    x: Annotated[str | None, Field(description="The column for the x-axis; by default the index or row")] = None,
    y: Annotated[str | None, Field(description="The column to draw; by default all numbers")] = None,
    title: Annotated[str, Field(max_length=200)] = "",
) -> matplotlib.figure.Figure:
    """Draw the result of an expression, or an earlier result."""
    found = evaluate(expression, variables(result))
    if not isinstance(found, pd.DataFrame | pd.Series):
        raise ToolError("Only a table or a column can be drawn.")
    figure = matplotlib.figure.Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    chosen: dict[str, Any] = {} if isinstance(found, pd.Series) else {"x": x, "y": y}
    try:
        found.plot(kind=kind, title=title or None, ax=axes, **chosen)
    except (KeyError, TypeError, ValueError) as error:
        raise ToolError(f"This cannot be drawn as {kind}: {error}") from error
    await page.show(expression, figure)
    return figure


@server.tool(annotations=READS)
async def export(
    expression: Expression = RESULT,
    result: Earlier = None,
    format: Annotated[Literal["csv", "xlsx", "json"], Field(description="The file's format")] = "csv",  # noqa: A002
    to: Annotated[
        Literal["link", "download"], Field(description="Return a link to it, or let the user save it")
    ] = "link",
    *,
    ctx: Context,
) -> Kept[Path] | str:
    """Write the result of an expression, or an earlier result, to a file."""
    found = result_of(expression, result)
    path = Path(tempfile.mkdtemp()) / f"export.{format}"
    with ExitStack() as unless_kept:
        unless_kept.callback(shutil.rmtree, path.parent)  # also of a call that was cancelled
        try:
            async with progress(ctx, f"Writing {len(found):,} rows"):
                await write(found, path)
        except ValueError as error:
            raise ToolError(f"{path.name} cannot be written: {error}.") from error
        if to == "link":
            file = kept(path, summary=f"{len(found):,} rows as {format}")
            weakref.finalize(file, unless_kept.pop_all().close)
            return file
        data = path.read_bytes()
    await page.save(path.name, data)
    return f"{path.name} was given to the user's browser to save: {len(found):,} rows, {len(data):,} bytes."


async def write(table: pd.DataFrame, path: Path) -> None:
    """Write a table in the format of a path's suffix; the page draws and answers meanwhile."""
    if path.suffix == ".xlsx":
        book = await anyio.to_process.run_sync(workbook_of, table, cancellable=True)
        with path.open("wb") as binary:
            binary.write(book)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        for start in range(0, max(len(table), 1), PIECE):
            piece = table.iloc[start : start + PIECE]
            if path.suffix == ".csv":
                piece.to_csv(file, index=False, header=start == 0)
            else:
                rows = piece.to_json(orient="records", date_format="iso")[1:-1]
                file.write(("[" if start == 0 else "," if rows else "") + rows)
            await asyncio.sleep(0)
        if path.suffix == ".json":
            file.write("]")


@asynccontextmanager
async def progress(ctx: Context, message: str) -> AsyncIterator[None]:
    """Report every few seconds that a tool is at work: clients end calls of which they hear nothing."""

    async def report() -> None:
        for count in itertools.count(1):
            await ctx.report_progress(count, None, message)
            await asyncio.sleep(HEARTBEAT)

    reporting = asyncio.create_task(report())
    try:
        yield
    finally:
        reporting.cancel()


def result_of(expression: str, earlier: Kept[pd.DataFrame] | None = None) -> pd.DataFrame:
    """Return the result of an expression as a table; an index that does not only count the rows is its first column."""
    found = evaluate(expression, variables(earlier))
    if isinstance(found, pd.Series):
        found = found.to_frame("value" if found.name is None else found.name)
    elif not isinstance(found, pd.DataFrame):
        return pd.DataFrame({"value": [found]})
    return found if isinstance(found.index, pd.RangeIndex) else found.reset_index(allow_duplicates=True)


def variables(earlier: Kept[pd.DataFrame] | None = None) -> dict[str, pd.DataFrame]:
    """Return the tables and the earlier result, by their names in expressions.

    Raises:
        ToolError: There are none yet.
    """
    return dict(loaded()) if earlier is None else {**tables, RESULT: earlier.value}


def loaded() -> dict[str, pd.DataFrame]:
    """Return the tables.

    Raises:
        ToolError: There are none yet.
    """
    if not tables:
        raise ToolError(
            "There are no tables: ask the user to drop a CSV, Excel or SQLite file onto this server's page."
        )
    return tables
