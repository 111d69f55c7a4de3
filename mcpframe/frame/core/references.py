"""References within a JSON Schema, for forms, samples and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

_MOST_DIGITS = 9


def resolve_reference(reference: object, root: object) -> Any:
    """Return the part of a JSON document that a reference leads to; None if there is none, or in another document.

    Args:
        reference: the value of `$ref`: `#`, or a JSON pointer behind it (RFC 6901, section 6).
        root: the document.
    """
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    part: Any = root
    for step in unquote(reference).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(part, list):
            is_index = key.isdecimal() and len(key) <= _MOST_DIGITS and int(key) < len(part)
            part = part[int(key)] if is_index else None
        else:
            part = part.get(key) if isinstance(part, Mapping) else None
    return part
