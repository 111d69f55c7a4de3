"""SQL over the user's CSV, JSON and SQLite files, in their browser: rows leave it only in the answers to queries.

In the setup phase the user chooses the files and whether they may be changed; both are stored under the session's id.
In the transport phase the tools work on them, and the page, which may stay hidden, shows what they do.
"""

import base64
import json
from typing import Annotated, Any, Literal

from mcp_types import (
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    TextContent,
    ToolAnnotations,
)
from pydantic import BaseModel, Field

from chart import Kind, chart_data, draw
from mcpframe import FrameServer, FrameSession, Setup
from picking import pick_files
from reading import quoted
from results import as_csv, as_json, as_json_text, as_table
from shelf import Shelf
from view import View
from workspace import MAIN, QueryError, Result

MAX_EXPORT_ROWS = 1_000_000
MAX_EXPORT_TEXT = 1_000_000
MAX_EXPORT_BYTES = 4_000_000
NOTHING_KEPT = "This browser keeps nothing for pages in frames: choose the files in the server's page."
TYPES = {"csv": "text/csv", "json": "application/json", "sqlite": "application/vnd.sqlite3"}

server = FrameServer(
    "sqlite-analyst",
    title="SQLite analyst",
    version="0.1.0",
    instructions="Answers questions about the user's files with SQL (SQLite dialect). Begin with describe.",
)
shelf = Shelf()
view = View()


class Answer(BaseModel):
    """What a statement gave."""

    columns: list[str]
    rows: list[list[Any]]
    more: bool = Field(description="Whether there are more rows than the limit")
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
    limit: Annotated[int, Field(ge=1, le=10_000, description="How many rows to return")] = 100,
    chart: Annotated[Kind, Field(description="Draw the result: auto chooses bars or lines where it can")] = "auto",
) -> Annotated[CallToolResult, Answer]:
    """Query the user's tables. Read-only, unless the user has allowed changes."""
    result, image = await _ask(sql, limit, chart)
    content: list[ContentBlock] = [TextContent(type="text", text=_in_words(result))]
    if image:
        content.append(ImageContent(type="image", mime_type="image/png", data=base64.b64encode(image).decode()))
    answer = Answer(
        columns=result.columns,
        rows=[[as_json(value) for value in row] for row in result.rows],
        more=result.more,
        changed=result.changed,
        seconds=round(result.seconds, 4),
    )
    return CallToolResult(content=content, structured_content=answer.model_dump(mode="json"))


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
    format: Annotated[Literal["csv", "json", "sqlite"], Field(description="The file's format")] = "csv",  # noqa: A002
    to: Annotated[Literal["text", "download"], Field(description="Return it, or let the user save it")] = "text",
    name: Annotated[
        str, Field(description="The file's name without its ending", pattern=r"^[\w .-]{1,80}$")
    ] = "export",
) -> CallToolResult:
    """Export a table, a query's rows or a whole database as CSV, JSON or a SQLite file."""
    workspace = await shelf.get(server.session)
    file = f"{name}.{format}"
    if format == "sqlite":
        data, said = workspace.image(source), f"database {source}"
    else:
        is_query = source.lstrip().lower().startswith(("select", "with", "values"))
        sql = source if is_query else f"SELECT * FROM {'.'.join(map(quoted, source.split('.')))}"  # noqa: S608 quoted
        result = workspace.run(sql, MAX_EXPORT_ROWS)
        if not result.columns:
            raise QueryError("That statement gives no rows to export.")
        write = as_csv if format == "csv" else as_json_text
        data, said = write(result.columns, result.rows).encode(), f"{len(result.rows):,} rows"
        said += " (there are more)" if result.more else ""
    if to == "download":
        server.session.page.download(file, data, TYPES[format])
        return _text(f"{file} was given to the user's browser to save: {said}, {len(data):,} bytes.")
    if format == "sqlite":
        if len(data) > MAX_EXPORT_BYTES:
            raise QueryError(f"{file} has {len(data):,} bytes, too many for an answer: export it as a download.")
        blob = BlobResourceContents(
            uri=f"export:///{file.replace(' ', '%20')}", mime_type=TYPES[format], blob=base64.b64encode(data).decode()
        )
        return CallToolResult(content=[EmbeddedResource(type="resource", resource=blob)])
    if len(data) > MAX_EXPORT_TEXT:
        raise QueryError(
            f"{file} has {len(data):,} bytes, too many for an answer: export fewer rows, or as a download."
        )
    return _text(data.decode())


async def _ask(sql: str, limit: int, chart: Kind) -> tuple[Result, bytes | None]:
    """Run a statement for a client or for the user, store what it changed, and show it in the page."""
    workspace = await shelf.get(server.session)
    try:
        result = workspace.run(sql, limit)
    except QueryError as error:
        view.failed(sql, str(error))
        raise
    if result.changed is not None:
        await shelf.keep(server.session)
    drawn = chart_data(result.columns, result.rows, chart)
    image = draw(drawn) if drawn else None
    view.ran(sql, result, image)
    return result, image


def _in_words(result: Result) -> str:
    parts = []
    if result.columns:
        parts.append(as_table(result.columns, result.rows))
        count = f"{len(result.rows):,} row{'' if len(result.rows) == 1 else 's'}"
        parts.append(f"({count}{'; there are more' if result.more else ''})")
    if result.changed is not None:
        parts.append(f"Done: {result.changed:,} rows changed.")
    return "\n".join(parts)


def _text(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)])
