"""Write a file of cases: one case a line, so that a difference shows which."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Table = dict[str, Any]


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
