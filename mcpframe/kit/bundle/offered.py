"""Which dialects a bundle offers, and to whom: `dialects` and `allowed_origins` of its configuration together."""

from __future__ import annotations

from collections.abc import Sequence

from mcpframe.frame.core.dialect import TAB
from mcpframe.frame.core.origins import OriginEntries, OriginLists
from mcpframe.frame.dialects.available import NAMES, OFFERED, dialects, offers, withheld


def needs_hosts(setting: Sequence[str]) -> bool:
    """Return whether a bundle offers a dialect that is of use only to pages that embed it."""
    return any(offers(setting, each.name) and TAB not in each.inner for each in dialects())


def lists_of(setting: Sequence[str], origins: OriginEntries, *, opaque: bool) -> OriginLists:
    """Return who may be the host, by dialect: nobody in those that are not offered.

    Args:
        setting: `dialects` of the configuration; empty for all.
        origins: The allowed origins; none of them where no page may embed the bundle.
        opaque: Whether opaque origins are allowed.
    """
    lists = origins.parse(opaque=opaque) if origins or opaque else OriginLists(None, {})
    return lists.without(withheld(setting))


def embedders(setting: Sequence[str], origins: OriginEntries) -> list[str]:
    """Return the entries of all dialects that are offered."""
    named = (entry for name in OFFERED if offers(setting, name) for entry in origins.of(name))
    return list(dict.fromkeys(named))


def offered(setting: Sequence[str], lists: OriginLists) -> list[str]:
    """Return what a bundle offers: a dialect in which nobody may be the host is left out, if hosts are all it is for.

    Args:
        setting: `dialects` of the configuration; empty for all.
        lists: Who may be the host, as `lists_of` returns it.
    """
    alone = {each.name for each in dialects() if TAB in each.inner} | (set(OFFERED) - set(NAMES))
    return [name for name in OFFERED if offers(setting, name) and (name in alone or lists.of(name) is not None)]


def without_use(setting: Sequence[str], origins: OriginEntries) -> list[str]:
    """Return the dialects that have hosts in a table of `allowed_origins`, but are not offered."""
    table = bool(origins.own)
    return [name for name in OFFERED if table and origins.of(name) and not offers(setting, name)]


def without_hosts(setting: Sequence[str], lists: OriginLists) -> list[str]:
    """Return the dialects that the configuration names, but in which nobody may be the host."""
    return [name for name in setting if name in NAMES and lists.of(name) is None]
