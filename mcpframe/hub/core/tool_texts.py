"""The texts and icons of a page's tool, made safe for display to people and models.

| part | with invisible characters |
|---|---|
| titles and descriptions, also within schemas | are passed on without them |
| names, values and keys, which the page compares | the tool is left out: removing them would change it |
| `_meta`, which is for programs | is passed on unchanged |

Descriptions start with a label of the domain and its tabs:

[shop.example] …                            one tab, or none
[shop.example • Active] …                   one tab, which the user looks at
[shop.example - 2 tabs] …
[shop.example - 2 tabs • Tab 2 Active] …    by its number in the names of its tools

A title has the domain alone, and does not change as tabs come and go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core.visible import plain, visible
from mcpframe.hub.core.names import origin_of

_TEXTS = frozenset({"title", "description", "$comment"})
_PICTURE = "data:image/"


class Unfit(Exception):
    """The reason why a tool is left out, as the end of a sentence."""


def readable(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool without invisible characters.

    Args:
        tool: A valid tool.

    Raises:
        Unfit: They are in names, values or keys, which the page compares.
    """
    return {member: value if member == "_meta" else _readable(value, member) for member, value in tool.items()}


def own_icons(tool: Mapping[str, Any], url: str | None) -> list[Any]:
    """Return the icons of a tool that are data URLs, or of its page's origin.

    Others could be of another site, or not images at all: `javascript:`, `file:` (MCP, "Icons").

    Args:
        tool: A valid tool.
        url: The address of its page; None if unknown.
    """
    origin = origin_of(url or "")
    return [
        icon
        for icon in tool.get("icons", ())
        if icon["src"].lower().startswith(_PICTURE) or (origin != "null" and origin_of(icon["src"]) == origin)
    ]


def _readable(value: Any, member: str | None = None) -> Any:
    if isinstance(value, str):
        if member in _TEXTS:
            return plain(value)
        if visible(value) != value.replace("\r", "\\r"):  # line ends excepted
            raise Unfit(f"it has invisible characters, in '{visible(value)[:80]}'")
        return value
    if isinstance(value, list):
        return [_readable(each) for each in value]
    if isinstance(value, dict):
        return {_readable(key): _readable(each, key) for key, each in value.items()}
    return value


def label(domain: str, tabs: int, active: int | None) -> str:
    """Return the label of a domain's tools.

    Args:
        tabs: How many tabs with tools it has.
        active: The number of the tab that the user looks at; None for none.
    """
    several = f" - {tabs} tabs" if tabs > 1 else ""
    if active is None:
        return f"[{domain}{several}]"
    return f"[{domain}{several} • Tab {active} Active]" if several else f"[{domain} • Active]"


def described(label: str, description: str | None) -> str:
    """Return a tool's description after a label that it cannot hide.

    Args:
        label: From `label`.
        description: The page's own; None for none.
    """
    return f"{label} {plain(description or '')}".rstrip()


def titled(domain: str, title: str) -> str:
    """Return a tool's title as one line with its domain."""
    return f"[{domain}] {' '.join(plain(title).split())}".rstrip()
