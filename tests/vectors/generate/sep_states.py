"""Every message, every noise and everything local, in every state of every role."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.vectors.generate.sep_rules import (
    DEAF,
    DEMANDS,
    HAPPENINGS,
    RULES,
    STATES,
    VARIANTS,
    effect,
    example,
    late_setup,
    local_effect,
    refusal,
)
from tests.vectors.generate.writing import Table

UNKNOWN = ["MCP_", "MCP_NONSENSE", "MCP_constructor", "MCP___proto__", "MCP_MESSAGE ", "MCP_mcp_message"]
NOISE: list[Any] = [
    None,
    True,
    7,
    "",
    "MCP_MESSAGE",
    [],
    {},
    {"type": None},
    {"type": 7},
    {"type": ["MCP_MESSAGE"]},
    {"type": {}},
    {"type": ""},
    {"type": "mcp_message"},
    {"type": "webpackOk"},
    {"type": " MCP_MESSAGE"},
    {"Type": "MCP_MESSAGE"},
    {"payload": {"jsonrpc": "2.0", "id": 7, "method": "m"}},
    {"jsonrpc": "2.0", "id": 7, "method": "m"},
]
STRANGERS = {"another window": None, "another origin": "UnexpectedOrigin", "opaque origin": "UnexpectedOrigin"}


def tables() -> Iterator[tuple[str, Table]]:
    """Return the files of this part, each with its name."""
    for role in STATES:
        about = "Every message, every noise and everything local, in every state. Generated: do not edit."
        yield (
            f"states_{role.replace(' ', '_')}",
            {"about": about, "generated": True, "role": role, "cases": [*_cases(role)]},
        )


def _cases(role: str) -> Iterator[dict[str, Any]]:
    for state in STATES[role]:
        for name, given, (outcome, following) in _given(role, state):
            yield {"name": f"{state}: {name}", "state": state, **given, "outcome": outcome, "next": following}


def _given(role: str, state: str) -> Iterator[tuple[str, dict[str, Any], Any]]:
    for kind, variants in VARIANTS.items():
        for variant, body in variants.items():
            message = {"type": kind, **body}
            yield f"{kind}, {variant}", {"message": message}, effect(role, state, message)
    for kind in UNKNOWN:
        message = {"type": kind, "payload": {"jsonrpc": "2.0", "id": 7, "method": "m"}}
        yield f"the unknown type {kind!r}", {"message": message}, refusal(role, state, kind, "UnexpectedMessage")
    for noise in NOISE:
        yield f"noise, {json.dumps(noise)}", {"message": noise}, ([], state)
    first = example(next(iter(RULES[role].get(state, RULES[role][STATES[role][1]]))))
    for stranger, error in STRANGERS.items():
        outcome = [{"refused": error}] if error and state not in DEAF else []
        yield f"{first['type']} from {stranger}", {"from": stranger, "message": first}, (outcome, state)
    for local in (*DEMANDS, *HAPPENINGS):
        yield local, {"do": local}, local_effect(role, state, local)
    if state == "calling":
        given = {"do": "deadline has passed", "options": {"repeat_interval": 60.0}}
        yield "the deadline has passed before a repetition is due", given, ([{"closed": "HandshakeTimeout"}], "closed")
    if state == "setting up":
        given = {"do": "deadline has passed", "options": {"setup_timeout": 60.0}}
        yield "a shorter deadline of the setup has passed", given, late_setup(role)
