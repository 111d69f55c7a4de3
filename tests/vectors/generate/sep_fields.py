"""Every field of every message: missing, null, of another type, empty, as long as allowed, longer, with more beside it.

A field is named by its path. Its kind says which values are right and which are wrong; whatever is right is read.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tests.vectors.cases import expanded
from tests.vectors.generate.sep_rules import PERMISSION, RULES, SESSION, effect, example, refusal
from tests.vectors.generate.writing import Table

LONG, TOO_LONG = "<<x*4096>>", "<<x*4097>>"
PAIRS, TOO_MANY_PAIRS = "<<\N{GRINNING FACE}*2048>>", "<<\N{GRINNING FACE}*2049>>"
REPEATED = {short: expanded(short) for short in (LONG, TOO_LONG, PAIRS, TOO_MANY_PAIRS)}
TEXTS = ["", LONG, PAIRS, "\x00", "constructor", "__proto__", "<script>"]
NO_TEXTS: list[Any] = [0, 7, True, False, [], {}, ["x"], TOO_LONG, TOO_MANY_PAIRS]

RIGHT: dict[str, list[Any]] = {
    "version": ["1.0", "01.00", "000001.000000", "2.0", "0.9", "1.1", "1.10", "1.999999", "999999.0"],
    "flag": [True, False],
    "text": TEXTS,
    "id": [text for text in TEXTS if text],
    "word": ["AUTH_EXPIRED", "CONFIG_CHANGED", "PERMISSIONS_CHANGED", "OTHER"],
    "permissions": [[], [PERMISSION, PERMISSION], [{"name": ""}], [{"name": "camera", "required": True}]],
    "phases": [[], ["setup"], ["transport", "setup"], ["", "another"], ["setup", "setup"]],
    "lenient": [],
}
WRONG: dict[str, list[Any]] = {
    "version": [
        *("", ".", "1", "1.", ".0", "1.x", "one", "1.0.0", "v1.0", " 1.0", "1.0 ", "1.0\n", "-1.0", "+1.0", "1,0"),
        *("1e0.0", "1.-0", "0x1.0", "\u0661.\u0660", "\uff11.\uff10", "0000001.0", "1.0000000", "<<1*5000>>.0"),
        *(1, 1.5, True, False, [], {}, ["1.0"]),
    ],
    "flag": [0, 1, "true", "false", "", [], {}],
    "text": NO_TEXTS,
    "id": ["", *NO_TEXTS],
    "word": ["", "auth_expired", "BECAUSE", "OTHER ", "__proto__", *NO_TEXTS],
    "permissions": ["camera", "", 7, True, {}, [None], ["camera"], [[]], [7], [{}], [PERMISSION, {}]],
    "phases": ["setup", "", 7, True, {}, [None], [7], [["setup"]], ["setup", {}]],
    "lenient": [],
}
ANYTHING: list[Any] = [*TEXTS, *NO_TEXTS, None]

Path = tuple[str | int, ...]
FIELDS: dict[str, dict[Path, tuple[str, bool]]] = {
    "MCP_SETUP_HANDSHAKE": {
        ("protocolVersion",): ("version", True),
        ("requiresVisibleSetup",): ("flag", True),
        ("requestedPermissions",): ("permissions", False),
        ("requestedPermissions", 0, "name"): ("text", True),
        ("requestedPermissions", 0, "phase"): ("phases", False),
        ("requestedPermissions", 0, "required"): ("flag", False),
        ("requestedPermissions", 0, "purpose"): ("text", False),
    },
    "MCP_SETUP_HANDSHAKE_REPLY": {("sessionId",): ("id", True), ("protocolVersion",): ("version", True)},
    "MCP_SETUP_COMPLETE": {
        ("status",): ("text", True),
        ("serverTitle",): ("lenient", False),
        ("displayName",): ("lenient", False),
        ("ephemeralMessage",): ("lenient", False),
        ("transportVisibility",): ("lenient", False),
        ("transportVisibility", "requirement"): ("lenient", False),
        ("transportVisibility", "optionalMessage"): ("lenient", False),
        ("transportVisibility", "description"): ("lenient", False),
        ("error",): ("lenient", False),
        ("error", "code"): ("lenient", False),
        ("error", "message"): ("lenient", False),
    },
    "MCP_TRANSPORT_HANDSHAKE": {("protocolVersion",): ("version", True)},
    "MCP_TRANSPORT_HANDSHAKE_REPLY": {("sessionId",): ("id", True), ("protocolVersion",): ("version", True)},
    "MCP_TRANSPORT_ACCEPTED": {("sessionId",): ("id", True)},
    "MCP_SETUP_REQUIRED": {
        ("reason",): ("word", True),
        ("message",): ("text", True),
        ("canContinue",): ("flag", True),
    },
}
"""The kind of each field, and whether it is needed; those of `MCP_MESSAGE` are in `sep_payload.py`."""

RANGES: list[tuple[Any, Any, bool]] = [
    ("1.0", "1.0", True),
    ("0.9", "1.10", True),
    ("1.0", "999999.999999", True),
    ("0.0", "1.0", True),
    ("1.1", "1.10", True),
    ("0.2", "0.10", True),
    ("1.1", "0.9", True),
    ("2.0", "1.0", True),
    ("1.0", "one", False),
    ("", "1.0", False),
    (1, 2, False),
    ([], "1.0", False),
    ("1.0", {}, False),
]
"""The oldest and the newest version, and whether both are versions."""


def tables() -> Iterator[tuple[str, Table]]:
    """Return the files of this part, each with its name."""
    about = "Every field: missing, null, of another type, empty, long, too long. Generated: do not edit."
    for kind in FIELDS:
        cases = [case for role, state in _where(kind) for case in _cases(kind, role, state)]
        name = f"fields_{kind.removeprefix('MCP_').lower()}"
        yield name, {"about": about, "generated": True, "cases": cases}


def _where(kind: str) -> list[tuple[str, str]]:
    """Return every state in which a role has a rule for a message."""
    return [(role, state) for role, states in RULES.items() for state, rules in states.items() if kind in rules]


def _cases(kind: str, role: str, state: str) -> Iterator[dict[str, Any]]:
    for name, message, is_valid in messages_of(kind):
        outcome, following = (
            effect(role, state, _unfolded(message)) if is_valid else refusal(role, state, kind, "MalformedMessage")
        )
        case = {"role": role, "state": state, "message": message, "outcome": _folded(outcome), "next": following}
        yield {"name": f"{role}, {state}: {name}", **case}


def messages_of(kind: str) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Return messages with one thing changed, and whether each is valid."""
    base = complete(kind)
    yield "complete", base, True
    yield "with members that nobody knows", {**base, "more": {"deep": [1]}, "id": 7, "": None}, True
    yield "members in another order", dict(reversed(base.items())), True
    yield "with a payload", {**base, "payload": {"jsonrpc": "2.0", "id": 7, "method": "m"}}, True
    yield "nothing but the type", {"type": kind}, not any(needed for _, needed in FIELDS[kind].values())
    for path, (sort, needed) in FIELDS[kind].items():
        name = ".".join(map(str, path))
        yield f"{name} missing", changed(base, path, remove=True), not needed
        yield f"{name} null", changed(base, path, None), not needed
        for value in ANYTHING if sort == "lenient" else RIGHT[sort]:
            yield f"{name} {value!r}", changed(base, path, value), True
        for value in WRONG[sort]:
            yield f"{name} {value!r}", changed(base, path, value), False
    if kind.endswith("HANDSHAKE"):
        yield from _ranges(base)


def _ranges(base: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], bool]]:
    bare = {key: value for key, value in base.items() if key != "protocolVersion"}
    for low, high, is_valid in RANGES:
        span = {"minProtocolVersion": low, "maxProtocolVersion": high}
        yield f"from {low!r} to {high!r}", {**bare, **span}, is_valid
        yield f"from {low!r} to {high!r}, and 1.0", {**base, **span}, is_valid
    for name in ("minProtocolVersion", "maxProtocolVersion"):
        yield f"{name} alone", {**bare, name: "1.0"}, False
        for value in ("5.0", None, 7):
            yield f"{name} {value!r} beside 1.0", {**base, name: value}, True


def complete(kind: str) -> dict[str, Any]:
    """Return a message with every field that is looked at."""
    message = copy.deepcopy(example(kind))
    if kind == "MCP_SETUP_HANDSHAKE":
        message["requestedPermissions"] = [copy.deepcopy(PERMISSION)]
    if kind == "MCP_SETUP_COMPLETE":
        message |= {"status": "error", "error": {"code": "TIMEOUT", "message": "Late"}, "displayName": "Circle"}
        message["transportVisibility"]["description"] = "See the circle"
    if kind == "MCP_TRANSPORT_ACCEPTED":
        message["sessionId"] = SESSION
    return message


def changed(base: dict[str, Any], path: Path, value: Any = None, *, remove: bool = False) -> dict[str, Any]:
    """Return a message with one field changed or removed."""
    message = copy.deepcopy(base)
    place: Any = message
    for step in path[:-1]:
        place = place[step]
    if remove:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return message


def _unfolded(value: Any) -> Any:
    """Return a message as it is read from the file, with its long texts."""
    if isinstance(value, dict):
        return {_unfolded(key): _unfolded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_unfolded(item) for item in value]
    return REPEATED.get(value, value) if isinstance(value, str) else value


def _folded(value: Any) -> Any:
    """Return an outcome as it is written to the file, with its long texts short."""
    if isinstance(value, dict):
        return {key: _folded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_folded(item) for item in value]
    return next((short for short, long in REPEATED.items() if value == long), value)
