"""SQL over the user's CSV, JSON and SQLite files, in their browser: a model reads small results only.

The rows of a query stay in the page. The model gets a handle, and passes it to the next query, to plot or to export.

In the setup phase the user chooses the files and whether they may be changed; both are stored under the session's id.
In the transport phase the tools work on them, and the page, which may stay hidden, shows what they do.
"""

import base64
import json
import shutil
import tempfile
import weakref
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp_types import CallToolResult, ContentBlock, ImageContent, ResourceLink, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from chart import Kind, chart_data, draw
from mcpframe import FrameServer, FrameSession, Kept, Setup, errors, kept
from picking import pick_files
from reading import quoted
from results import as_csv, as_json, as_json_text, as_table
from shelf import Shelf
from stored import Stored
from view import View
from workspace import EARLIER, MAIN, MAX_STORED_ROWS, QueryError, Result

MAX_ROWS = 20
"""The most rows of a result that the model reads: it gets a small result whole, and nothing of a larger one."""
MAX_DRAWN_ROWS = 10_000
MAX_EXPORT_ROWS = 1_000_000
NOTHING_KEPT = "This browser keeps nothing for pages in frames: choose the files in the server's page."
Earlier = Annotated[
    Kept[Stored] | None, Field(description="The handle of an earlier result: the table result in the statement")
]
TYPES = {"csv": "text/csv", "json": "application/json", "sqlite": "application/vnd.sqlite3"}

server = FrameServer(
    "sqlite-analyst",
    title="SQLite analyst",
    version="0.1.0",
    instructions="Answers questions about the user's files with SQL (SQLite dialect). Begin with describe. A query's "
    "rows stay in the user's page, unless they are few: pass its handle to the next query, plot or export.",
    inline_schemas=True,
)
shelf = Shelf()
view = View()


class Answer(BaseModel):
    """What a statement gave."""

    columns: list[str]
    rows: list[list[Any]] | None = Field(description="The rows, if there are at most 20")
    total_rows: int = Field(description="How many rows there are, or a million if there are more")
    handle: str | None = Field(None, description="The handle of the result, for other tools")
    uri: str | None = Field(None, description="Where resources/read pages through the rows")
    changed: int | None = Field(None, description="How many rows the statement changed")
    seconds: float


class Column(BaseModel):
    """One column of a table."""

    name: str
    type: str
    required: bool = Field(description="Whether it is NOT NULL")
    key: bool = Field(description="Whether it is part of the primary key")


class TableInfo(BaseModel):
    """One table or view."""

    name: str = Field(description="Its name as a query has it")
    kind: str
    rows: int
    columns: list[Column]
    references: list[dict[str, str | None]] = Field(description="Foreign keys")
    sample: list[dict[str, Any]] = Field(description="Its first rows")


class Tables(BaseModel):
    """All that can be queried."""

    writable: bool = Field(description="Whether statements may change the data")
    tables: list[TableInfo]


@server.setup(visible=True)
async def setup(session: FrameSession) -> Setup:
    """Let the user choose files."""
    if not session.storage.persistent:
        return Setup(visibility="required", visibility_message=NOTHING_KEPT, ephemeral_message=NOTHING_KEPT)
    names = await pick_files(session, shelf)
    loaded = names[0] if len(names) == 1 else f"{len(names)} files"
    return Setup(
        title=f"SQLite analyst: {loaded}",
        visibility="optional",
        visibility_message="Shows the tables and every query with its result and chart.",
        ephemeral_message=f"Loaded {loaded}",
    )


@server.ui
async def ui(session: FrameSession) -> None:
    """Show the tables, and let the user query them, too."""
    if not session.storage.persistent:
        await pick_files(session, shelf)
    await view.open(session, await shelf.get(session), ask=_ask)


@server.tool(annotations=ToolAnnotations(destructive_hint=True, open_world_hint=False))
async def query(
    sql: Annotated[str, Field(description="One statement in SQLite's dialect")],
    result: Earlier = None,
    chart: Annotated[Kind, Field(description="Draw the result: auto chooses bars or lines where it can")] = "auto",
) -> Annotated[CallToolResult, Answer]:
    """Query the user's tables. Read-only, unless the user has allowed changes.

    The user sees all rows. You read those of a result of at most 20 rows; of a larger one you get a handle.
    """
    found, rows, image = await _ask(sql, result, chart)
    small = len(found.rows) <= MAX_ROWS and not found.more
    content: list[ContentBlock] = [TextContent(type="text", text=_in_words(found, rows, small=small))]
    if rows:
        content.append(ResourceLink(uri=rows.uri, name=rows.handle, mime_type="application/json"))
    if image and small:
        content.append(_picture(image))
    answer = Answer(
        columns=found.columns,
        rows=[[as_json(value) for value in row] for row in found.rows] if small else None,
        total_rows=len(rows.value) if rows else len(found.rows),
        handle=rows.handle if rows else None,
        uri=rows.uri if rows else None,
        changed=found.changed,
        seconds=round(found.seconds, 4),
    )
    return CallToolResult(content=content, structured_content=answer.model_dump(mode="json"))


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
async def plot(
    result: Annotated[Kept[Stored], Field(description="The handle of a query's result")],
    kind: Annotated[Kind, Field(description="The kind of chart")] = "auto",
) -> CallToolResult:
    """Draw an earlier result: the first column without numbers names the values, and up to four columns are drawn."""
    rows = result.value[:MAX_DRAWN_ROWS]
    drawn = chart_data(result.value.columns, rows, kind)
    if drawn is None:
        raise QueryError("This cannot be drawn: select a name or date, and one to four columns of numbers.")
    image = draw(drawn)
    await view.ran(f"SELECT * FROM {EARLIER}", result, f"{len(result.value):,} rows", image)  # noqa: S608 for people
    return CallToolResult(content=[_picture(image)])


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
async def describe(
    table: Annotated[str | None, Field(description="A table or view; by default all")] = None,
    sample: Annotated[int, Field(ge=0, le=20, description="How many rows of each to show")] = 3,
) -> Annotated[CallToolResult, Tables]:
    """List the user's tables: columns, types, keys, number of rows and the first rows."""
    workspace = await shelf.get(server.session)
    found = []
    for database, name, kind in workspace.tables():
        shown = name if database == MAIN else f"{database}.{name}"
        if table is None or table.lower() in (name.lower(), shown.lower()):
            place = f"{quoted(database)}.{quoted(name)}"
            rows = workspace.run(f"SELECT * FROM {place}", sample) if sample else None  # noqa: S608 quoted
            records = [dict(zip(rows.columns, map(as_json, row), strict=True)) for row in rows.rows] if rows else []
            facts = workspace.describe(database, name)
            found.append(TableInfo.model_validate({"name": shown, "kind": kind, "sample": records, **facts}))
    if table is not None and not found:
        raise QueryError(f"There is no table {table!r}; describe without a table lists all.")
    lines = ["Changes are allowed." if workspace.writable else "Read-only."]
    for info in found:
        lines.append(f"\n{info.kind} {info.name}, {info.rows:,} rows")
        for column in info.columns:
            marks = [
                column.type or "any type",
                *(["key"] if column.key else []),
                *(["required"] if column.required else []),
            ]
            lines.append(f"  {column.name}: {', '.join(marks)}")
        lines += [f"  {item['column']} refers to {item['table']}.{item['to'] or 'its key'}" for item in info.references]
        lines += [f"  e.g. {json.dumps(record, ensure_ascii=False)[:300]}" for record in info.sample]
    structured = Tables(writable=workspace.writable, tables=found).model_dump(mode="json")
    return CallToolResult(content=[TextContent(type="text", text="\n".join(lines))], structured_content=structured)


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
async def export(
    source: Annotated[str, Field(description="A SELECT, a table's name, or for sqlite a database's name")] = MAIN,
    result: Earlier = None,
    format: Annotated[Literal["csv", "json", "sqlite"], Field(description="The file's format")] = "csv",  # noqa: A002
    to: Annotated[Literal["link", "download"], Field(description="Return a link, or let the user save it")] = "link",
    name: Annotated[
        str, Field(description="The file's name without its ending", pattern=r"^[\w .-]{1,80}$")
    ] = "export",
) -> Kept[Path] | str:
    """Export a table, a query's rows, an earlier result or a whole database as CSV, JSON or a SQLite file."""
    workspace = await shelf.get(server.session)
    file = f"{name}.{format}"
    if format == "sqlite":
        if result is not None:
            raise QueryError("A SQLite file has a whole database: export a result as csv or json.")
        data, said = workspace.image(source), f"database {source}"
    else:
        source = EARLIER if result is not None and source == MAIN else source
        is_query = source.lstrip().lower().startswith(("select", "with", "values"))
        sql = source if is_query else f"SELECT * FROM {'.'.join(map(quoted, source.split('.')))}"  # noqa: S608 quoted
        found = workspace.run(sql, MAX_EXPORT_ROWS, earlier=result.value if result else None, read_only=True)
        if not found.columns:
            raise QueryError("That statement gives no rows to export.")
        write = as_csv if format == "csv" else as_json_text
        data, said = write(found.columns, found.rows).encode(), f"{len(found.rows):,} rows"
        said += " (there are more)" if found.more else ""
    if to == "download":
        server.session.page.download(file, data, TYPES[format])
        return f"{file} was given to the user's browser to save: {said}, {len(data):,} bytes."
    path = Path(tempfile.mkdtemp()) / file
    with ExitStack() as unless_kept:
        unless_kept.callback(shutil.rmtree, path.parent)
        path.write_bytes(data)
        written = kept(path, summary=said)
        weakref.finalize(written, unless_kept.pop_all().close)
    return written


async def _ask(sql: str, earlier: Kept[Stored] | None, chart: Kind) -> tuple[Result, Kept[Stored] | None, bytes | None]:
    """Run a statement for a client or for the user, store what it changed, keep its rows, and show it in the page."""
    workspace = await shelf.get(server.session)
    try:
        result = workspace.run(sql, MAX_DRAWN_ROWS, earlier=earlier.value if earlier else None, store=True)
        cut = f"The first {MAX_STORED_ROWS:,} rows: there are more." if result.cut else ""
        rows = None if result.stored is None else kept(result.stored, summary=cut)
    except (QueryError, errors.KeptError) as error:
        view.failed(sql, str(error))
        raise QueryError(str(error)) from None
    if result.changed is not None:
        await shelf.keep(server.session)
    drawn = chart_data(result.columns, result.rows, chart)
    image = draw(drawn) if drawn else None
    changed = "" if result.changed is None else f"{result.changed:,} rows changed, "
    number = len(result.stored) if result.stored is not None else len(result.rows)
    more = " (there are more)" if cut else ""
    count = f"{number:,} row{'' if number == 1 else 's'}{more}, " if result.columns else ""
    await view.ran(sql, rows, f"{changed}{count}{result.seconds * 1000:,.1f} ms", image)
    if result.changed is not None:
        view.list_tables()
    return result, rows, image


def _in_words(result: Result, rows: Kept[Stored] | None, *, small: bool) -> str:
    parts = []
    if result.columns and small:
        parts.append(as_table(result.columns, result.rows))
        parts.append(f"({len(result.rows):,} row{'' if len(result.rows) == 1 else 's'})")
    if rows is not None:
        parts.append(f"{rows.handle}: {rows.facts}. All rows are shown to the user; other tools take this handle.")
        parts += filter(None, [rows.summary])
    if result.changed is not None:
        parts.append(f"Done: {result.changed:,} rows changed.")
    return "\n".join(parts)


def _picture(image: bytes) -> ImageContent:
    return ImageContent(type="image", mime_type="image/png", data=base64.b64encode(image).decode())
