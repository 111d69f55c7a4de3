"""The tools that outlive a tab: of each domain, those whose annotation `cache` is true, and the address of their page.

A domain has no scheme and no port, but a record is of one origin: pages of another origin, such as a server at another
port of the host, can neither add to it nor move it, and one of https is not replaced by one of http.

One record for each domain, JSON text under `mcpframe:hub:1:<domain>`; `1` is the version of this format. Records are
read once, at the start. Those untouched for an hour, and unreadable ones, are dropped then.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import limits
from mcpframe.hub.core.interfaces import KeyValues
from mcpframe.hub.core.names import UNKNOWN, domain_of, origin_of
from mcpframe.hub.core.tools import TOOLS, PageTool, checked, is_cached

log = logging.getLogger(__name__)

PREFIX = "mcpframe:hub:1:"


@dataclass(eq=False)
class CachedDomain:
    """The record of a domain.

    Attributes:
        url: The address of the page that had the tools; None for none.
        tools: Its cached tools by name, the newest last.
        touched: When a tab of it last had them, in seconds since 1970.
    """

    url: str | None = None
    tools: dict[str, PageTool] = field(default_factory=dict)
    touched: float = 0.0

    def is_of(self, url: str) -> bool:
        """Return whether a page is of the origin of these tools; True if their origin is unknown."""
        return self.url is None or origin_of(self.url) == origin_of(url)


class DomainToolStorage:
    """The cached tools of all domains, in memory and in a store."""

    def __init__(self, store: KeyValues, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._domains: dict[str, CachedDomain] = {}  # touched last is last
        self._unsaved: dict[str, None] = {}

    @property
    def unsaved(self) -> bool:
        """Whether `save` has something to do."""
        return bool(self._unsaved)

    def __iter__(self) -> Iterator[str]:
        """Yield the domains."""
        return iter(tuple(self._domains))

    def tools(self, domain: str) -> Mapping[str, PageTool]:
        """Return the cached tools of a domain by name."""
        cached = self._domains.get(domain)
        return cached.tools if cached else {}

    def may_have(self, domain: str, tool: str, url: str) -> bool:
        """Return whether a page may execute a tool of a domain: a cached tool belongs to one origin."""
        cached = self._domains.get(domain)
        return cached is None or tool not in cached.tools or cached.is_of(url)

    def url(self, domain: str) -> str | None:
        """Return the last address of a domain's page; None if unknown."""
        cached = self._domains.get(domain)
        return cached.url if cached else None

    def put(self, domain: str, url: str, tools: Mapping[str, PageTool]) -> list[str]:
        """Add the cacheable tools of a tab to those of its domain.

        Args:
            url: The tab's address.
            tools: All of its tools by name.

        Returns:
            The domains dropped to make room.
        """
        if domain == UNKNOWN:
            return []
        new = {name: tool for name, tool in tools.items() if is_cached(tool)}
        cached = self._domains.get(domain)
        if cached is not None and not cached.is_of(url):
            if not new or (url.startswith("http:") and str(cached.url).startswith("https:")):
                return []
            cached = None
        if cached is None and not new:
            return []
        cached = cached or CachedDomain()
        kept = {name: tool for name, tool in cached.tools.items() if name not in tools} | new
        cached.tools = dict(list(kept.items())[-limits.CACHED_TOOLS :])
        if new:
            cached.url = url
        self._touch(domain, cached)
        dropped = list(self._domains)[: -limits.CACHED_DOMAINS]
        for oldest in dropped:
            self._drop(oldest)
        return dropped

    def touch(self, domain: str) -> None:
        """Note that a domain is in use."""
        if cached := self._domains.get(domain):
            self._touch(domain, cached)

    async def load(self) -> None:
        """Read the store. Never raises."""
        try:
            keys = [key for key in await self._store.keys() if key.startswith(PREFIX)]
        except Exception:
            log.exception("The stored tools cannot be read: the hub starts without any.")
            return
        domains: dict[str, CachedDomain] = {}
        for key in keys:
            domain = key.removeprefix(PREFIX)
            try:
                cached = _read(domain, await self._store.get(key))
            except Exception:  # any error of the store
                log.exception("The stored tools of %.80r cannot be read: they are dropped.", domain)
                cached = None
            if cached is None or not abs(self._clock.wall() - cached.touched) <= limits.CACHE_SECONDS:
                self._unsaved[domain] = None
            else:
                domains[domain] = cached
        for domain, cached in sorted(domains.items(), key=lambda each: each[1].touched)[-limits.CACHED_DOMAINS :]:
            self._domains.setdefault(domain, cached)

    async def save(self) -> None:
        """Write the changes. Errors of the store are logged; the next change is written again."""
        while self._unsaved:
            domain = next(iter(self._unsaved))
            del self._unsaved[domain]
            cached = self._domains.get(domain)
            try:
                if cached is None or not cached.tools:
                    await self._store.delete(PREFIX + domain)
                else:
                    record = {"url": cached.url, "touched": cached.touched, "tools": list(cached.tools.values())}
                    await self._store.set(PREFIX + domain, payload.encode(record))
            except Exception:  # full, or gone
                log.exception("The tools of %.80r cannot be stored: they do not survive a restart.", domain)

    def _touch(self, domain: str, cached: CachedDomain) -> None:
        cached.touched = self._clock.wall()
        self._domains.pop(domain, None)
        if cached.tools:
            self._domains[domain] = cached
        self._unsaved[domain] = None

    def _drop(self, domain: str) -> None:
        del self._domains[domain]
        self._unsaved[domain] = None


def _read(domain: str, text: Any) -> CachedDomain | None:
    """Return a stored record; None if it is invalid."""
    if not isinstance(text, str):
        return None
    record = payload.decode(text, max_bytes=limits.CACHE_RECORD_BYTES, max_nesting=limits.CACHE_RECORD_NESTING)
    if not isinstance(record, dict) or not isinstance(record.get("tools"), list):
        return None
    touched, url = record.get("touched"), record.get("url")
    if not isinstance(touched, int | float):
        return None
    known = url if isinstance(url, str) and domain_of(url) == domain else None
    tools, _ = checked(TOOLS, record["tools"], known)
    return CachedDomain(known, {name: tool for name, tool in tools.items() if is_cached(tool)}, touched)
