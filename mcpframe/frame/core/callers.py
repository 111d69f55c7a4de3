"""The caller of a request, if a page serves several: the program around it names the caller in the request's `_meta`.

A page has one peer, and believes it. A bridge or a server with several users replaces what their requests say of
themselves, so that no user can take the name of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

CALLER_KEY: Final = "mcpframe/caller"
_MOST_CHARACTERS: Final = 128


@dataclass(frozen=True, slots=True)
class Named:
    """The caller that a request names.

    Attributes:
        user: A text that differs between users; empty if there is one only.
        by: The name of the bridge or process that has passed the request on, for balancers; empty for none.
    """

    user: str = ""
    by: str = ""


def named_caller(params: Mapping[str, Any] | None) -> Named:
    """Return the caller in the parameters of a request."""
    meta = (params or {}).get("_meta")
    said = meta.get(CALLER_KEY) if isinstance(meta, Mapping) else None
    return Named(_text(said, "user"), _text(said, "by")) if isinstance(said, Mapping) else Named()


def with_caller(params: Mapping[str, Any] | None, caller: Named) -> dict[str, Any]:
    """Return the parameters of a request with its caller, in place of the one that they name."""
    given = dict(params or {})
    meta = given.get("_meta")
    others = dict(meta) if isinstance(meta, Mapping) else {}
    others.pop(CALLER_KEY, None)
    if said := {name: value for name, value in (("user", caller.user), ("by", caller.by)) if value}:
        others[CALLER_KEY] = said
    return {**given, "_meta": others} if others or isinstance(meta, Mapping) else given


def _text(said: Mapping[str, Any], member: str) -> str:
    value = said.get(member)
    return value if isinstance(value, str) and len(value) <= _MOST_CHARACTERS else ""
