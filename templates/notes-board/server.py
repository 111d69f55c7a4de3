"""The board's tools. Those for a note exist only while there are notes."""

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from board import Board, Column, Note
from mcpframe import FrameServer

FOR_NOTES = ("edit_note", "move_note", "remove_note")
"""The tools that need a note."""

T = TypeVar("T")

Number = Annotated[int, Field(description="The note's id, as list_notes returns it")]
Text = Annotated[str, Field(description="What it says")]


class BoardTools:
    """The server of one page.

    Attributes:
        server: the server.
    """

    def __init__(self, board: Board, tell: Callable[[str], None]) -> None:
        """Create it, with the tools for the board as it is.

        Args:
            board: the board.
            tell: shows what an assistant has done.
        """
        self.server = FrameServer(
            "notes-board",
            title="Notes board",
            version="0.1.0",
            instructions="A board of notes in three columns. All its tabs show the same notes.",
            browser={"multiTabSupport": True, "cacheSupported": True},
        )
        self._board = board
        self._tell = tell
        self._offered = False
        reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        self.server.add_tool(self.list_notes, title="List the notes", annotations=reads)
        self.server.add_tool(self.add_note, title="Add a note")
        self.server.cache("list_notes")  # the notes are kept in the browser: a hub may open a tab to read them
        self.offer()

    def offer(self) -> bool:
        """Add or remove the tools for notes; return whether the list is another one now."""
        if self._offered == bool(self._board.notes):
            return False
        self._offered = not self._offered
        if self._offered:
            again = ToolAnnotations(idempotent_hint=True)
            self.server.add_tool(self.edit_note, title="Edit a note", annotations=again)
            self.server.add_tool(self.move_note, title="Move a note", annotations=again)
            self.server.add_tool(
                self.remove_note, title="Remove a note", annotations=ToolAnnotations(destructive_hint=True)
            )
        else:
            for name in FOR_NOTES:
                self.server.remove_tool(name)
        return True

    async def list_notes(self) -> list[Note]:
        """Return all notes, oldest first."""
        await self._board.load()
        return self._board.notes

    async def add_note(
        self, text: Text, column: Annotated[Column, Field(description="Where it is put")] = "To do"
    ) -> Note:
        """Add a note to the board."""
        note = await _said(self._board.add(text, column))
        self._tell(f"An assistant has added note {note.id}.")
        return note

    async def edit_note(self, note: Number, text: Text) -> str:
        """Replace the text of a note."""
        await _said(self._board.edit(note, text))
        return self._done(f"edited note {note}")

    async def move_note(self, note: Number, column: Annotated[Column, Field(description="Where to")]) -> str:
        """Move a note to another column."""
        await _said(self._board.move(note, column))
        return self._done(f"moved note {note} to {column}")

    async def remove_note(self, note: Number) -> str:
        """Remove a note for good."""
        await _said(self._board.remove(note))
        return self._done(f"removed note {note}")

    def _done(self, what: str) -> str:
        self._tell(f"An assistant has {what}.")
        return f"{what.capitalize()}."


async def _said(change: Awaitable[T]) -> T:
    """Have the client read why a change is not possible."""
    try:
        return await change
    except ValueError as error:
        raise ToolError(str(error)) from None
