"""Arguments of a tool as they stream: what a host sends a view while a model is still writing them.

A model writes JSON text. A host closes what is open in the text so far, and sends the view the object:
SEP-1865 calls it healed JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def partial_arguments(arguments: Mapping[str, Any], steps: int = 8) -> Iterator[dict[str, Any]]:
    """Yield what a view sees of arguments while they are written, from the first member on, without repetitions.

    Args:
        arguments: The complete arguments. They themselves are not yielded.
        steps: In how many pieces the text arrives.
    """
    text = json.dumps(arguments, ensure_ascii=False)
    seen: Any = {}
    for step in range(1, steps):
        healed = heal(text[: len(text) * step // steps])
        if healed not in (seen, arguments):
            seen = healed
            yield healed


def heal(text: str) -> Any:
    """Return the value of the beginning of a JSON text: open strings and brackets are closed, unfinished words omitted.

    Args:
        text: The beginning of a valid JSON object or array.
    """
    for end in range(len(text), 0, -1):
        closing = _closing(text[:end])
        for filling in ("", '"'):
            try:
                return json.loads(text[:end] + filling + closing)
            except ValueError:
                continue
    return {}


def _closing(text: str) -> str:
    """Return the brackets that are open at the end of a text, closed."""
    stack: list[str] = []
    quoted = escaped = False
    for character in text:
        if quoted:
            quoted = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in "{[":
            stack.append("}" if character == "{" else "]")
        elif character in "}]":
            stack.pop()
    return "".join(reversed(stack))
