"""Messages with one thing wrong: for every type and every field, what is not a message of that type any more.

A field is named by its path; `FIELDS` says of each what it has to be. `damaged` gives the lines of the matrix.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tests.hostile.values import nested
from tests.support.sep import MESSAGES

LARGEST = 100_000
"""The limit of a message's bytes that the lines about size are made for (`max_message_bytes`)."""

_WRONG: dict[str, list[Any]] = {
    "text": [7, True, [], {}, "x" * 5000],
    "name": [7, True, [], {}],
    "flag": [1, "true", [], {}],
    "list": [7, "x", {}],
    "object": [7, "x", []],
    "word": [7, "NONE", "", [], {}],
    "version": [1.0, "one", "1", "1.x", "", ".", [], {}],
    "id": [{}, [], 1.5, True],
    "rpc": ["1.0", 2.0, "2", [], {}],
    "method": [7, [], {}, True],
}

Fields = dict[tuple[str | int, ...], tuple[str, bool]]

FIELDS: dict[str, Fields] = {
    "MCP_SETUP_HANDSHAKE": {
        ("protocolVersion",): ("version", True),
        ("requiresVisibleSetup",): ("flag", True),
        ("requestedPermissions",): ("list", False),
        ("requestedPermissions", 0): ("object", True),
        ("requestedPermissions", 0, "name"): ("text", True),
        ("requestedPermissions", 0, "phase"): ("list", False),
        ("requestedPermissions", 0, "phase", 0): ("name", True),
        ("requestedPermissions", 0, "required"): ("flag", False),
        ("requestedPermissions", 0, "purpose"): ("text", False),
    },
    "MCP_SETUP_HANDSHAKE_REPLY": {("sessionId",): ("text", True), ("protocolVersion",): ("version", True)},
    "MCP_SETUP_COMPLETE": {
        ("status",): ("text", True),  # everything else has a default: see tests/vectors/sep
    },
    "MCP_TRANSPORT_HANDSHAKE": {("protocolVersion",): ("version", True)},
    "MCP_TRANSPORT_HANDSHAKE_REPLY": {("sessionId",): ("text", True), ("protocolVersion",): ("version", True)},
    "MCP_TRANSPORT_ACCEPTED": {("sessionId",): ("text", True)},
    "MCP_SETUP_REQUIRED": {
        ("reason",): ("word", True),
        ("message",): ("text", True),
        ("canContinue",): ("flag", True),
    },
    "MCP_MESSAGE": {
        ("payload",): ("object", True),
        ("payload", "jsonrpc"): ("rpc", True),
        ("payload", "id"): ("id", False),
        ("payload", "method"): ("method", True),
        ("payload", "params"): ("object", False),
    },
}

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
    for path, (sort, required) in FIELDS[kind].items():
        name = f"{kind}: {'.'.join(map(str, path))}"
        if required and not isinstance(path[-1], int):
            yield f"{name} missing", _changed(kind, path, remove=True)
        if required:
            yield f"{name} null", _changed(kind, path, None)
        for value in _WRONG[sort]:
            shown = "endless" if isinstance(value, str) and len(value) > 100 else repr(value)
            yield f"{name} {shown}", _changed(kind, path, value)
    yield f"{kind}: too deep", example(kind) | {"filling": nested(200)}
    yield f"{kind}: too large", example(kind) | {"filling": "x" * LARGEST}
    yield f"{kind}: __proto__", example(kind) | {"__proto__": {"polluted": True}}
    yield f"{kind}: __proto__, deep", example(kind) | {"more": [{"__proto__": None}]}
    yield f"{kind}: constructor.prototype", example(kind) | {"constructor": {"prototype": {"polluted": True}}}


def _changed(kind: str, path: tuple[str | int, ...], value: Any = None, *, remove: bool = False) -> dict[str, Any]:
    message = example(kind)
    place: Any = message
    for step in path[:-1]:
        place = place[step]
    if remove:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return message
