"""Results that may be millions: found in slices, so that the page stays alive, and cut to what a client can read."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")

COUNTING_SECONDS = 2.0
"""How long matches beyond the limit are counted."""

MAX_TEXT = 100_000
"""How many characters of values one result carries."""

_SLICE_SECONDS = 0.02
_ROUND = 200


@dataclass(frozen=True)
class Taken(Generic[T]):
    """The first of many.

    Attributes:
        items: As many as were asked for.
        count: How many there are.
        complete: False where counting was stopped, so that there are `count` or more.
    """

    items: list[T]
    count: int
    complete: bool

    @property
    def counted(self) -> str:
        """The count for people."""
        more = "" if self.complete else "more than "
        return f"{more}{self.count:,} match{'' if self.count == 1 and self.complete else 'es'}"


async def take(found: Iterator[T | None], limit: int, seconds: float = COUNTING_SECONDS) -> Taken[T]:
    """Take the first `limit` items, and go on counting for `seconds`.

    Args:
        found: The items; None is none yet, and a good moment for a pause.
        limit: How many are wanted.
        seconds: How long the others are counted.
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
    """A value as it is returned: itself and its JSON text, or where that is longer than `room` what it is instead.

    Returns:
        The value, its text, and whether it is whole.
    """
    text = _text_within(value, room)
    if text is not None:
        return value, text, True
    stand_in = f"<{described(value)}: too large to return, ask for a part of it>"
    return stand_in, json.dumps(stand_in, ensure_ascii=False), False


def _text_within(value: Any, room: int) -> str | None:
    # In pieces, so that a match of many megabytes is not written out only to be thrown away.
    parts, length = [], 0
    for part in json.JSONEncoder(ensure_ascii=False).iterencode(value):
        length += len(part)
        if length > room:
            return None
        parts.append(part)
    return "".join(parts)


def described(value: Any) -> str:
    """What a value is, in words."""
    if isinstance(value, dict):
        return f"object with {len(value):,} key{'' if len(value) == 1 else 's'}"
    if isinstance(value, list):
        return f"array of {len(value):,} item{'' if len(value) == 1 else 's'}"
    if isinstance(value, str):
        return f"string of {len(value):,} characters"
    return {bool: "boolean", int: "integer", float: "number"}.get(type(value), "null")
