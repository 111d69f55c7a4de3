"""Names of tools as clients see them, domains of tabs, and the table between the two.

    website_tool_<domain>_tab<N>_<tool>    a tool of a tab
    website_tool_<domain>_<tool>           a tool of a domain: of its best tab, or of a new one

Domain and tool are sanitised, so that different ones may look alike, and a name cannot be parsed: the table alone says
what it means. Two keys never share a name, and a name that was given out never means another key while it is kept.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

UNKNOWN = "unknown"
"""The domain of an address without one."""

LONGEST_NAME = 128
"""The limit of MCP and of WebMCP. Some clients demand 64."""

_PREFIX = "website_tool"
_NOT_ALLOWED = re.compile(r"[^a-zA-Z0-9_]")
_PORTS = {"http": 80, "https": 443}
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_DIGITS = 8


class ToolKey(NamedTuple):
    """What a name means.

    Attributes:
        tool: The tool's name in its page.
        tab: The tab; None for the domain's best one.
    """

    domain: str
    tool: str
    tab: int | None = None


def sanitised(text: str) -> str:
    """Return a text with an underscore in place of each character that a name must not have."""
    return _NOT_ALLOWED.sub("_", text)


def domain_of(url: str | None) -> str:
    """Return the domain of an address: its host, for this machine `localhost` and the port; else `unknown`.

    Args:
        url: The address of a tab, as the browser has it.
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
    """Return the origin of an address, as browsers write it: `null` for one that is neither http nor https."""
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
    """Return where a tab of a domain is opened if no address is known; None where there is none."""
    if domain == UNKNOWN:
        return None
    return f"http://{domain}" if domain.startswith("localhost:") else f"https://{domain}"


def address_for(domain: str, known: str | None) -> str | None:
    """Return where a tab of a domain is opened; None where there is no such address.

    Args:
        known: Where its page was, if that is known: taken only where it is an address of this domain.
    """
    return known if known is not None and domain_of(known) == domain else address_of(domain)


class ToolNames:
    """The table of names.

    The digits of a hash are of the domain, the tool and the number in the name, so that they are the same at each
    start.

    Args:
        longest: The longest name, at least 40.
        most_retired: How many names are kept whose tool is gone. Those of the domain that has most are forgotten, the
            oldest first: no domain can have the names of others forgotten. Once any is, each new name has a hash at its
            end, also of the browser's number of the tab, so that none is given out anew.
    """

    def __init__(self, *, longest: int = LONGEST_NAME, most_retired: int = 5000) -> None:
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
        """Return how many names are kept."""
        return len(self._names)

    def name(self, key: ToolKey, index: int | None = None) -> str:
        """Return the name of a key, always the same one while it is kept.

        Args:
            key: What it means.
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
        """Return what a name means; None where it means nothing."""
        return self._keys.get(name)

    def retire(self, keys: Iterable[ToolKey]) -> None:
        """Note that tools are gone: their names still mean them, until there are too many such names."""
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
        """Note that a tool is not gone."""
        of_domain = self._retired.get(key.domain, {})
        if key in of_domain:
            del of_domain[key]
            self._retired_count -= 1
            if not of_domain:
                del self._retired[key.domain]


class TabNumbers:
    """The numbers of tabs in their domains, from 1: a tab keeps its number, also over a reload.

    A number is given to one tab only, so that no name of a tab that is gone comes to mean another one.

    Args:
        most: How many tabs, and how many domains, are kept; the oldest are forgotten.

    Attributes:
        on_new: Called whenever a tab has got a number.
    """

    def __init__(self, *, most: int = 5000) -> None:
        self.on_new: Callable[[], None] = lambda: None
        self._most = most
        self._numbers: dict[tuple[str, int], int] = {}
        self._last: dict[str, int] = {}

    def number(self, domain: str, tab: int) -> int:
        """Return the number of a tab."""
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
        """Return the number that a tab has got; None for none."""
        return self._numbers.get((domain, tab))

    def dump(self) -> str:
        """Return all numbers as JSON text, for `restore`."""
        return json.dumps([[[*key, number] for key, number in self._numbers.items()], self._last])

    def restore(self, text: str) -> None:
        """Take the numbers of another hub, whose tabs are still there.

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
