"""Messages of each dialect's peer, for tests over any candidates: of dialects made for tests, and of real ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from mcpframe.frame.core.connection import Candidate, parse_allowed_origins
from mcpframe.frame.core.dialect import TRANSPORT, Dialect
from mcpframe.frame.core.roles import Role
from mcpframe.frame.dialects.complete import complete_dialects
from tests.support import second_dialect as made_up
from tests.vectors.parts import parts

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
"""What a script can post, of any depth."""
EVERY = (*made_up.DIALECTS.values(), *complete_dialects())


def messages_to(role: Role) -> list[Any]:
    """Return one valid message of each kind that concerns a role, in either direction."""
    if role.dialect not in made_up.DIALECTS:
        return [*parts(role.dialect).messages]
    bodies = (*made_up.BODIES.values(), made_up.RESPONSE, made_up.NOTIFICATION)
    wrong = {"jsonrpc": "2.0", "id": "hello", "result": {"version": 2}}
    wrong_hello = {"jsonrpc": "2.0", "id": "hello", "method": "hello", "params": {"version": 2}}
    return [made_up.from_peer(role, body) for body in (*bodies, wrong, wrong_hello)]


def candidate(dialect: Dialect, side: str) -> Candidate:
    """Return a dialect's candidate for its usual peer."""
    role = (dialect.inner if side == "inner" else dialect.outer)[TRANSPORT]
    offer = dialect.host_offer(session_id="a session") if side == "outer" else None
    return Candidate(role, parse_allowed_origins([made_up.peer_of(role)]), offer)
