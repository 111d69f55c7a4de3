"""The roles of the dialects besides the SEP: diagrams from their tables, and what each rule does from the vectors.

Which rule a case follows is noted while the case is played. A rule that no case follows is an error here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

from docs.generate.docstrings import fenced, table
from docs.generate.outcomes import in_words
from docs.generate.state_names import meanings
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.machine import Machine
from mcpframe.frame.core.roles import Local, Message, Role, Rule, State
from mcpframe.frame.dialects.available import spoken_names
from mcpframe.frame.dialects.mcp_ui.further_roles import EmbedderAct
from tests.vectors.cases import Case, cases, cases_in, files
from tests.vectors.parts import parts
from tests.vectors.python_driver import play

OTHERS = spoken_names()[1:]

_GUARDS = {
    "speaks_ours": "its revision is one of ours, or it names none",
    "is_refusal": "an error",
    "has_proxy": "the host frames a sandbox proxy",
    "has_view": "a view is there",
    "waits_for_data": "the page waits for render data",
    "answers_opening": "for the first request of render data",
    "is_ours": "for a request of the page",
    "is_probe": "the id is `mcpframe/ping`",
    "begins_again": "its id and method are those of one that waits",
    "is_request_over_port": "a request of MCP over a port",
    "is_second": "every other time",
}
_LOCALS: dict[str, str] = {
    Local.START: "start",
    Local.REPEAT: "the repetition is due",
    Local.DEADLINE: "the deadline has passed",
    Local.SEND: "an MCP message is to be sent",
    Local.PORT: "a port is handed over",
    Local.PEER_REPLACED: "another document is in the peer's window",
    Local.PEER_REMOVED: "the peer's window is gone",
    Local.CLOSE: "close",
    EmbedderAct.LOADED: "the frame has loaded",
    EmbedderAct.RENDER: "the host has other render data",
}
_DEAF = (State.IDLE, State.CLOSED)


def diagram(dialect: str, name: str) -> str:
    """Draw the states of a role, such as `inner transport`, and the rules between them."""
    role = parts(dialect).roles[name]
    arrows: dict[tuple[State, State], list[str]] = {}
    for rule in possible(role):
        if rule.trigger in (Local.CLOSE, Local.PEER_REMOVED) or (rule.state is rule.to and not _is_message(role, rule)):
            continue  # the same everywhere, or nothing to see
        label = _kind(rule.trigger) if _is_message(role, rule) else _LOCALS[rule.trigger]
        labels = arrows.setdefault((rule.state, rule.to), [])
        if label not in labels:
            labels.append(label)
    lines = ["stateDiagram-v2", "    [*] --> idle"]
    lines += [f"    {a} --> {b}: {' / '.join(labels)}" for (a, b), labels in arrows.items()]
    return fenced("mermaid", [*lines, "    closed --> [*]"])


def transitions(dialect: str, name: str) -> str:
    """Return every rule of a role as a line of a table."""
    role = parts(dialect).roles[name]
    rows: list[list[str]] = []
    guarded: set[tuple[State, str]] = set()
    for rule in possible(role):
        key = (rule.state, rule.trigger)
        condition = _GUARDS[rule.guard.__name__] if rule.guard else "otherwise" if key in guarded else ""
        if rule.guard:
            guarded.add(key)
        what = f"`{_kind(rule.trigger)}`" if _is_message(role, rule) else _LOCALS[rule.trigger]
        done = ", ".join(in_words(output, dialect) for output in followed(dialect, name)[rule]) or "nothing"
        if rule.trigger is Local.SEND:
            done = "sends it to the peer" + ("; what has no form here is an error" if role.codec.recodes else "")
        rows.append([str(rule.state), what + (f", {condition}" if condition else ""), str(rule.to), done])
    return table(["state", "what happens", "next state", "what is sent and reported"], rows)


def states(dialect: str) -> str:
    """Return the meaning of each state, the roles that have it, and the option that bounds the stay in it."""
    roles = parts(dialect).roles
    rows = []
    for state, meaning in meanings().items():
        within = [name for name, role in roles.items() if any(state in (rule.state, rule.to) for rule in role.rules)]
        bounds = {role.waits[state]: None for role in roles.values() if state in role.waits}
        if within:
            rows.append([str(state), meaning, ", ".join(within), ", ".join(f"`{option}`" for option in bounds)])
    return table(["state", "meaning", "roles", "bounded by"], rows)


def messages(dialect: str, name: str) -> str:
    """Return what a role does with a valid message of each kind, in each state that listens."""
    role = parts(dialect).roles[name]
    (path,) = (path for path in files(dialect) if path.stem == f"states_{name.replace(' ', '_')}")
    found: dict[str, dict[str, list[str]]] = {}
    for case in cases_in(path):
        kind = role.codec.kind(case["message"]) if "message" in case and "from" not in case else None
        if kind is None or case["state"] in _DEAF or not _reads(role, kind, case["message"]):
            continue
        words = ", ".join(in_words(output, dialect) for output in case["outcome"]) or "nothing"
        moved = f" → {case['next']}" if case["next"] != case["state"] else ""
        cells = found.setdefault(_kind(kind), {}).setdefault(case["state"], [])
        if words + moved not in cells:
            cells.append(words + moved)
    listed = [state for state in dict.fromkeys(str(rule.state) for rule in role.rules) if state not in _DEAF]
    rows = [[f"`{kind}`", *("; ".join(cells.get(state, ["-"])) for state in listed)] for kind, cells in found.items()]
    return table(["message", *listed], rows)


def possible(role: Role) -> list[Rule]:
    """Return the rules of a role that can apply: a deadline only in a state that has one."""
    return [rule for rule in role.rules if rule.trigger is not Local.DEADLINE or rule.state in role.waits]


def _is_message(role: Role, rule: Rule) -> bool:
    return rule.trigger in role.readers


def _kind(trigger: str) -> str:
    """Return the name of a kind of message; a kind that is the beginning of methods ends with `…`."""
    return {"message": "JSON-RPC"}.get(trigger, f"{trigger}…" if trigger.endswith("-") else str(trigger))


def _reads(role: Role, kind: str, message: Any) -> bool:
    try:
        role.readers[kind](message)
    except (KeyError, MessageError):
        return False
    return True


@cache
def followed(dialect: str, name: str) -> dict[Rule, list[dict[str, Any]]]:
    """Return the outcome of the first case that follows each rule of a role."""
    found: dict[Rule, list[dict[str, Any]]] = {}
    role = parts(dialect).roles[name]
    for case in _cases_of(dialect, role):
        with _noting() as noted:
            outcome = play(case, dialect)["outcome"]
        rule, outputs = noted[-1] if noted else (None, 0)
        if rule and (rule.state, rule.trigger) == (case["state"], _trigger(role, case)):
            found.setdefault(rule, outcome[len(outcome) - outputs :])
    return found


def _cases_of(dialect: str, role: Role) -> Iterator[Case]:
    """Return the cases of a role, also under a variant of its name, such as that of a host behind a proxy."""
    roles = parts(dialect).roles
    for case in cases(dialect):
        if roles[case["role"]] is role:
            yield case


def _trigger(role: Role, case: Case) -> str | None:
    """Return the trigger of a case: what is done, or the kind of the message."""
    return str(case["do"]) if "do" in case else role.codec.kind(case["message"])


@contextmanager
def _noting() -> Iterator[list[tuple[Rule, int]]]:
    """Return a list that has the rules which are followed in the block, and how many outputs each has."""
    rules: list[tuple[Rule, int]] = []
    follow: Callable[..., Any] = Machine._follow

    def noted(machine: Machine, rule: Rule, message: Message) -> Any:
        outputs = follow(machine, rule, message)
        rules.append((rule, len(outputs)))
        return outputs

    with patch.object(Machine, "_follow", noted):
        yield rules
