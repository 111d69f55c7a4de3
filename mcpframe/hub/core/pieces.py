"""Long text in pieces, for channels whose messages have a limit. Without I/O.

Each piece indicates whether more of the same text follow: by a mark before it (`+`, and `.` for the last), or by a
flag.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcpframe.frame.core.errors import MessageTooLarge


def cut(text: str, longest: int) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a text, at least one, and whether more follow."""
    for start in range(0, len(text) or 1, longest):
        yield text[start : start + longest], start + longest < len(text)


def cut_marked(text: str, longest: int) -> Iterator[str]:
    """Yield the pieces of a text with their marks."""
    for piece, more in cut(text, longest):
        yield f"{'+' if more else '.'}{piece}"


class Joiner:
    """Joins the pieces of one text after another.

    Args:
        characters: How long a text may be.
        pieces: How many pieces it may have.
    """

    def __init__(self, characters: int, pieces: int) -> None:
        self._most_characters = characters
        self._most_pieces = pieces
        self._pieces: list[str] = []
        self._size = 0

    def add(self, piece: str, *, more: bool) -> str | None:
        """Return the text that this piece completes; None if more follow.

        Raises:
            MessageTooLarge: It is too long, or has too many pieces. All of them are dropped.
        """
        self._size += len(piece)
        self._pieces.append(piece)
        if self._size > self._most_characters or len(self._pieces) > self._most_pieces:
            self.clear()
            raise MessageTooLarge(f"A message has more than {self._most_characters:,} characters, or too many pieces.")
        if more:
            return None
        whole = "".join(self._pieces)
        self.clear()
        return whole

    def add_marked(self, text: str) -> str | None:
        """Add a piece with its mark; see `add`."""
        return self.add(text[1:], more=text[:1] != ".")

    def clear(self) -> None:
        """Drop the pieces so far."""
        self._pieces, self._size = [], 0
