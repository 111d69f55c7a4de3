"""Limits large results: matches are searched in slices, so that the page stays responsive, and cut."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")

COUNTING_SECONDS = 2.0
"""How long matches beyond the limit are counted, in seconds."""

MAX_TEXT = 100_000
"""How many characters of values one result may contain."""

_SLICE_SECONDS = 0.02
_ROUND = 200


@dataclass(frozen=True)
class Taken(Generic[T]):
    """The first items of many.

    Attributes:
        items: At most as many as requested.
        count: How many there are.
        complete: False if counting was stopped, so that there are `count` or more.
    """

    items: list[T]
    count: int
    complete: bool

    @property
    def counted(self) -> str:
        """The count as a text for people."""
        more = "" if self.complete else "more than "
        return f"{more}{self.count:,} match{'' if self.count == 1 and self.complete else 'es'}"


async def take(found: Iterator[T | None], limit: int, seconds: float = COUNTING_SECONDS) -> Taken[T]:
    """Take the first `limit` items, and go on counting for `seconds`.

    Args:
        found: The items; None stands for no item yet, and allows a pause.
        limit: How many to return.
        seconds: How long to count the others.
    """
    items: list[T] = []
    count = 0
    deadline: float | None = None
    slice_end = time.monotonic() + _SLICE_SECONDS
    for item in found:
        if item is not None:
            count += 1
            if len(items) < limit:
                items.append(item)
            if count % _ROUND:
                continue
        now = time.monotonic()
        if len(items) == limit:
            deadline = deadline or now + seconds
            if now > deadline:
                return Taken(items, count, complete=False)
        if now > slice_end:
            await asyncio.sleep(0)  # let messages in: other calls, a cancellation
            slice_end = time.monotonic() + _SLICE_SECONDS
    return Taken(items, count, complete=True)


def shown(value: Any, room: int) -> tuple[Any, str, bool]:
    """Return a value with its JSON text, or a description instead if the text is longer than `room`.

    Returns:
        The value, its text, and whether it is whole.
    """
    text = _text_within(value, room)
    if text is not None:
        return value, text, True
    stand_in = f"<{described(value)}: too large to return, ask for a part of it>"
    return stand_in, json.dumps(stand_in, ensure_ascii=False), False


def _text_within(value: Any, room: int) -> str | None:
    # In pieces, so that a match of many megabytes is not serialized in vain.
    parts, length = [], 0
    for part in json.JSONEncoder(ensure_ascii=False).iterencode(value):
        length += len(part)
        if length > room:
            return None
        parts.append(part)
    return "".join(parts)


def described(value: Any) -> str:
    """Return a description of a value."""
    if isinstance(value, dict):
        return f"object with {len(value):,} key{'' if len(value) == 1 else 's'}"
    if isinstance(value, list):
        return f"array of {len(value):,} item{'' if len(value) == 1 else 's'}"
    if isinstance(value, str):
        return f"string of {len(value):,} characters"
    return {bool: "boolean", int: "integer", float: "number"}.get(type(value), "null")
