"""The dialects with all of their roles: for whoever frames pages, or is a framed client.

A bundle of a server goes without the roles of `further_roles.py`: only code that imports this module, or one of them,
brings them into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module

from mcpframe.frame.core.allowed_origins import AllowedOrigins, OriginLists
from mcpframe.frame.core.connection import Candidate
from mcpframe.frame.core.dialect import TRANSPORT, Dialect
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.dialects.available import dialects


@cache
def complete_dialects() -> tuple[Dialect, ...]:
    """Return the dialects that are spoken over a window, in order of preference, with all of their roles."""
    return tuple(map(_completed, dialects()))


def _completed(each: Dialect) -> Dialect:
    if not each.has_further_roles:
        return each
    return replace(each, **import_module(f"mcpframe.frame.dialects.{each.name}.further_roles").ROLES)


def outer_dialects() -> tuple[Dialect, ...]:
    """Return the dialects of which the page around needs nothing but MCP: those that `OuterFrame` speaks.

    Pages of the others use their host's own API, which the hosts of `mcpframe.hosts` for each have.
    """
    return tuple(each for each in complete_dialects() if TRANSPORT in each.outer and not each.host_api)


def outer_dialect(name: str | None = None) -> Dialect:
    """Return a dialect of `outer_dialects` by its name; by default the preferred one.

    Raises:
        StateError: if it is none of them.
    """
    for each in outer_dialects():
        if name in (None, each.name):
            return each
    names = ", ".join(each.name for each in outer_dialects())
    raise StateError(f"A page cannot be framed in the dialect {name!r}, only in: {names}.")


def client_candidates(allowed_origins: AllowedOrigins | OriginLists, name: str | None = None) -> Sequence[Candidate]:
    """Return the candidates of a framed page that may be a client; none if no origin is allowed.

    Args:
        allowed_origins: the allowed origins of the host.
        name: the only dialect; by default those in which MCP's own handshake follows from either side.

    Raises:
        StateError: if a framed page cannot be a client in the dialect of this name.
    """
    able = {each.name: each for each in complete_dialects() if each.initializes or TRANSPORT in each.inner_client}
    if name is not None and name not in able:
        raise StateError(f"A framed page cannot be a client in the dialect {name!r}, only in: {', '.join(able)}.")
    return [
        Candidate((each.inner_client or each.inner)[TRANSPORT], allowed)
        for each in able.values()
        if (each.initializes if name is None else each.name == name)
        if (allowed := allowed_origins.of(each.name)) is not None
    ]
