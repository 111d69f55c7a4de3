"""Every message, every noise and everything local, in every state of every role."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.vectors.generate.sep_rules import (
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
from tests.vectors.generate.writing import Given, Table, state_cases, state_tables, strangers_and_locals

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


def tables() -> Iterator[tuple[str, Table]]:
    """Return the files of this part, each with its name."""
    return state_tables(STATES, lambda role: state_cases(STATES[role], lambda state: _given(role, state)))


def _given(role: str, state: str) -> Given:
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
    happenings = (*DEMANDS, *HAPPENINGS)
    yield from strangers_and_locals(
        state, first["type"], first, lambda local: local_effect(role, state, local), happenings
    )
    if state == "calling":
        given = {"do": "deadline has passed", "options": {"repeat_interval": 60.0}}
        yield "the deadline has passed before a repetition is due", given, ([{"closed": "HandshakeTimeout"}], "closed")
    if state == "setting up":
        given = {"do": "deadline has passed", "options": {"setup_timeout": 60.0}}
        yield "a shorter deadline of the setup has passed", given, late_setup(role)
