"""Names of tools as clients see them, domains of tabs, and the table between the two.

    website_tool_<domain>_tab<N>_<tool>    a tool of a tab
    website_tool_<domain>_<tool>           a tool of a domain: of its best tab, or of a new one

Domain and tool are sanitised, so different ones may look alike, and a name cannot be parsed: only the table resolves
it. Two keys never share a name, and a name in the table never changes its meaning.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from mcpframe.hub.core import limits

UNKNOWN = "unknown"
"""The domain of an address without one."""


_PREFIX = "website_tool"
_NOT_ALLOWED = re.compile(r"[^a-zA-Z0-9_]")
_PORTS = {"http": 80, "https": 443}
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_DIGITS = 8  # hexadecimal, and enough: a name that is taken gets another digest


class ToolKey(NamedTuple):
    """The meaning of a name.

    Attributes:
        tool: The tool's name in its page.
        tab: The tab; None for the domain's best one.
    """

    domain: str
    tool: str
    tab: int | None = None

    @property
    def asked(self) -> dict[str, str]:
        """The requested tool, for the data of errors."""
        return {"tool": self.tool}


class ResourceKey(NamedTuple):
    """The meaning of an address: see `addresses`.

    Attributes:
        uri: The resource's address in its page.
        tab: The tab.
    """

    domain: str
    uri: str
    tab: int

    @property
    def asked(self) -> dict[str, str]:
        """The requested resource, for the data of errors."""
        return {"uri": self.uri}


PageKey = ToolKey | ResourceKey


def sanitised(text: str) -> str:
    """Return a text with an underscore in place of each character that is invalid in a name."""
    return _NOT_ALLOWED.sub("_", text)


def domain_of(url: str | None) -> str:
    """Return the domain of an address: its host; `localhost` and the port for this machine; else `unknown`.

    Args:
        url: The address of a tab, from the browser.
    """
    try:
        parts = urlsplit(url or "")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return UNKNOWN
    if parts.scheme not in ("http", "https") or not host:
        return UNKNOWN
    if host in _LOCAL:
        return f"localhost:{port or 80}"
    return f"[{host}]" if ":" in host else host


def origin_of(url: str) -> str:
    """Return the origin of an address, as browsers write it: `null` unless it is http or https."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "null"
    if parts.scheme not in ("http", "https") or not host:
        return "null"
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + ("" if port in (None, _PORTS[parts.scheme]) else f":{port}")


def address_of(domain: str) -> str | None:
    """Return the default address for a tab of a domain; None if there is none."""
    if domain == UNKNOWN:
        return None
    return f"http://{domain}" if domain.startswith("localhost:") else f"https://{domain}"


def address_for(domain: str, known: str | None) -> str | None:
    """Return the address to open for a tab of a domain; None if there is none.

    Args:
        known: The last address of its page, if known: used only if it is of this domain.
    """
    return known if known is not None and domain_of(known) == domain else address_of(domain)


class ToolNames:
    """The table of names.

    A hash is taken over the domain, the tool and the number in the name, so that it is the same at each start.

    Args:
        longest: The longest name, at least 40.
        most_retired: How many names of removed tools are kept. Beyond that, the oldest of the domain with most is
            forgotten, so no domain can displace the names of others. Once any is forgotten, each new name ends with a
            hash that covers the browser's tab number too, so that no name is reused.
    """

    def __init__(self, *, longest: int = limits.NAME_CHARACTERS, most_retired: int = limits.RETIRED_NAMES) -> None:
        if longest < 40:
            raise ValueError("Names need at least 40 characters: website_tool_, a part of the domain, and a number.")
        self._longest = longest
        self._most_retired = most_retired
        self._names: dict[ToolKey, str] = {}
        self._keys: dict[str, ToolKey] = {}
        self._retired: dict[str, dict[ToolKey, None]] = {}
        self._retired_count = 0
        self._has_forgotten = False

    def __len__(self) -> int:
        return len(self._names)

    def name(self, key: ToolKey, index: int | None = None) -> str:
        """Return the name of a key, always the same one while it is kept.

        Args:
            index: The tab's number in its domain.
        """
        self._revive(key)
        if (known := self._names.get(key)) is not None:
            return known
        tab = f"tab{index}_" if key.tab is not None else ""
        plain = f"{_PREFIX}_{sanitised(key.domain)}_{tab}{sanitised(key.tool)}"
        name, tries = plain[: self._longest], 0
        is_hashed = self._has_forgotten or len(plain) > self._longest
        while (is_hashed and not tries) or name in self._keys:
            tab_id = key.tab if self._has_forgotten else None
            ending = f"_{_digest(key.domain, key.tool, index if key.tab is not None else None, tab_id, tries)}"
            name = plain[: self._longest - len(ending)] + ending
            tries += 1
        self._names[key] = name
        self._keys[name] = key
        return name

    def find(self, name: str) -> ToolKey | None:
        """Return the key of a name; None if it is unknown."""
        return self._keys.get(name)

    def retire(self, keys: Iterable[ToolKey]) -> None:
        """Note that tools are gone: their names are kept until there are too many."""
        for key in keys:
            if key in self._names:
                of_domain = self._retired.setdefault(key.domain, {})
                self._retired_count += key not in of_domain
                of_domain[key] = None
        while self._retired_count > self._most_retired:
            most = max(self._retired.values(), key=len)
            oldest = next(iter(most))
            self._revive(oldest)
            del self._keys[self._names.pop(oldest)]
            self._has_forgotten = True

    def _revive(self, key: ToolKey) -> None:
        """Note that a tool is there again."""
        of_domain = self._retired.get(key.domain, {})
        if key in of_domain:
            del of_domain[key]
            self._retired_count -= 1
            if not of_domain:
                del self._retired[key.domain]


class TabNumbers:
    """The numbers of tabs in their domains, from 1: a tab keeps its number over a reload.

    A number is never reused, so that a name of a closed tab never means another tab.

    Args:
        most: The largest number of tabs, and of domains, kept; the oldest are forgotten.

    Attributes:
        on_new: Called whenever a tab gets a number.
    """

    def __init__(self, *, most: int = limits.NUMBERED_TABS) -> None:
        self.on_new: Callable[[], None] = lambda: None
        self._most = most
        self._numbers: dict[tuple[str, int], int] = {}
        self._last: dict[str, int] = {}

    def number(self, domain: str, tab: int) -> int:
        """Return the number of a tab; a new tab gets the next one."""
        key = (domain, tab)
        number = self._numbers.pop(key, None)
        is_new = number is None
        if number is None:
            number = self._last.pop(domain, 0) + 1
            self._last[domain] = number
        self._numbers[key] = number  # the newest is last
        while len(self._numbers) > self._most:
            del self._numbers[next(iter(self._numbers))]
        while len(self._last) > self._most:
            del self._last[next(iter(self._last))]
        if is_new:
            self.on_new()
        return number

    def known(self, domain: str, tab: int) -> int | None:
        """Return the number of a tab; None if it has none."""
        return self._numbers.get((domain, tab))

    def tab(self, domain: str, number: int) -> int | None:
        """Return the tab of a domain that has a number; None if there is none."""
        return next((tab for (of, tab), known in self._numbers.items() if of == domain and known == number), None)

    def dump(self) -> str:
        """Return all numbers as JSON text, for `restore`."""
        return json.dumps([[[*key, number] for key, number in self._numbers.items()], self._last])

    def restore(self, text: str) -> None:
        """Continue with the numbers of an earlier hub, whose tabs are still open.

        Raises:
            ValueError: They are not from `dump`.
        """
        try:
            numbers, last = json.loads(text)
            self._numbers = {(str(domain), int(tab)): int(number) for domain, tab, number in numbers}
            self._last = {str(domain): int(number) for domain, number in last.items()}
        except (AttributeError, TypeError) as error:
            raise ValueError(str(error)) from error


def _digest(*parts: str | int | None) -> str:
    text = "\0".join("" if part is None else str(part) for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
