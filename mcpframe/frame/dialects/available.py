"""The available dialects: every higher layer gets its dialects here.

A dialect is a folder of this package with a `dialect.py`. Everything else works without it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

from mcpframe.frame.core.allowed_origins import AllowedOrigins, OriginEntries, OriginLists, origin_entries
from mcpframe.frame.core.connection import Candidate
from mcpframe.frame.core.dialect import TRANSPORT, Dialect
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.events import SessionBegun


@cache
def offered_dialects() -> tuple[Dialect, ...]:
    """Return the dialects that `[tool.mcpframe] dialects` can name, in order of preference."""
    paths = import_module(__name__.rpartition(".")[0]).__path__
    folders = {entry.name for path in paths for entry in os.scandir(path) if entry.is_dir()}
    offered: list[Dialect] = []
    for name in sorted(folders - {"__pycache__"}):
        module = f"mcpframe.frame.dialects.{name}.dialect"
        try:
            offered.append(import_module(module).DIALECT)
        except ModuleNotFoundError as error:
            if error.name not in (module, module.rpartition(".")[0]):
                raise
    return tuple(sorted(offered, key=lambda each: (each.preference, each.name)))


@cache
def dialects() -> tuple[Dialect, ...]:
    """Return the dialects that are spoken over a window, in order of preference."""
    return tuple(each for each in offered_dialects() if each.has_messages)


def spoken_names() -> tuple[str, ...]:
    """Return the names of `dialects`."""
    return tuple(each.name for each in dialects())


def offered_names() -> tuple[str, ...]:
    """Return the names of `offered_dialects`."""
    return tuple(each.name for each in offered_dialects())


def dialect(name: str | None = None) -> Dialect:
    """Return a dialect by its name; by default the preferred one.

    Raises:
        StateError: if it is not available.
    """
    for each in offered_dialects():
        if name in (None, each.name):
            return each
    raise StateError(f"There is no dialect {name!r}." if name else "There is no dialect.")


def view_dialects() -> tuple[str, ...]:
    """Return the names of the dialects in which hosts show a page as the view of a tool."""
    return tuple(each.name for each in dialects() if each.view_opening)


def offers(setting: Sequence[str], name: str) -> bool:
    """Return whether a page offers a dialect.

    Args:
        setting: `dialects` of its configuration; empty for all.
        name: the name of the dialect.
    """
    return not setting or name in setting


def withheld(setting: Sequence[str]) -> list[str]:
    """Return the dialects that a page does not offer; see `offers`."""
    return [name for name in offered_names() if not offers(setting, name)]


def phase_of(fragment: str) -> str:
    """Return the phase that a page's address asks for: that of the first dialect that finds one of its own in it.

    Args:
        fragment: `location.hash`, with or without the `#`.
    """
    phases = (each.phase_of(fragment) for each in dialects())
    return next((phase for phase in phases if phase != TRANSPORT), TRANSPORT)


def entries_of(origins: Iterable[str] | Mapping[str, Iterable[str]] | None) -> OriginEntries:
    """Return the entries of `allowed_origins`, a list or a table of lists by dialect; see `origin_entries`."""
    return origin_entries(origins, offered_names())


def inner_candidates(
    phase: str,
    allowed_origins: AllowedOrigins | OriginLists,
    *,
    about: Mapping[str, str] = MappingProxyType({}),
    query: str = "",
) -> Sequence[Candidate]:
    """Return the candidates of a framed page: the roles of all dialects with this phase in which any origin is allowed.

    If the query of its address names a dialect, that is the only one.

    Args:
        phase: the phase.
        allowed_origins: the allowed origins of the host.
        about: `name`, `version` and `title` of the page, for dialects in which it sends them.
        query: the query of the page's address.
    """
    asked = [each for each in dialects() if each.query and re.search(each.query, query)]
    named = [each for each in asked if allowed_origins.of(each.name) is not None]
    return [
        Candidate(each.inner[phase], allowed, each.page_offer(**about, query=query) if phase == TRANSPORT else None)
        for each in named or dialects()
        if phase in each.inner
        if (allowed := allowed_origins.of(each.name)) is not None
    ]


def last_words(event: SessionBegun) -> Any:
    """Return the message that the script of a framed page posts after Python has ended; None for none."""
    return dialect(event.dialect).last_words(event)
