"""A patch: replaces text of a third-party file, in all of its places or in none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


class DoesNotApply(Exception):
    """The file does not have the text to be replaced."""


@dataclass(frozen=True)
class Patch:
    """One change of a file.

    Attributes:
        name: Its module.
        cost: The extra work of every start without it, as a clause.
        apply: Returns the changed file, or raises `DoesNotApply`.
    """

    name: str
    cost: str
    apply: Callable[[bytes], bytes]


def replacing(*changes: tuple[bytes, bytes]) -> Callable[[bytes], bytes]:
    """Return a function that makes all changes to a file, or raises `DoesNotApply` if one is not possible.

    Args:
        changes: Pairs of the old text, which must be in the file exactly once, and the new text.
    """

    def apply(script: bytes) -> bytes:
        for old, new in changes:
            if script.count(old) != 1:
                raise DoesNotApply
            script = script.replace(old, new)
        return script

    return apply
