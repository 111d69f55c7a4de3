"""Answers questions about a JSON file that the user chooses; the file stays in their browser.

In the setup phase the user chooses the file, and it is stored under the session's id. In the transport phase the page
is hidden, and the first tool call reads the file.
"""

from typing import Annotated, Any

from jsonpath import JSONPathEnvironment, JSONPathError, JSONPathMatch
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from document import Shelf
from found import MAX_TEXT, shown, take
from mcpframe import FrameServer, FrameSession, Setup
from picking import pick_document
from searching import Where, search_in
from summary import Place, as_line, summarize

NOTHING_KEPT = "This browser keeps nothing for pages in frames: choose the document in the server's page."
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

server = FrameServer(
    "json-analyzer",
    title="JSON analyzer",
    version="0.1.0",
    instructions="Answers questions about one JSON document that the user has chosen. Begin with schema_summary.",
    inline_schemas=True,
)
shelf = Shelf()
jsonpath = JSONPathEnvironment(strict=True)  # RFC 9535, without the library's extensions

Limit = Annotated[int, Field(ge=1, le=1000, description="How many matches to return")]


class PathMatch(BaseModel):
    """One value that a JSONPath leads to."""

    path: str = Field(description="Where the value is: its normalized path")
    value: Any = Field(description="The value")


class Matches(BaseModel):
    """What was found."""

    count: int = Field(description="How many matches there are, or how many were counted")
    complete: bool = Field(description="False where there are more matches than were counted")
    matches: list[PathMatch]
    note: str | None = Field(None, description="What was left out, and how to get it")


class Summary(BaseModel):
    """What the document, or a part of it, looks like."""

    document: str
    bytes: int
    places: list[Place]
    note: str | None = None


@server.setup(visible=True)
async def setup(session: FrameSession) -> Setup:
    """Let the user choose a file."""
    if not session.storage.persistent:
        return Setup(visibility="required", visibility_message=NOTHING_KEPT, ephemeral_message=NOTHING_KEPT)
    document = await pick_document(session, shelf)
    return Setup(
        title=f"JSON analyzer: {document.name}", visibility="hidden", ephemeral_message=f"Loaded {document.name}"
    )


@server.ui
async def ui(session: FrameSession) -> None:
    """If the browser stores nothing from the setup, let the user choose here, as often as they like."""
    while not session.storage.persistent:
        await pick_document(session, shelf)


@server.tool(annotations=READS)
async def evaluate_jsonpath(
    path: Annotated[str, Field(description="A JSONPath (RFC 9535). Example: $.store.books[?@.price < 10].title")],
    limit: Limit = 100,
) -> Annotated[CallToolResult, Matches]:
    """Return the values that a JSONPath leads to, with their places, from the user's JSON document."""
    document = await shelf.get(server.session)
    try:
        found = jsonpath.finditer(path, document.value)
    except JSONPathError as error:
        raise ToolError(f"That is not a JSONPath (RFC 9535): {str(error).strip()}") from None
    taken = await take((_located(match) for match in found), limit)
    return _answer(taken.items, taken.count, taken.counted, complete=taken.complete)


@server.tool(annotations=READS)
async def search(
    text: Annotated[str, Field(min_length=1, description="What to look for")],
    where: Annotated[Where, Field(description="Whether to look in keys, in values or in both")] = "both",
    case_sensitive: bool = False,
    limit: Limit = 50,
) -> Annotated[CallToolResult, Matches]:
    """Find a text in the keys and values of the user's JSON document."""
    document = await shelf.get(server.session)
    taken = await take(search_in(document.value, text, where, case_sensitive=case_sensitive), limit)
    found = [(match.path, match.value) for match in taken.items]
    return _answer(found, taken.count, taken.counted, complete=taken.complete)


@server.tool(annotations=READS)
async def schema_summary(
    path: Annotated[str, Field(description="A JSONPath to one value; only that part is described")] = "$",
    depth: Annotated[int, Field(ge=1, le=20, description="How many levels to describe")] = 6,
    limit: Annotated[int, Field(ge=1, le=1000, description="How many places to return")] = 200,
) -> Annotated[CallToolResult, Summary]:
    """Describe the structure of the user's JSON document: paths, types, ranges and examples."""
    document = await shelf.get(server.session)
    try:
        part = jsonpath.match(path, document.value)
    except JSONPathError as error:
        raise ToolError(f"That is not a JSONPath (RFC 9535): {str(error).strip()}") from None
    if part is None:
        raise ToolError(f"There is nothing at {path} in {document.name}.")
    places, more = summarize(part.obj, path, depth, limit)
    note = f"{more:,} more places: ask for a path further inside, or raise the limit." if more else None
    summary = Summary(document=document.name, bytes=document.size, places=places, note=note)
    lines = [f"{document.name}, {document.size:,} bytes", *map(as_line, places)]
    return _result([*lines, f"({note})"] if note else lines, summary)


def _located(match: JSONPathMatch) -> tuple[str, Any]:
    return match.path, match.obj


def _answer(found: list[tuple[str, Any]], count: int, counted: str, *, complete: bool) -> CallToolResult:
    """Return as many values as fit, with a note about the rest."""
    matches, lines, room, cut = [], [counted], MAX_TEXT, 0
    for path, value in found:
        if room <= 0:
            break
        value, text, whole = shown(value, room)
        matches.append(PathMatch(path=path, value=value))
        lines.append(f"{path}: {text}")
        room -= len(text) + len(path)
        cut += not whole
    notes = []
    if len(matches) < count:
        notes.append(
            f"only the first {len(matches):,} are returned: narrow the query"
            + ("" if room <= 0 else " or raise the limit")
        )
    if cut:
        notes.append(f"{cut:,} too large to return in full: ask for a part of it")
    note = "; ".join(notes).capitalize() + "." if notes else None
    result = Matches(count=count, complete=complete, matches=matches, note=note)
    return _result([*lines, f"({note})"] if note else lines, result)


def _result(lines: list[str], structured: BaseModel) -> CallToolResult:
    content = TextContent(type="text", text="\n".join(lines))
    return CallToolResult(content=[content], structured_content=structured.model_dump(mode="json"))
