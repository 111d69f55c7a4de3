"""The dialects that a bundle offers, and their allowed origins, from `dialects` and `allowed_origins`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcpframe.frame.core.allowed_origins import SELF, OriginEntries, OriginLists
from mcpframe.frame.dialects.available import (
    dialect,
    dialects,
    entries_of,
    offered_dialects,
    offered_names,
    offers,
    withheld,
)
from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bundle.code.entry_object import allows_nobody
from mcpframe.kit.project.project import Project


def needs_hosts(setting: Sequence[str]) -> bool:
    """Return whether a bundle offers a dialect that is only useful in a page that embeds it."""
    return any(offers(setting, each.name) and not each.serves_tabs for each in offered_dialects())


def lists_of(setting: Sequence[str], origins: OriginEntries, *, opaque: bool) -> OriginLists:
    """Return the allowed origins of hosts, by dialect; empty for dialects not offered.

    Args:
        setting: `dialects` of the configuration; empty for all.
        origins: The allowed origins; empty if no page may embed the bundle.
        opaque: Whether opaque origins are allowed.
    """
    lists = origins.parse(opaque=opaque) if origins or opaque else OriginLists(None, {})
    return lists.without(withheld(setting))


def embedders(setting: Sequence[str], origins: OriginEntries) -> list[str]:
    """Return the allowed origins of all offered dialects."""
    named = (entry for name in offered_names() if offers(setting, name) for entry in origins.of(name))
    return list(dict.fromkeys(named))


def offered(setting: Sequence[str], lists: OriginLists) -> list[str]:
    """Return the dialects that a bundle offers, without those that need a host but allow none.

    Args:
        setting: `dialects` of the configuration; empty for all.
        lists: The result of `lists_of`.
    """
    alone = {each.name for each in offered_dialects() if each.serves_tabs}
    return [name for name in offered_names() if offers(setting, name) and (name in alone or lists.of(name) is not None)]


def without_use(setting: Sequence[str], origins: OriginEntries) -> list[str]:
    """Return the dialects with hosts in a table of `allowed_origins` that are not offered."""
    table = bool(origins.own)
    return [name for name in offered_names() if table and origins.of(name) and not offers(setting, name)]


def without_hosts(setting: Sequence[str], lists: OriginLists) -> list[str]:
    """Return the configured dialects that allow no host."""
    spoken = {each.name for each in dialects()}
    return [name for name in setting if name in spoken and lists.of(name) is None]


def check_origins_early(project: Project, author: Mapping[str, bytes]) -> None:
    """Check `allowed_origins`, as far as known, before the long steps of a build.

    Args:
        author: The author's files, by path.

    Raises:
        ConfigError: No page may embed the server.
    """
    config = project.config
    named = (
        project.beside_inspector
        or entries_of(config.allowed_origins)
        or config.options.allow_opaque
        or not needs_hosts(config.dialects)
    )
    if config.kind == "server" and not named:
        if not config.import_server:
            raise ConfigError(_no_origins(project, " (FrameServer's are not known, as import_server is false)"))
        if allows_nobody(project.entry, author):
            raise ConfigError(_no_origins(project, ""))


def origins_for(project: Project, of_server: OriginEntries) -> OriginEntries:
    """Return the origins that may embed a server: the project's `allowed_origins`, or else the server's own; and its
    site's, if the inspector is beside it.

    Raises:
        ConfigError: No page may embed it.
    """
    config = project.config
    origins = entries_of(config.allowed_origins) or of_server
    if project.beside_inspector:
        origins = origins.and_also(SELF)
    if config.kind == "server" and needs_hosts(config.dialects) and not config.options.allow_opaque:
        if not origins:
            raise ConfigError(_no_origins(project, ""))
        if not embedders(config.dialects, origins):
            named = ", ".join(without_use(config.dialects, origins))
            raise ConfigError(
                f"{project.file}: no page may embed the server: allowed_origins has hosts only for {named}, and "
                f"tool.mcpframe.dialects only {', '.join(config.dialects)}: name the same dialects in both."
            )
    return origins


def _no_origins(project: Project, remark: str) -> str:
    return (
        f"{project.file}: no page may embed the server{remark}: set tool.mcpframe.allowed_origins to the origins of "
        'the pages that may, such as ["https://chat.example"], or pass FrameServer(..., allowed_origins=[...]).'
    )


def ways(names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the entries about a bundle's dialects for its page when opened by itself: see `static/page/page.js`."""
    return [
        {
            "dialect": each.name,
            "title": each.title,
            "hosts": each.for_hosts,
            "tab": each.serves_tabs,
            "property": each.document_property,
            "commands": each.name == dialect().name,
        }
        for each in offered_dialects()
        if each.name in names
    ]
