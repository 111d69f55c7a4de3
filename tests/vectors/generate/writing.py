"""Write a file of cases: one case a line, so that a difference shows which."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Table = dict[str, Any]
Effect = tuple[list[dict[str, Any]], str]
Given = Iterator[tuple[str, dict[str, Any], Effect]]
"""An event of a role: its name, the members of the case, and its outcome with the next state."""

DEAF = ("idle", "closed")
STRANGERS = {"another window": None, "another origin": "UnexpectedOrigin", "opaque origin": "UnexpectedOrigin"}
LOCALS = (
    *("start", "repeat is due", "deadline has passed", "send"),
    *("peer's document replaced", "peer's window removed", "close"),
)


def text_of(table: Table) -> str:
    """Return the text of a file of cases."""
    head = {key: value for key, value in table.items() if key != "cases"}
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    cases = ",\n".join(f"    {json.dumps(case)}" for case in table["cases"])
    return "\n".join(["{", *lines, '  "cases": [', cases, "  ]", "}", ""])


def state_tables(
    roles: Iterable[str], cases: Callable[[str], Iterable[dict[str, Any]]], what: str = "message"
) -> Iterator[tuple[str, Table]]:
    """Return the files with all states of a dialect's roles, each with its name.

    Args:
        roles: the roles.
        cases: returns the cases of a role.
        what: what a peer posts, for the description.
    """
    about = f"Every {what}, every noise and everything local, in every state. Generated: do not edit."
    for role in roles:
        yield (
            f"states_{role.replace(' ', '_')}",
            {"about": about, "generated": True, "role": role, "cases": [*cases(role)]},
        )


def state_cases(states: Iterable[str], given: Callable[[str], Given]) -> Iterator[dict[str, Any]]:
    """Return the cases of a role, from what happens to it in each state."""
    for state in states:
        for name, about, (outcome, following) in given(state):
            yield {"name": f"{state}: {name}", "state": state, **about, "outcome": outcome, "next": following}


def strangers_and_locals(
    state: str, name: str, first: Any, local: Callable[[str], Effect], happenings: Iterable[str] = LOCALS
) -> Given:
    """Return a message of strangers, and everything local, in a state.

    Args:
        state: the state.
        name: that of the message.
        first: the message.
        local: returns the effect of something local.
        happenings: what is local.
    """
    for stranger, error in STRANGERS.items():
        outcome = [{"refused": error}] if error and state not in DEAF else []
        yield f"{name} from {stranger}", {"from": stranger, "message": first}, (outcome, state)
    for each in happenings:
        yield each, {"do": each}, local(each)
