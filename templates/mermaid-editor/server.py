"""A diagram that a user and a model draw together: both see the same source, and each sees the other's changes.

The page has to be visible: Mermaid draws in it, and the user edits there. The next tool call works on what they have
typed, and an edit is announced as an update of the resource `mermaid://diagram`.
"""

from typing import Annotated, Literal

from mcp_types import CallToolResult, EmbeddedResource, TextContent, TextResourceContents, ToolAnnotations
from pydantic import BaseModel, Field

from diagram import Diagram
from editor import Editor
from mcpframe import FrameServer, FrameSession

SOURCE = "mermaid://diagram"

server = FrameServer(
    "mermaid-editor",
    title="Mermaid editor",
    version="0.1.0",
    instructions="Draws Mermaid diagrams for the user, who edits them too. Read one with get_source before a change.",
)


async def announce() -> None:
    """Notify the client that the diagram has changed."""
    await server.resource_updated(SOURCE)


diagram = Diagram()
editor = Editor(diagram, on_change=announce)


class Source(BaseModel):
    """The diagram as it is now."""

    code: str = Field(description="Its Mermaid source")
    edited_by_user: bool = Field(
        description="Whether the user has changed it since the last call of draw or get_source"
    )


@server.ui
async def ui(session: FrameSession) -> None:
    """Show the editor."""
    await editor.open(session)


@server.tool(annotations=ToolAnnotations(open_world_hint=False))
async def draw(
    code: Annotated[str, Field(description="Mermaid source", examples=["flowchart LR\n  A[Idea] --> B(Draft)"])],
) -> str:
    """Draw a diagram for the user in place of the current one. Mermaid source that has mistakes is refused."""
    await editor.open(server.session)
    replaced = await editor.draw(code)
    await announce()
    if replaced is None:
        return "Drawn."
    return (
        f"Drawn. The user had edited the diagram since your last call; what they had, and can bring back:\n\n{replaced}"
    )


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
async def get_source() -> Annotated[CallToolResult, Source]:
    """Return the diagram's Mermaid source, with what the user has typed."""
    await editor.open(server.session)
    edited = editor.take_edits() is not None
    source = Source(code=diagram.code, edited_by_user=edited)
    said = f"The user has {'edited' if edited else 'not edited'} the diagram since your last call.\n\n{diagram.code}"
    return CallToolResult(content=[TextContent(type="text", text=said)], structured_content=source.model_dump())


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
async def export_svg(
    theme: Annotated[Literal["light", "dark"], Field(description="For which ground")] = "light",
    to: Annotated[Literal["text", "download"], Field(description="Return it, or let the user save it")] = "text",
) -> CallToolResult:
    """Return the diagram as an SVG picture."""
    await editor.open(server.session)
    editor.look()  # the edits are still to be reported
    svg = await editor.svg(theme)
    if to == "download":
        editor.download(svg)
        said = f"diagram.svg was given to the user's browser to save: {len(svg.encode()):,} bytes."
        return CallToolResult(content=[TextContent(type="text", text=said)])
    picture = TextResourceContents(uri="mermaid://diagram.svg", mime_type="image/svg+xml", text=svg)
    return CallToolResult(content=[EmbeddedResource(type="resource", resource=picture)])


@server.resource(SOURCE, name="diagram", title="The diagram", mime_type="text/vnd.mermaid")
async def source() -> str:
    """The diagram's Mermaid source, with what the user has typed."""
    await editor.open(server.session)
    editor.look()
    return diagram.code
