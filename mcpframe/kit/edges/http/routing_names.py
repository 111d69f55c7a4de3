"""The name of a bridge or a process in what its clients return to it: ids of sessions, and states of rounds.

Several of them behind one address each hold their own sessions and suspended calls. With the name at the beginning, a
balancer finds the one that holds them, and every other one knows that it does not.

Source: MCP specification 2025-11-25, basic/transports, "Session Management" (an id is visible ASCII); 2026-07-28,
basic/patterns/mrtr (a state is any text).
"""

from __future__ import annotations

import re
from typing import Final

NAME: Final = re.compile(r"[a-z0-9]{1,32}")
"""Only characters that stand for themselves in nginx's, HAProxy's and Envoy's patterns. No capitals: nginx's `map`
compares without case."""

_OF_SESSION = re.compile(rf"({NAME.pattern})-(.*)", re.DOTALL)
_OF_STATE = re.compile(rf"({NAME.pattern})/(.*)", re.DOTALL)


def named_session(name: str, id_: str) -> str:
    """Return the id of a session as its client gets it; without a name, the id itself."""
    return f"{name}-{id_}" if name else id_


def split_session(id_: str) -> tuple[str, str]:
    """Return the name at the beginning of a session's id, and the id without it; without a name, it is empty."""
    return _split(_OF_SESSION, id_)


def named_state(name: str, state: str) -> str:
    """Return a `requestState` as its client gets it; without a name, the state itself."""
    return f"{name}/{state}" if name else state


def split_state(state: str) -> tuple[str, str]:
    """Return the name at the beginning of a `requestState`, and the state without it; without a name, it is empty."""
    return _split(_OF_STATE, state)


def _split(pattern: re.Pattern[str], text: str) -> tuple[str, str]:
    match = pattern.fullmatch(text)
    return (match[1], match[2]) if match else ("", text)
