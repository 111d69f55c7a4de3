"""The roles: their states and rules, as tables and diagrams, from the tables that the connections follow.

The effect of a rule is not read from its code: a connection is put into the rule's state and executes it.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import fields as fields_of
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from docs.generate.docstrings import attributes, fenced, sentence, summary, table
from docs.generate.state_names import meanings
from docs.generate.talking import DONE, FRAME, HOST, REQUEST, REQUIRED, ROLES, SESSION, candidate, messages
from mcpframe.frame.core.allowed_origins import ANY
from mcpframe.frame.core.errors import MalformedMessage
from mcpframe.frame.core.events import Closed, Event, Opened, Output, OwnEvent, Send, SessionBegun
from mcpframe.frame.core.machine import Machine
from mcpframe.frame.core.roles import Local, Message, Options, Role, Rule, State
from mcpframe.frame.core.setup import Act, SetupCompleted, SetupRequired, SetupStarted
from mcpframe.frame.dialects.sep.offers import HostOffer

_GUARDS = {
    "speaks_ours": "it speaks our version",
    "same_session": "it names this session",
    "asks_undecided": "it asks for permissions that the host has not decided on",
}
LOCALS: dict[str, str] = {
    Local.START: "start",
    Local.REPEAT: "the repetition is due",
    Local.DEADLINE: "the deadline has passed",
    Act.COMPLETE_SETUP: "the page completes its setup",
    Act.REQUIRE_SETUP: "the page asks for its setup again",
    Local.LAST_REFUSED: "a refused `MCP_SETUP_COMPLETE`",
    Local.SEND: "an MCP message is to be sent",
    Local.PORT: "a port is handed over",
    Local.PEER_REPLACED: "another document is in the peer's window",
    Local.PEER_REMOVED: "the peer's window is gone",
    Local.CLOSE: "close",
}
_OTHERS = [kind for kind in get_args(Event) if kind not in (SessionBegun, OwnEvent)]
EVENTS = (SetupStarted, SetupCompleted, SetupRequired, Opened, *_OTHERS)
_HOST_LIMITS = Path(__file__).resolve().parents[2] / "static" / "host" / "limits.js"


def diagram(name: str) -> str:
    """Draw the states of a role, such as `inner setup`, and the rules between them."""
    role = ROLES[name]
    alias = {state: state.value.replace(" ", "_") for state in _states(role)}
    lines = ["stateDiagram-v2", f"    [*] --> {alias[State.IDLE]}"]
    lines += [f'    state "{state}" as {short}' for state, short in alias.items() if short != state]
    arrows: dict[tuple[State, State], list[str]] = {}
    for rule in role.rules:
        if rule.trigger in (Local.CLOSE, Local.PEER_REMOVED) or (
            rule.state is rule.to and rule.trigger not in role.readers
        ):
            continue  # the same everywhere, or nothing to see
        label = str(rule.trigger)
        if rule.to is State.CLOSED and rule.trigger in role.readers and rule.action is not None:
            label = f"{label} ({_ending(role, rule)})"
        arrows.setdefault((rule.state, rule.to), []).append(label)
    lines += [f"    {alias[a]} --> {alias[b]}: {' / '.join(labels)}" for (a, b), labels in arrows.items()]
    return fenced("mermaid", [*lines, f"    {alias[State.CLOSED]} --> [*]"])


def transitions(name: str) -> str:
    """Return every rule of a role as a line of a table."""
    role = ROLES[name]
    rows = []
    guarded: set[tuple[State, str]] = set()
    for rule in role.rules:
        key = (rule.state, rule.trigger)
        condition = _GUARDS[rule.guard.__name__] if rule.guard else "otherwise" if key in guarded else ""
        if rule.guard:
            guarded.add(key)
        what = f"`{rule.trigger}`" if rule.trigger in role.readers else LOCALS[rule.trigger]
        rows.append([str(rule.state), what + (f", {condition}" if condition else ""), str(rule.to), _done(role, rule)])
    return table(["state", "what happens", "next state", "what is sent and reported"], rows)


def states(_: str) -> str:
    """Return the meaning of each state, and the roles that have it."""
    rows = [
        [str(state), meaning, ", ".join(name for name, role in ROLES.items() if state in _states(role))]
        for state, meaning in meanings().items()
    ]
    return table(["state", "meaning", "roles"], rows)


def events(_: str) -> str:
    """Return the events that a connection reports to its session."""
    rows = []
    for kind in EVENTS:
        meanings = {name: text for each in kind.__mro__[::-1] for name, text in attributes(each).items()}
        carried = "; ".join(_carried(field.name, meanings.get(field.name)) for field in fields_of(kind))
        rows.append([f"`{kind.__name__}`", summary(kind), carried])
    return table(["event", "meaning", "carries"], rows)


def deadlines(_: str) -> str:
    """Return the deadlines and limits with their defaults, in Python and in host.js."""
    meanings = attributes(Options)
    bounds: dict[str, list[str]] = {}
    for name, role in ROLES.items():
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
    """Return the default of an option of a connection in a readable form."""
    if name == "accept_timeout":
        return "as `handshake_timeout`"
    value = getattr(Options(), name)
    if value is None:
        return "none"
    if name.endswith("bytes"):
        return f"{value // 1024**2} MiB"
    return f"{value:g} s" if isinstance(value, float) else f"{value:,}"


def _done(role: Role, rule: Rule) -> str:
    return ", ".join(map(_described, _outputs(role, rule))) or "nothing"


def _ending(role: Role, rule: Rule) -> str:
    closed = [output for output in _outputs(role, rule) if isinstance(output, Closed)]
    return type(closed[-1].error).__name__ if closed and closed[-1].error else "end"


def _outputs(role: Role, rule: Rule) -> list[Output]:
    """Execute a rule on a connection in the rule's state."""
    if rule.action is None:
        return []
    own = candidate(role)
    if role.side == "outer":
        own = replace(own, offer=HostOffer(session_id=SESSION, granted=frozenset(), asks=True))
    made = Machine(own, Options(), Counter())
    made.state = rule.state
    if rule.state not in (State.IDLE, State.CALLING, State.AWAITING):
        made.pin(FRAME if role.side == "outer" else HOST, SESSION)
    bodies: dict[str, Any] = {
        Act.COMPLETE_SETUP: DONE,
        Act.REQUIRE_SETUP: REQUIRED,
        Local.SEND: (json.dumps(REQUEST), REQUEST),
        Local.LAST_REFUSED: MalformedMessage("It has no status."),
    }
    body = bodies.get(rule.trigger)
    if rule.trigger in role.readers:
        body = role.readers[rule.trigger](messages()[rule.trigger])
    origin = FRAME if role.side == "outer" else HOST
    return list(rule.action(made, Message(rule.trigger, body, origin)))


def _described(output: Output) -> str:
    if isinstance(output, Send):
        return f"sends `{json.loads(output.text)['type']}` to {'`*`' if output.target_origin == ANY else 'the peer'}"
    if isinstance(output, Closed):
        return f"`Closed` ({type(output.error).__name__ if output.error else 'a regular end'})"
    return f"`{type(output).__name__}`"


def _states(role: Role) -> list[State]:
    known = {state for rule in role.rules for state in (rule.state, rule.to)}
    return [state for state in State if state in known]


def _carried(name: str, meaning: str | None) -> str:
    return f"`{name}`: {meaning.rstrip('.')}" if meaning else f"`{name}`"


def _host_js(option: str) -> str:
    """Return the name of an option in host.js, and its default there."""
    source = _HOST_LIMITS.read_text("utf-8")
    timeout = int(re.findall(r"const DEFAULT_TIMEOUT = ([\d_]+);", source)[0].replace("_", ""))
    limits = dict(re.findall(r"(max\w+): ([\d *]+)", re.findall(r"const DEFAULT_LIMITS = \{(.*)\};", source)[0]))
    name = re.sub(r"_(\w)", lambda match: match[1].upper(), option)
    if name in limits:
        product = math.prod(int(factor) for factor in limits[name].split("*"))
        shown = f"{product // 1024**2} MiB" if name.endswith("Bytes") else f"{product:,}"
        return f"`limits.{name}`: {shown}"
    if option.endswith("_timeout"):
        name = option.removesuffix("_timeout")
        setup = math.prod(map(int, re.findall(r"const SETUP_TIMEOUT = ([\d_]+) \* ([\d_]+);", source)[0]))
        special = {"setup": f"{setup:,} ms", "accept": "as `handshake`"}
        return f"`timeout.{name}`: {special.get(name, f'{timeout:,} ms')}"
    if option == "unresponsive_after":
        half = int(re.findall(r"const DEFAULT_SILENCE = ([\d_]+);", source)[0].replace("_", ""))
        return f"`unresponsiveAfter`: {2 * half:,} ms"
    return ""
