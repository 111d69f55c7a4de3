"""JSON values: a mark for a missing one, and equality."""

from __future__ import annotations

from typing import Any, Final


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final[Any] = _Missing()
"""No value."""


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal: true is not 1, but 1.0 is."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


def identity(value: Any) -> Any:
    """Return a hashable key, the same for equal values."""
    if isinstance(value, list):
        return ("list", *map(identity, value))
    if isinstance(value, dict):
        return ("dict", frozenset((key, identity(part)) for key, part in value.items()))
    return (isinstance(value, bool), value)
