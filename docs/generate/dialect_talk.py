"""Two connections of a dialect that talk to each other: every message of the drawings is one that they have posted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from docs.generate.docstrings import fenced
from docs.generate.wire_names import named
from mcpframe.frame.core.allowed_origins import ANY, parse_allowed_origins
from mcpframe.frame.core.connection import Candidate, Connection
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.events import Inbound, Output, Refused, Send
from mcpframe.frame.core.roles import State
from mcpframe.frame.dialects.complete import complete_dialects
from mcpframe.frame.dialects.mcp_ui.further_roles import EmbedderOffer

Json = dict[str, Any]

_HOST, _FRAME = "https://chat.example", "https://tools.example"
_ORIGINS = {"inner": _FRAME, "outer": _HOST}
_NAMES = {
    "mcp_apps": ("host", "view"),
    "mcp_ui": ("host", "framed page"),
    "mcp_b": ("client", "page server"),
    "plain_mcp": ("client", "framed server"),
}
_CALL: Json = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}}
_INITIALIZE: Json = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "chat", "version": "1.0"},
    },
}
_SERVER: Json = {
    "jsonrpc": "2.0",
    "id": 0,
    "result": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "adder", "version": "1.0"},
    },
}
_RESULT: Json = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "1"}]}}
_TOOL: Json = {
    "jsonrpc": "2.0",
    "id": "mcpframe/1",
    "method": "tool",
    "params": {"toolName": "add", "params": {"a": 1}},
}
_SCRIPTS: dict[str, list[tuple[str, Json | None]]] = {
    "mcp_apps": [
        ("outer", {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {"arguments": {"a": 1}}}),
        ("inner", _CALL),
        ("outer", _RESULT),
    ],
    "mcp_ui": [
        ("inner", _TOOL),
        ("outer", {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "mcpframe/1"}}),
        ("outer", {"jsonrpc": "2.0", "id": "mcpframe/1", "result": {"response": {"sum": 1}}}),
    ],
    "mcp_b": [("outer", _CALL), ("inner", _RESULT), ("inner", None)],
    "plain_mcp": [("outer", _INITIALIZE), ("inner", _SERVER)],
}
"""What each side sends once the connection is open; None closes it."""


@dataclass
class _Pair:
    """Both ends, and what is still to be heard."""

    ends: dict[str, Connection]
    waiting: list[tuple[str, Output]] = field(default_factory=list)

    def drain(self) -> Iterator[tuple[str, Send]]:
        while self.waiting:
            side, output = self.waiting.pop(0)
            assert not isinstance(output, Refused), output
            if isinstance(output, Send):
                yield side, output
                other = "outer" if side == "inner" else "inner"
                heard = self.ends[other].receive(Inbound(_ORIGINS[side], True, output.text.__str__), 0.0)
                self.waiting += [(other, answer) for answer in heard]


def talk(name: str) -> Iterator[tuple[str, Send]]:
    """Run both sides of a dialect through a session; return the messages of each."""
    (spoken,) = (each for each in complete_dialects() if each.name == name)
    offer = EmbedderOffer(origin=_FRAME, data={"theme": "dark"}) if name == "mcp_ui" else None
    page = spoken.page_offer(name="adder", version="1.0")
    pair = _Pair(
        {
            "outer": Connection([Candidate(spoken.outer[TRANSPORT], parse_allowed_origins([_FRAME]), offer)]),
            "inner": Connection([Candidate(spoken.inner[TRANSPORT], parse_allowed_origins([_HOST]), page)]),
        }
    )
    for side in ("outer", "inner"):
        pair.waiting += [(side, output) for output in pair.ends[side].start(0.0)]
    yield from pair.drain()
    if pair.ends["outer"].state is State.AWAITING:  # a host that has to find out whether its page listens
        pair.waiting += [("outer", output) for output in pair.ends["outer"].tick(2.0)]
        yield from pair.drain()
    for side, message in _SCRIPTS[name]:
        end = pair.ends[side]
        outputs = end.close(0.0) if message is None else end.send(json.dumps(message), message, 0.0)
        pair.waiting += [(side, output) for output in outputs]
        yield from pair.drain()


def sequence(name: str) -> str:
    """Draw the messages of a session."""
    outer, inner = _NAMES[name]
    lines = ["sequenceDiagram", f"    participant outer as {outer}", f"    participant inner as {inner}"]
    for side, posted in talk(name):
        to = "to *" if posted.target_origin == ANY else "to the pinned origin"
        other = "inner" if side == "outer" else "outer"
        lines.append(f"    {side}->>{other}: {named(json.loads(posted.text), name)} ({to})")
    return fenced("mermaid", lines)


def sent(name: str) -> str:
    """Return each message of that session, as it is posted."""
    outer, inner = _NAMES[name]
    parts: list[str] = []
    for side, posted in talk(name):
        message = json.loads(posted.text)
        arrow = f"{outer} → {inner}" if side == "outer" else f"{inner} → {outer}"
        part = f"`{named(message, name)}`, {arrow}:\n\n```json\n{json.dumps(message, indent=2)}\n```"
        if part not in parts:
            parts.append(part)
    return "\n\n".join(parts)
