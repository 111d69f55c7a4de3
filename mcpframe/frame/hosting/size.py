"""The size of a view's frame: what the view reports, within the host's bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

Json = Mapping[str, Any]
Size = tuple[int | None, int | None]

LARGEST = 10_000
"""The largest width and height in CSS pixels where the host has no other bound."""
_SECONDS = 1 / 60
"""How often the frame's size is changed at most."""


def bounded(reported: Json, container: Json) -> Size:
    """Return the width and height that a frame gets; None for what is left as it is.

    Args:
        reported: the parameters of a view's `size-changed`.
        container: `containerDimensions` of the host's context: a fixed dimension stays as it is.
    """

    def one(name: str, most: str) -> int | None:
        value, bound = _pixels(reported.get(name)), _pixels(container.get(most))
        if value is None or container.get(name) is not None:
            return None
        return int(min(value, LARGEST if bound is None else bound))

    return one("width", "maxWidth"), one("height", "maxHeight")


class SizeFollower:
    """Resizes a frame as its view reports, at most once per animation frame and only on a change."""

    def __init__(self, resize: Callable[[int | None, int | None], None]) -> None:
        """Follow nothing yet.

        Args:
            resize: sets the frame's size.
        """
        self._resize = resize
        self._due: asyncio.Handle | None = None
        self._next: Size = (None, None)
        self._current: Size = (None, None)

    def follow(self, size: Size) -> None:
        """Take note of the size that the frame should have."""
        width, height = size
        self._next = (self._next[0] if width is None else width, self._next[1] if height is None else height)
        if self._due is None and self._next != self._current:
            self._due = asyncio.get_running_loop().call_later(_SECONDS, self._apply)

    def close(self) -> None:
        """Stop."""
        if self._due is not None:
            self._due.cancel()
        self._due = None

    def _apply(self) -> None:
        self._due = None
        if self._next != self._current:
            self._current = self._next
            self._resize(*self._current)


def _pixels(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
