"""The tools and resources of all tabs, as clients see them.

A tab has one entry, with all of its tools; registering again replaces it. Tools of different tabs are never merged:
each has its own name. A cached tool that no tab has is offered under the name of its domain. Resources are not cached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcpframe.hub.core.addresses import address, read_address
from mcpframe.hub.core.cached_tools import DomainToolStorage
from mcpframe.hub.core.frame_numbers import page_tab
from mcpframe.hub.core.names import PageKey, ResourceKey, TabNumbers, ToolKey, ToolNames
from mcpframe.hub.core.tool_texts import described, label, titled
from mcpframe.hub.core.tools import PageTool


@dataclass(frozen=True)
class TabEntry:
    """A tab with a page server. Immutable: an update replaces it.

    Attributes:
        domain: Its domain, from the transport.
        url: Its address, from the transport.
        number: Its number in its domain.
        tools: Its tools by name.
        browser: The page's `browser` capabilities.
        updated: When it registered or changed its tools.
        resources: Its resources by address.
        templates: Its templates of resources by themselves.
    """

    tab: int
    domain: str
    url: str
    number: int
    tools: Mapping[str, PageTool]
    browser: frozenset[str] = frozenset()
    updated: float = 0.0
    resources: Mapping[str, PageTool] = field(default_factory=dict)
    templates: Mapping[str, PageTool] = field(default_factory=dict)

    @property
    def offers(self) -> bool:
        """Whether it lists anything."""
        return bool(self.tools or self.resources or self.templates)


@dataclass
class _DomainTools:
    """The tools of one domain for clients: by key, with their definitions and the label in them; and its resources."""

    label: str = ""
    tools: dict[ToolKey, tuple[PageTool, dict[str, Any]]] = field(default_factory=dict)
    resources: list[dict[str, Any]] = field(default_factory=list)
    templates: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str | None, str] = field(default_factory=dict)

    def described(self, tool: PageTool) -> str:
        """Return the description of a tool; tools of several tabs may share it."""
        own = tool.get("description")
        if (text := self.texts.get(own)) is None:
            text = self.texts[own] = described(self.label, own)
        return text

    def addressed(self, entry: TabEntry, key: str, item: PageTool) -> dict[str, Any]:
        """Return a resource, or a template, of a tab for clients."""
        titles = {each: titled(entry.domain, item[each]) for each in ("name", "title") if each in item}
        own = {key: address(entry.domain, entry.number, item[key]), "description": self.described(item)}
        return {**item, **titles, **own}


class ToolRegistry:
    """The tools of all tabs, and those that are cached.

    Args:
        storage: The cached tools.
        own_numbers: Whether the tabs' ids are their numbers.
        numbers: The numbers of tabs if they are not their ids; None for new ones.
    """

    def __init__(
        self,
        storage: DomainToolStorage,
        names: ToolNames,
        *,
        own_numbers: bool = False,
        numbers: TabNumbers | None = None,
    ) -> None:
        self._storage = storage
        self._names = names
        self._numbers = None if own_numbers else numbers or TabNumbers()
        self._tabs: dict[int, TabEntry] = {}
        self._by_domain: dict[str, dict[int, TabEntry]] = {}
        self._seen: dict[str, _DomainTools] = {}
        self._active: int | None = None

    def __iter__(self) -> Iterator[TabEntry]:
        """Yield the registered tabs."""
        return iter(tuple(self._tabs.values()))

    def __len__(self) -> int:
        return len(self._tabs)

    def tab(self, tab: int) -> TabEntry | None:
        """Return a tab; None if it has not registered."""
        return self._tabs.get(tab)

    def number(self, domain: str, tab: int) -> int | None:
        """Return the number of a tab in its domain, even of a closed one; None if it has none."""
        return self._numbers.known(domain, tab) if self._numbers else tab

    def connected(self, tab: int, domain: str) -> TabEntry | None:
        """Return a tab if it shows a domain's page that lists anything."""
        entry = self._tabs.get(tab)
        return entry if entry is not None and entry.domain == domain and entry.offers else None

    def offering(self, tab: int, key: PageKey) -> TabEntry | None:
        """Return a tab if it has a tool; for a resource, if it is of its domain, as addresses need not be listed."""
        entry = self._tabs.get(tab)
        if entry is None or entry.domain != key.domain:
            return None
        return entry if isinstance(key, ResourceKey) or key.tool in entry.tools else None

    def with_tool(self, domain: str, tool: str) -> Sequence[TabEntry]:
        """Return the tabs of a domain that have a tool; of a cached tool, those of its origin."""
        entries = self._by_domain.get(domain, {}).values()
        return [each for each in entries if tool in each.tools and self._storage.may_have(domain, tool, each.url)]

    def definitions(self) -> list[dict[str, Any]]:
        """Return all tools for clients; the same objects until something changes."""
        return [definition for seen in self._seen.values() for _, definition in seen.tools.values()]

    def resources(self) -> list[dict[str, Any]]:
        """Return all resources for clients."""
        return [each for seen in self._seen.values() for each in seen.resources]

    def templates(self) -> list[dict[str, Any]]:
        """Return all templates of resources for clients."""
        return [each for seen in self._seen.values() for each in seen.templates]

    def find(self, name: str) -> ToolKey | None:
        """Return the key of a name, even of a tool no longer offered; None if it is unknown."""
        return self._names.find(name)

    def find_resource(self, text: str) -> ResourceKey | None:
        """Return the key of an address, even of a closed tab's; None if no tab of the domain has had its number."""
        if (parts := read_address(text)) is None:
            return None
        domain, number, uri = parts
        tab = self._numbers.tab(domain, number) if self._numbers else number
        return None if tab is None else ResourceKey(domain, uri, tab)

    def put(
        self,
        tab: int,
        url: str,
        domain: str,
        tools: Mapping[str, PageTool],
        *,
        browser: frozenset[str] = frozenset(),
        resources: Mapping[str, PageTool] | None = None,
        templates: Mapping[str, PageTool] | None = None,
        now: float,
    ) -> bool:
        """Replace the tools of a tab.

        Args:
            url: Its address.
            tools: All of its tools by name.
            browser: The page's `browser` capabilities.
            resources: All of its resources by address.
            templates: All of its templates by themselves.

        Returns:
            Whether the definitions have changed.
        """
        before = self._tabs.get(tab)
        touched = {domain}
        if before is not None and before.domain != domain:
            self._forget(before)
            touched.add(before.domain)
            before = None
        if before is not None and before.tools == tools:
            tools, now = before.tools, before.updated  # the same objects: nothing is rebuilt
        number = self._numbers.number(domain, tab) if self._numbers else tab
        entry = TabEntry(tab, domain, url, number, tools, browser, now, resources or {}, templates or {})
        self._tabs[tab] = self._by_domain.setdefault(domain, {})[tab] = entry
        touched.update(self._storage.put(domain, url, tools))
        return self._refresh(touched)

    def remove(self, tab: int) -> bool:
        """Forget a tab, and all of its tools that are not cached. Returns whether the definitions have changed."""
        entry = self._tabs.get(tab)
        if entry is None:
            return False
        self._forget(entry)
        self._storage.touch(entry.domain)
        return self._refresh({entry.domain})

    def activate(self, tab: int | None) -> bool:
        """Note which tab the user looks at. Returns whether the definitions have changed."""
        touched = {entry.domain for entry in self._tabs.values() if page_tab(entry.tab) in (self._active, tab)}
        self._active = tab
        return self._refresh(touched)

    def load(self) -> bool:
        """Offer the stored tools. Returns whether the definitions have changed."""
        return self._refresh(self._storage)

    def _forget(self, entry: TabEntry) -> None:
        del self._tabs[entry.tab]
        del self._by_domain[entry.domain][entry.tab]
        if not self._by_domain[entry.domain]:
            del self._by_domain[entry.domain]

    def _refresh(self, domains: Iterable[str]) -> bool:
        changed = [self._refresh_one(domain) for domain in domains]
        return any(changed)

    def _refresh_one(self, domain: str) -> bool:
        before = self._seen.get(domain, _DomainTools())
        entries = self._by_domain.get(domain, {})
        now = _DomainTools(self._label(domain, entries))
        numbers: dict[ToolKey, int | None] = {}
        for entry in entries.values():
            for name, tool in entry.tools.items():
                key = ToolKey(domain, name, entry.tab)
                numbers[key] = entry.number
                now.tools[key] = (tool, {})
        present = {key.tool for key in now.tools}
        for name, tool in self._storage.tools(domain).items():
            if name not in present:
                now.tools[ToolKey(domain, name)] = (tool, {})
        same_label = before.label == now.label
        for key, (tool, _) in now.tools.items():
            old = before.tools.get(key)
            if old is not None and (old[0] is tool or old[0] == tool):
                # The tool is unchanged: at most the label in its description is new.
                now.tools[key] = old if same_label else (tool, {**old[1], "description": now.described(tool)})
                continue
            name = self._names.name(key, numbers.get(key))
            shown = {**tool, **_titles(domain, tool), "name": name, "description": now.described(tool)}
            now.tools[key] = (tool, shown)
            self._names.name(ToolKey(domain, key.tool))  # reserved for calls without a tab
        self._retire(domain, before, now)
        for entry in entries.values():
            now.resources += [now.addressed(entry, "uri", each) for each in entry.resources.values()]
            now.templates += [now.addressed(entry, "uriTemplate", each) for each in entry.templates.values()]
        if now.tools or now.resources or now.templates:
            self._seen[domain] = now
        else:
            self._seen.pop(domain, None)
        return (
            list(before.tools) != list(now.tools)
            or any(before.tools[key] is not seen for key, seen in now.tools.items())
            or (before.resources, before.templates) != (now.resources, now.templates)
        )

    def _retire(self, domain: str, before: _DomainTools, now: _DomainTools) -> None:
        gone = before.tools.keys() - now.tools.keys()
        present = {key.tool for key in now.tools}
        keys = [key for key in before.tools if key in gone and key.tab is not None]
        keys += [ToolKey(domain, tool) for tool in {key.tool for key in gone} - present]
        self._names.retire(keys)

    def _label(self, domain: str, entries: Mapping[int, TabEntry]) -> str:
        with_tools = [entry for entry in entries.values() if entry.tools]
        active = (entry.number for entry in with_tools if page_tab(entry.tab) == self._active)
        return label(domain, len(with_tools), next(active, None))


def _titles(domain: str, tool: PageTool) -> dict[str, Any]:
    """Return the titles of a tool: clients show them instead of its name and description."""
    titles: dict[str, Any] = {"title": titled(domain, tool["title"])} if "title" in tool else {}
    if "title" in (annotations := tool.get("annotations", {})):
        titles["annotations"] = {**annotations, "title": titled(domain, annotations["title"])}
    return titles


def best_tab(entries: Sequence[TabEntry], active: int | None) -> TabEntry | None:
    """Return the active one of the tabs, else the one updated last; None for none.

    Args:
        entries: The tabs that have a tool.
        active: The tab that the user looks at.
    """
    return max(entries, key=lambda entry: (page_tab(entry.tab) == active, entry.updated, entry.tab), default=None)
