"""The notes of a board, which all tabs of a browser share: they are kept in its storage."""

from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field, ValidationError

from mcpframe import Storage

KEY = "board"
MOST_CHARACTERS = 500

Column = Literal["To do", "Doing", "Done"]
COLUMNS: tuple[Column, ...] = get_args(Column)


class Note(BaseModel):
    """One note."""

    id: int = Field(description="Its number, which no other note ever gets")
    text: str
    column: Column


class Kept(BaseModel):
    """What is stored."""

    last: int = 0
    notes: list[Note] = []


class Board:
    """The notes.

    Attributes:
        notes: the notes, as they were last read, oldest first.
        on_change: called when they are different.
        announce: called when this tab has changed them.
    """

    def __init__(self, storage: Storage) -> None:
        """Create it without notes: `load` reads them."""
        self.notes: list[Note] = []
        self.on_change: Callable[[], None] = lambda: None
        self.announce: Callable[[], None] = lambda: None
        self._storage = storage

    async def load(self) -> None:
        """Read the notes, also after another tab has changed them."""
        self._show(_read(await self._storage.get(KEY)).notes)

    async def add(self, text: str, column: Column = "To do") -> Note:
        """Add a note, and return it. Raises ValueError for a text that is empty or too long."""
        words = _checked(text)

        def change(kept: Kept) -> None:
            kept.last += 1
            kept.notes.append(Note(id=kept.last, text=words, column=column))

        return (await self._change(change))[-1]

    async def edit(self, number: int, text: str) -> None:
        """Replace the text of a note. Raises ValueError for such a text, and if there is no such note."""
        words = _checked(text)

        def change(kept: Kept) -> None:
            _note(kept, number).text = words

        await self._change(change)

    async def move(self, number: int, column: Column) -> None:
        """Move a note to another column. Raises ValueError if there is no such note."""

        def change(kept: Kept) -> None:
            _note(kept, number).column = column

        await self._change(change)

    async def remove(self, number: int) -> None:
        """Remove a note. Raises ValueError if there is no such note."""

        def change(kept: Kept) -> None:
            kept.notes.remove(_note(kept, number))

        await self._change(change)

    def column(self, column: Column) -> Iterator[Note]:
        """Yield the notes of a column."""
        return (note for note in self.notes if note.column == column)

    async def _change(self, change: Callable[[Kept], None]) -> list[Note]:
        def update(value: Any) -> Any:
            kept = _read(value)  # another tab may have changed it since this one has read it
            change(kept)
            return kept.model_dump()

        notes = _read(await self._storage.update(KEY, update)).notes
        self._show(notes)
        self.announce()
        return notes

    def _show(self, notes: list[Note]) -> None:
        if notes != self.notes:
            self.notes = notes
            self.on_change()


def _read(value: Any) -> Kept:
    try:
        return Kept.model_validate(value or {})
    except ValidationError:  # of another version
        return Kept()


def _note(kept: Kept, number: int) -> Note:
    for note in kept.notes:
        if note.id == number:
            return note
    raise ValueError(
        f"There is no note {number}; there are: {', '.join(str(each.id) for each in kept.notes) or 'none'}."
    )


def _checked(text: str) -> str:
    words = " ".join(text.split())
    if not 0 < len(words) <= MOST_CHARACTERS:
        raise ValueError(f"A note has 1 to {MOST_CHARACTERS} characters, not {len(words)}.")
    return words
