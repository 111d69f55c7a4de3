"""Messages with one thing wrong: for every type and every field, what is not a message of that type any more.

`damaged` returns the lines of the matrix: those of the vectors, and what no message may be.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from tests.hostile.values import nested
from tests.support.sep import MESSAGES
from tests.vectors.cases import expanded
from tests.vectors.generate.sep_fields import messages_of
from tests.vectors.generate.sep_payload import malformed_payloads

LARGEST = 100_000
"""The limit of a message's bytes that the lines about size are made for (`max_message_bytes`)."""

_PERMISSIONS = [{"name": "fullscreen", "phase": ["setup"], "required": False, "purpose": "See more"}]


def example(kind: str) -> dict[str, Any]:
    """Return a good message of this type with every field in it."""
    message = copy.deepcopy(MESSAGES[kind])
    if kind == "MCP_SETUP_HANDSHAKE":
        message["requestedPermissions"] = copy.deepcopy(_PERMISSIONS)
    if kind == "MCP_MESSAGE":
        message["payload"]["params"] = {}
    return message


def damaged(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return every damaged message of a type, each with the name of its line."""
    for name, message in _malformed(kind):
        yield f"{kind}: {name}", json.loads(expanded(json.dumps(message)))
    yield f"{kind}: too deep", example(kind) | {"filling": nested(200)}
    yield f"{kind}: too large", example(kind) | {"filling": "x" * LARGEST}
    yield f"{kind}: __proto__", example(kind) | {"__proto__": {"polluted": True}}
    yield f"{kind}: __proto__, deep", example(kind) | {"more": [{"__proto__": None}]}
    yield f"{kind}: constructor.prototype", example(kind) | {"constructor": {"prototype": {"polluted": True}}}


def _malformed(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if kind == "MCP_MESSAGE":
        return malformed_payloads()
    return ((name, message) for name, message, is_valid in messages_of(kind) if not is_valid)
