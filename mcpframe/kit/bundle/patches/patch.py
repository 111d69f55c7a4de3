"""A patch: replaces text of somebody else's file, in all of its places or in none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


class DoesNotApply(Exception):
    """The file does not have the text that a patch replaces."""


@dataclass(frozen=True)
class Patch:
    """One reason to change a file.

    Attributes:
        name: The module that it is in.
        cost: What every start does without it, as a clause.
        apply: Returns the changed file, or raises `DoesNotApply`.
    """

    name: str
    cost: str
    apply: Callable[[bytes], bytes]


def replacing(*changes: tuple[bytes, bytes]) -> Callable[[bytes], bytes]:
    """Return a function that makes all changes to a file; it raises `DoesNotApply` if one is not possible.

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
