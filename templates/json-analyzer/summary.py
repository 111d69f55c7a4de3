"""The structure of a JSON document: the paths of values, with their types, ranges and examples."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, Field

MAX_ITEMS = 1000
"""How many items of a longer array are examined, evenly spread."""
MAX_KEYS = 60
"""An object with more different keys than this is a map: its keys are data."""
MAX_EXAMPLE = 40
_EXAMPLES = 3
_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)


class Place(BaseModel):
    """All values that one path leads to."""

    path: str = Field(description="JSONPath of the values")
    types: dict[str, int] = Field(description="How many values there are of each JSON type")
    share: float | None = Field(None, description="In what part of the objects around it the key is present, 0 to 1")
    range: list[float | int] | None = Field(None, description="Lowest and highest number")
    lengths: list[int] | None = Field(None, description="Shortest and longest array")
    examples: list[str | int | float] = Field([], description="Some of the values")


class _Shape:
    """What was seen at one path, and below."""

    def __init__(self) -> None:
        self.types: Counter[str] = Counter()
        self.numbers: list[float | int] = []
        self.lengths: list[int] = []
        self.examples: list[str | int | float] = []
        self.keys: dict[str, _Shape] = {}
        self.rest: _Shape | None = None
        self.items: _Shape | None = None

    def add(self, value: Any) -> None:
        kind = json_type(value)
        self.types[kind] += 1
        if kind == "object":
            self._add_object(value)
        elif kind == "array":
            self.lengths = _widened(self.lengths, len(value))
            step = max(1, -(-len(value) // MAX_ITEMS))
            for item in value[::step]:
                self.items = self.items or _Shape()
                self.items.add(item)
        elif kind in ("integer", "number"):
            self.numbers = _widened(self.numbers, value)
            self._example(value)
        elif kind == "string":
            self._example(value if len(value) <= MAX_EXAMPLE else value[: MAX_EXAMPLE - 1] + "…")

    def _add_object(self, value: dict[str, Any]) -> None:
        for key, inner in value.items():
            place = self.keys.get(key)
            if place is None and self.rest is None and len(self.keys) < MAX_KEYS:
                place = self.keys[key] = _Shape()
            elif place is None:
                place = self.rest = self.rest or _Shape()
            place.add(inner)

    def _example(self, value: str | int | float) -> None:
        if len(self.examples) < _EXAMPLES and value not in self.examples:
            self.examples.append(value)

    def merge(self, other: "_Shape") -> None:
        self.types += other.types
        for number in other.numbers:
            self.numbers = _widened(self.numbers, number)
        for length in other.lengths:
            self.lengths = _widened(self.lengths, length)
        for example in other.examples:
            self._example(example)
        for key, inner in other.keys.items():
            self.keys.setdefault(key, _Shape()).merge(inner)
        for name in ("rest", "items"):
            if inner := getattr(other, name):
                setattr(self, name, getattr(self, name) or _Shape())
                getattr(self, name).merge(inner)

    def places(self, path: str, depth: int, share: float | None = None) -> Iterator[Place]:
        yield Place(
            path=path,
            types=dict(self.types.most_common()),
            share=share,
            range=list(self.numbers) or None,
            lengths=list(self.lengths) or None,
            examples=self.examples,
        )
        if depth <= 0:
            return
        objects = self.types["object"]
        if self.rest is not None:
            everything = _Shape()
            for inner in (*self.keys.values(), self.rest):
                everything.merge(inner)
            yield from everything.places(f"{path}.*", depth - 1)
        else:
            for key, inner in self.keys.items():
                present = sum(inner.types.values()) / objects
                yield from inner.places(path + segment(key), depth - 1, None if present == 1 else round(present, 3))
        if self.items is not None:
            yield from self.items.places(f"{path}[*]", depth - 1)


def json_type(value: Any) -> str:
    """Return the JSON Schema type of a parsed value."""
    if isinstance(value, bool):
        return "boolean"
    names = {dict: "object", list: "array", str: "string", int: "integer", float: "number"}
    return names.get(type(value), "null")


def segment(key: str) -> str:
    """Return the JSONPath segment of an object's key, in the shorter form if possible."""
    if _NAME.match(key):
        return f".{key}"
    escaped = (
        key.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    )
    return f"['{escaped}']"


def _widened(span: list[Any], value: Any) -> list[Any]:
    return [min(span[0], value), max(span[1], value)] if span else [value, value]


def summarize(value: Any, path: str, depth: int, limit: int) -> tuple[list[Place], int]:
    """Describe a value.

    Args:
        value: The parsed document, or a part of it.
        path: Its JSONPath.
        depth: How many levels below it are described.
        limit: How many places are returned.

    Returns:
        The places, from the outside in, and how many more there are.
    """
    shape = _Shape()
    shape.add(value)
    places = list(shape.places(path, depth))
    return places[:limit], max(0, len(places) - limit)


def as_line(place: Place) -> str:
    """Return a place as a text for people."""
    total = sum(place.types.values())
    kinds = [f"{kind}" if count == total else f"{count:,} {kind}" for kind, count in place.types.items()]
    parts = [" | ".join(kinds) + (f", {total:,} times" if total > 1 else "")]
    if place.share is not None:
        parts.append(f"in {place.share:.1%} of the objects")
    if place.lengths:
        low, high = place.lengths
        parts.append(f"{low:,} items" if low == high else f"{low:,} to {high:,} items")
    if place.range and place.range[0] != place.range[1]:
        parts.append(f"{place.range[0]} to {place.range[1]}")
    elif place.examples:
        parts.append("e.g. " + ", ".join(repr(example) for example in place.examples))
    return f"{place.path}: {'; '.join(parts)}"
