"""The messages: how they follow each other, and their fields.

Fields are those of messages that connections sent; which of them are required is found by omitting each.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from docs.generate.docstrings import fenced, table
from docs.generate.talking import FRAME, HOST, Json, messages, sent, talk
from mcpframe.frame.core.allowed_origins import ANY
from mcpframe.frame.core.errors import MalformedMessage
from mcpframe.frame.core.setup import SetupErrorCode, SetupReason
from mcpframe.frame.dialects.sep import roles as sep

_Path = tuple[str | int, ...]


def sequence(phase: str) -> str:
    """Draw the messages of a successful phase."""
    lines = ["sequenceDiagram", "    participant outer as outer frame (host)", "    participant inner as inner frame"]
    origins = {"inner": FRAME, "outer": HOST}
    for side, posted in talk(phase):
        to = "to *" if posted.target_origin == ANY else "to the pinned origin"
        assert posted.target_origin in (ANY, *origins.values())
        other = "inner" if side == "outer" else "outer"
        lines.append(f"    {side}->>{other}: {json.loads(posted.text)['type']} ({to})")
    return fenced("mermaid", lines)


def fields(_: str) -> str:
    """Return every message with its fields: which are sent, which are needed when read, in which documents they are."""
    parts = []
    for kind, message in messages().items():
        side = "inner → outer"
        readers = {role.side: role.readers[kind] for role in sep.ROLES if kind in role.readers}
        if set(readers) == {"inner", "outer"}:
            side = "both ways"
        elif "inner" in readers:
            side = "outer → inner"
        rows = []
        for path in _paths(message):
            name = _spelled(path)
            documents, meaning = _FIELDS[kind, name]
            rows.append([f"`{name}`", documents, _needed(next(iter(readers.values())), message, path), meaning])
        described = table(["field", "in", "needed", "meaning"], rows)
        different = dict.fromkeys(json.dumps(each) for each in sent() if each["type"] == kind)
        blocks = [f"```json\n{json.dumps(json.loads(text), indent=2)}\n```" for text in different]
        parts.append("\n\n".join([f"### {kind}", f"Direction: {side}.", described, "As it is sent:", *blocks]))
    return "\n\n".join(parts)


def _paths(value: Any, path: _Path = ()) -> Iterator[_Path]:
    items = value.items() if isinstance(value, dict) else [(0, value[0])] if isinstance(value, list) and value else []
    for key, item in items:
        inner = (*path, key)
        if key not in ("type", 0):
            yield inner
        if key != "payload" and not (isinstance(item, list) and item and isinstance(item[0], str)):
            yield from _paths(item, inner)


def _spelled(path: _Path) -> str:
    return re.sub(r"\.\[", "[", ".".join("[]" if part == 0 else str(part) for part in path))


def _needed(reader: Any, message: Json, path: _Path) -> str:
    """Return whether a field is required: omit it, alone and together with another one beside it."""
    if not _reads(reader, message, path):
        return "yes"
    beside = [other for other in _paths(message) if other[:-1] == path[:-1] and other != path]
    instead = [
        f"`{other[-1]}`"
        for other in beside
        if _reads(reader, message, other) and not _reads(reader, message, path, other)
    ]
    verb = "is" if len(instead) == 1 else "are"
    return f"unless {' and '.join(instead)} {verb} there" if instead else "no"


def _reads(reader: Any, message: Json, *without: _Path) -> bool:
    data = copy.deepcopy(message)
    for path in without:
        at: Any = data
        for part in path[:-1]:
            at = at[part]
        del at[path[-1]]
    try:
        reader(data)
    except MalformedMessage:
        return False
    return True


_ALL, _AB, _BC = "A, B, C", "A, B", "B, C"
_CODES = f"One of {', '.join(f'`{code}`' for code in SetupErrorCode)}"
_NO_CODE = "Without it `USER_CANCELLED` for the status `cancelled`, else `CONFIG_ERROR`."
_FIELDS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("MCP_SETUP_HANDSHAKE", "protocolVersion"): (_AB, "The version that the inner frame speaks."),
    ("MCP_SETUP_HANDSHAKE", "minProtocolVersion"): ("C", "The oldest version that it speaks; counts with the newest."),
    ("MCP_SETUP_HANDSHAKE", "maxProtocolVersion"): ("C", "The newest version that it speaks; counts with the oldest."),
    ("MCP_SETUP_HANDSHAKE", "requiresVisibleSetup"): (_ALL, "Whether the page needs to be seen for its setup."),
    ("MCP_SETUP_HANDSHAKE", "requestedPermissions"): ("C", "The browser permissions that the page asks for."),
    ("MCP_SETUP_HANDSHAKE", "requestedPermissions[].name"): ("C", "The Permissions Policy feature."),
    ("MCP_SETUP_HANDSHAKE", "requestedPermissions[].phase"): ("C", "The phases it is needed in."),
    ("MCP_SETUP_HANDSHAKE", "requestedPermissions[].required"): ("C", "Whether the page is useless without it."),
    ("MCP_SETUP_HANDSHAKE", "requestedPermissions[].purpose"): ("C", "A sentence for the user."),
    ("MCP_SETUP_HANDSHAKE_REPLY", "sessionId"): (_ALL, "What the page keeps its values under; not empty."),
    ("MCP_SETUP_HANDSHAKE_REPLY", "protocolVersion"): (_ALL, "The version that the outer frame has chosen."),
    ("MCP_SETUP_COMPLETE", "status"): (_ALL, "`success`; every other word is a failure."),
    ("MCP_SETUP_COMPLETE", "serverTitle"): ("A", "The name of what was set up. Empty without it."),
    ("MCP_SETUP_COMPLETE", "displayName"): (_BC, "The same."),
    ("MCP_SETUP_COMPLETE", "transportVisibility"): (_ALL, "Whether the page is to be seen."),
    ("MCP_SETUP_COMPLETE", "transportVisibility.requirement"): (
        _ALL,
        "`required`, `optional` or `hidden`, which is the default.",
    ),
    ("MCP_SETUP_COMPLETE", "transportVisibility.optionalMessage"): ("A", "What the user gains from seeing it."),
    ("MCP_SETUP_COMPLETE", "transportVisibility.description"): (_BC, "The same."),
    ("MCP_SETUP_COMPLETE", "ephemeralMessage"): (_ALL, "A short notice for the user."),
    ("MCP_SETUP_COMPLETE", "error"): (_ALL, "Why it failed; a text is the sentence alone."),
    ("MCP_SETUP_COMPLETE", "error.code"): (_ALL, f"{_CODES}; another text is handed on as it is. {_NO_CODE}"),
    ("MCP_SETUP_COMPLETE", "error.message"): (_ALL, "A sentence for a person."),
    ("MCP_TRANSPORT_HANDSHAKE", "protocolVersion"): (_ALL, "The version that the inner frame speaks."),
    ("MCP_TRANSPORT_HANDSHAKE_REPLY", "sessionId"): (
        _ALL,
        "The id of the session; that of the setup, where there was one.",
    ),
    ("MCP_TRANSPORT_HANDSHAKE_REPLY", "protocolVersion"): (_ALL, "The version that the outer frame has chosen."),
    ("MCP_TRANSPORT_ACCEPTED", "sessionId"): (_ALL, "The id, given back; another one is refused."),
    ("MCP_SETUP_REQUIRED", "reason"): (_ALL, f"One of {', '.join(f'`{reason}`' for reason in SetupReason)}."),
    ("MCP_SETUP_REQUIRED", "message"): (_ALL, "A sentence for the user."),
    ("MCP_SETUP_REQUIRED", "canContinue"): (_ALL, "Whether the session works until then."),
    ("MCP_MESSAGE", "payload"): (_ALL, "A JSON-RPC 2.0 message: an object, not text."),
}
