"""The protocol's tables and diagrams, from the tables that the connections follow (`frame/protocols/sep.py`).

What a rule does is not read off its code: a connection is put into the rule's state and does it. So it is with the
messages: their fields are those of messages that connections sent, and which of them are needed is found out by leaving
each away.
"""

from __future__ import annotations

import copy
import inspect
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any, get_args

from docs.generate.docstrings import attributes, summary, table
from mcpframe.frame.connection import Connection
from mcpframe.frame.errors import MalformedMessage
from mcpframe.frame.events import (
    Closed,
    Event,
    Inbound,
    Output,
    Permission,
    Refused,
    Send,
    SetupErrorCode,
    SetupReason,
    SetupRequired,
    SetupResult,
    Visibility,
)
from mcpframe.frame.origins import ANY, parse_allowed_origins
from mcpframe.frame.protocols import sep
from mcpframe.frame.roles import Local, Message, Options, Role, Rule, State

Json = dict[str, Any]

_HOST, _FRAME, _SESSION = "https://chat.example", "https://tools.example", "5f0c1a52-2f0e-4a55-9d0e-6c1f3f7f6a10"
_ROLES = {f"{role.side} {role.phase}": role for role in sep.ROLES}
_PERMISSION = Permission("clipboard-read", ("setup",), True, "Paste a table")
_REQUEST: Json = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
_REQUIRED = SetupRequired(SetupReason.AUTH_EXPIRED, "Sign in again.", False)
_DONE = SetupResult("Notes", Visibility.OPTIONAL, "Shows the notes.", "Ready")
_FAILED = SetupResult("Notes", error_code=SetupErrorCode.AUTH_FAILED, error_message="The key is wrong.")

_GUARDS = {
    "_speaks_ours": "it speaks our version",
    "_same_session": "it names this session",
    "_asks_undecided": "it asks for permissions that the host has not decided on",
}
_LOCALS = {
    Local.START: "start",
    Local.REPEAT: "the repetition is due",
    Local.DEADLINE: "the deadline has passed",
    Local.COMPLETE_SETUP: "the page completes its setup",
    Local.REQUIRE_SETUP: "the page asks for its setup again",
    Local.SEND: "an MCP message is to be sent",
    Local.PEER_REPLACED: "another document is in the peer's window",
    Local.PEER_REMOVED: "the peer's window is gone",
    Local.CLOSE: "close",
}
_HOST_JS = Path(__file__).resolve().parents[2] / "static" / "host.js"


# Connections that talk to each other


def _connection(role: Role) -> Connection:
    facts = {"requires_visible_setup": True, "permissions": (_PERMISSION,)}
    peer = _FRAME if role.side == "outer" else _HOST
    session = _SESSION if role.side == "outer" else ""
    return Connection(role, parse_allowed_origins([peer]), session_id=session, facts=facts)


def _talk(phase: str, result: SetupResult = _DONE) -> Iterator[tuple[str, Send]]:
    """Let an inner and an outer connection go through a phase; give what each sends."""
    ends = {side: _connection(_ROLES[f"{side} {phase}"]) for side in ("inner", "outer")}
    origins = {"inner": _FRAME, "outer": _HOST}
    others = {"inner": "outer", "outer": "inner"}
    ends["outer"].start(0.0)
    waiting = [("inner", output) for output in ends["inner"].start(0.0)]
    final = {
        "setup": [("inner", lambda: ends["inner"].complete_setup(result, 0.0))],
        "transport": [
            ("outer", lambda: ends["outer"].send(json.dumps(_REQUEST), _REQUEST, 0.0)),
            ("inner", lambda: ends["inner"].require_setup(_REQUIRED, 0.0)),
        ],
    }[phase]
    while waiting or final:
        if not waiting:
            side, act = final.pop(0)
            waiting = [(side, output) for output in act()]
            continue
        side, output = waiting.pop(0)
        if isinstance(output, Send):
            yield side, output
            text, origin = output.text, origins[side]
            heard = ends[others[side]].receive(Inbound(origin, True, lambda text=text: text), 0.0)  # type: ignore[misc]
            waiting += [(others[side], answer) for answer in heard]
        assert not isinstance(output, Refused), output


def _messages() -> dict[str, Json]:
    """Give one message of each type, with every field that is ever sent, in the order of the phases."""
    found: dict[str, Json] = {}
    for message in _sent():
        found[message["type"]] = message | found.get(message["type"], {})
    return found


def _sent() -> list[Json]:
    """Give what is sent in phases that go well, and in a setup that fails."""
    return [json.loads(sent.text) for _, sent in (*_talk("setup"), *_talk("setup", _FAILED), *_talk("transport"))]


# What is generated


def sequence(phase: str) -> str:
    """Draw what is posted in a phase that goes well."""
    lines = ["sequenceDiagram", "    participant outer as outer frame (host)", "    participant inner as inner frame"]
    origins = {"inner": _FRAME, "outer": _HOST}
    for side, sent in _talk(phase):
        to = "to *" if sent.target_origin == ANY else "to the pinned origin"
        assert sent.target_origin in (ANY, *origins.values())
        other = "inner" if side == "outer" else "outer"
        lines.append(f"    {side}->>{other}: {json.loads(sent.text)['type']} ({to})")
    return _fenced(lines)


def diagram(name: str) -> str:
    """Draw the states of a role, such as `inner setup`, and the rules between them."""
    role = _ROLES[name]
    alias = {state: state.value.replace(" ", "_") for state in _states(role)}
    lines = ["stateDiagram-v2", f"    [*] --> {alias[State.IDLE]}"]
    lines += [f'    state "{state}" as {short}' for state, short in alias.items() if short != state]
    arrows: dict[tuple[State, State], list[str]] = {}
    for rule in role.rules:
        if rule.trigger in (Local.CLOSE, Local.PEER_REMOVED) or (rule.state is rule.to and isinstance(rule.trigger, Local)):
            continue  # the same everywhere, or nothing to see
        label = rule.trigger if rule.trigger in role.readers else str(Local(rule.trigger))
        if rule.to is State.CLOSED and rule.trigger in role.readers and rule.action is not None:
            label = f"{label} ({_ending(role, rule)})"
        arrows.setdefault((rule.state, rule.to), []).append(label)
    lines += [f"    {alias[a]} --> {alias[b]}: {' / '.join(labels)}" for (a, b), labels in arrows.items()]
    return _fenced([*lines, f"    {alias[State.CLOSED]} --> [*]"])


def transitions(name: str) -> str:
    """Give every rule of a role as a line of a table."""
    role = _ROLES[name]
    rows = []
    guarded: set[tuple[State, str]] = set()
    for rule in role.rules:
        key = (rule.state, rule.trigger)
        condition = _GUARDS[rule.guard.__name__] if rule.guard else "otherwise" if key in guarded else ""
        if rule.guard:
            guarded.add(key)
        what = f"`{rule.trigger}`" if rule.trigger in role.readers else _LOCALS[Local(rule.trigger)]
        rows.append([str(rule.state), what + (f", {condition}" if condition else ""), str(rule.to), _done(role, rule)])
    return table(["state", "what happens", "next state", "what is sent and told"], rows)


def states(_: str) -> str:
    """Say what each state means, and who knows it."""
    text = _below_members(State)
    rows = [
        [str(state), text[state.name], ", ".join(name for name, role in _ROLES.items() if state in _states(role))]
        for state in State
    ]
    return table(["state", "meaning", "roles"], rows)


def events(_: str) -> str:
    """Say what a connection tells its session."""
    rows = []
    for kind in get_args(Event):
        meanings = attributes(kind)
        carried = "; ".join(_carried(field.name, meanings.get(field.name)) for field in fields_of(kind))
        rows.append([f"`{kind.__name__}`", summary(kind), carried])
    return table(["event", "meaning", "carries"], rows)


def fields(_: str) -> str:
    """Give every message with its fields: which are sent, which are needed when read, in which documents they are."""
    parts = []
    for kind, message in _messages().items():
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
        different = dict.fromkeys(json.dumps(sent) for sent in _sent() if sent["type"] == kind)
        blocks = [f"```json\n{json.dumps(json.loads(sent), indent=2)}\n```" for sent in different]
        parts.append("\n\n".join([f"### {kind}", f"Direction: {side}.", described, "As it is sent:", *blocks]))
    return "\n\n".join(parts)


def deadlines(_: str) -> str:
    """Give the deadlines and limits with their defaults, in Python and in host.js."""
    meanings = attributes(Options)
    bounds: dict[str, list[str]] = {}
    for name, role in _ROLES.items():
        for state, option in role.waits.items():
            bounds.setdefault(option, []).append(f"{name}, {state}")
    rows = [
        [
            f"`{field.name}`",
            shown_default(field.name),
            _host_js(field.name),
            "; ".join(bounds.get(field.name, [])),
            sentence(meanings[field.name]),
        ]
        for field in fields_of(Options)
    ]
    return table(["option", "by default", "in `host.js`", "bounds the stay in", "meaning"], rows)


def shown_default(name: str) -> str:
    """Give the default of an option of a connection, as a person would write it."""
    value = next(field.default for field in fields_of(Options) if field.name == name)
    if value is None:
        return "none"
    if name.endswith("bytes"):
        return f"{value // 1024**2} MiB"
    return f"{value:g} s" if isinstance(value, float) else f"{value:,}"


# Rules, as words


def _done(role: Role, rule: Rule) -> str:
    return ", ".join(map(_described, _outputs(role, rule))) or "nothing"


def _ending(role: Role, rule: Rule) -> str:
    closed = [output for output in _outputs(role, rule) if isinstance(output, Closed)]
    return type(closed[-1].error).__name__ if closed and closed[-1].error else "end"


def _outputs(role: Role, rule: Rule) -> list[Output]:
    """Let a connection that has come to the rule's state do what the rule says."""
    if rule.action is None:
        return []
    connection = _connection(role)
    connection.state = rule.state
    if rule.state not in (State.IDLE, State.CALLING, State.AWAITING):
        connection.pin(_FRAME if role.side == "outer" else _HOST)
        connection.session_id = _SESSION
    connection.facts["undecided"] = lambda _: True
    bodies: dict[str, Any] = {
        Local.COMPLETE_SETUP: _DONE,
        Local.REQUIRE_SETUP: _REQUIRED,
        Local.SEND: (json.dumps(_REQUEST), _REQUEST),
    }
    body = bodies.get(rule.trigger)
    if rule.trigger in role.readers:
        body = role.readers[rule.trigger](_messages()[rule.trigger])
    origin = _FRAME if role.side == "outer" else _HOST
    return list(rule.action(connection, Message(rule.trigger, body, origin)))


def _described(output: Output) -> str:
    if isinstance(output, Send):
        return f"sends `{json.loads(output.text)['type']}` to {'`*`' if output.target_origin == ANY else 'the peer'}"
    if isinstance(output, Closed):
        return f"`Closed` ({type(output.error).__name__ if output.error else 'a regular end'})"
    return f"`{type(output).__name__}`"


def _states(role: Role) -> list[State]:
    known = {state for rule in role.rules for state in (rule.state, rule.to)}
    return [state for state in State if state in known]


def _below_members(enum: type[State]) -> dict[str, str]:
    """Give the texts below an enumeration's members, which Python does not keep."""
    source = inspect.getsource(enum)
    return dict(re.findall(r'(?m)^    ([A-Z_]+) = "[^"]*"\n    """(.*)"""$', source))


def _carried(name: str, meaning: str | None) -> str:
    return f"`{name}`: {meaning.rstrip('.')}" if meaning else f"`{name}`"


def _fenced(lines: list[str]) -> str:
    return "```mermaid\n" + "\n".join(lines) + "\n```"


def sentence(text: str) -> str:
    return text if text.startswith("npm") else text[:1].upper() + text[1:]


# Fields of messages

_Path = tuple[str | int, ...]


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
    """Find out whether a field is needed: leave it away, alone and together with another one beside it."""
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
    ("MCP_SETUP_COMPLETE", "status"): (_ALL, "`success` or `error`."),
    ("MCP_SETUP_COMPLETE", "serverTitle"): ("A", "The name of what was set up. Not needed after an error."),
    ("MCP_SETUP_COMPLETE", "displayName"): (_BC, "The same."),
    ("MCP_SETUP_COMPLETE", "transportVisibility"): (_ALL, "Whether the page is to be seen. Not needed after an error."),
    ("MCP_SETUP_COMPLETE", "transportVisibility.requirement"): (_ALL, "`required`, `optional` or `hidden`."),
    ("MCP_SETUP_COMPLETE", "transportVisibility.optionalMessage"): ("A", "What the user gains from seeing it."),
    ("MCP_SETUP_COMPLETE", "transportVisibility.description"): (_BC, "The same."),
    ("MCP_SETUP_COMPLETE", "ephemeralMessage"): (_ALL, "A short notice for the user."),
    ("MCP_SETUP_COMPLETE", "error"): (_ALL, "Why it failed. Needed after an error."),
    ("MCP_SETUP_COMPLETE", "error.code"): (_ALL, f"One of {', '.join(f'`{code}`' for code in SetupErrorCode)}."),
    ("MCP_SETUP_COMPLETE", "error.message"): (_ALL, "A sentence for a person."),
    ("MCP_TRANSPORT_HANDSHAKE", "protocolVersion"): (_ALL, "The version that the inner frame speaks."),
    ("MCP_TRANSPORT_HANDSHAKE_REPLY", "sessionId"): (_ALL, "The id of the session; that of the setup, where there was one."),
    ("MCP_TRANSPORT_HANDSHAKE_REPLY", "protocolVersion"): (_ALL, "The version that the outer frame has chosen."),
    ("MCP_TRANSPORT_ACCEPTED", "sessionId"): (_ALL, "The id, given back; another one is refused."),
    ("MCP_SETUP_REQUIRED", "reason"): (_ALL, f"One of {', '.join(f'`{reason}`' for reason in SetupReason)}."),
    ("MCP_SETUP_REQUIRED", "message"): (_ALL, "A sentence for the user."),
    ("MCP_SETUP_REQUIRED", "canContinue"): (_ALL, "Whether the session works until then."),
    ("MCP_MESSAGE", "payload"): (_ALL, "A JSON-RPC 2.0 message: an object, not text."),
}


def _host_js(option: str) -> str:
    """Give the name of an option in host.js, and its default there."""
    source = _HOST_JS.read_text("utf-8")
    timeout = int(re.findall(r"const DEFAULT_TIMEOUT = ([\d_]+);", source)[0].replace("_", ""))
    limits = dict(re.findall(r"(max\w+): ([\d *]+)", re.findall(r"const DEFAULT_LIMITS = \{(.*)\};", source)[0]))
    name = re.sub(r"_(\w)", lambda match: match[1].upper(), option)
    if name in limits:
        product = math.prod(int(factor) for factor in limits[name].split("*"))
        shown = f"{product // 1024**2} MiB" if name.endswith("Bytes") else f"{product:,}"
        return f"`limits.{name}`: {shown}"
    if option.endswith("_timeout"):
        name = option.removesuffix("_timeout")
        return f"`timeout.{name}`: {'none' if name == 'setup' else f'{timeout:,} ms'}"
    return ""
