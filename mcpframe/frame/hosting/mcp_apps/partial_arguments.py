"""Streamed arguments of a tool: a host sends them to a view while a model is still writing them.

A model writes JSON text. A host closes the open strings and brackets of the text so far, and sends the view the object:
SEP-1865 calls it healed JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import from_json

from mcpframe.frame.core.payload import well_formed


def partial_arguments(arguments: Mapping[str, Any], steps: int = 8) -> Iterator[dict[str, Any]]:
    """Yield the partial objects that a view gets while arguments are written, from the first member on, each once.

    Args:
        arguments: the complete arguments, which are not yielded.
        steps: the number of pieces in which the text arrives.
    """
    text = well_formed(json.dumps(arguments, ensure_ascii=False))
    seen: Any = {}
    for step in range(1, steps):
        healed = heal(text[: len(text) * step // steps])
        if healed not in (seen, arguments):
            seen = healed
            yield healed


def heal(text: str) -> Any:
    """Return the value of the beginning of a JSON text: open strings and brackets are closed, unfinished words omitted.

    Args:
        text: the beginning of a valid JSON object or array.
    """
    return from_json(text, allow_partial="trailing-strings") if text else {}
