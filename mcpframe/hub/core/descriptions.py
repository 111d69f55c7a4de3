"""Descriptions and titles of tools as clients see them: the page's own text, after a label with its domain and tabs.

[shop.example] …                            one tab, or none
[shop.example • Active] …                   one tab, which the user looks at
[shop.example - 2 tabs] …
[shop.example - 2 tabs • Tab 2 Active] …    by its number in the names of its tools

A title, which stays as it is while tabs come and go, has the domain alone.
"""

from __future__ import annotations

from mcpframe.frame.core.visible import plain


def label(domain: str, tabs: int, active: int | None) -> str:
    """Return the label of a domain's tools.

    Args:
        domain: The domain.
        tabs: How many tabs with tools it has.
        active: The number of the one that the user looks at; None for none.
    """
    several = f" - {tabs} tabs" if tabs > 1 else ""
    if active is None:
        return f"[{domain}{several}]"
    return f"[{domain}{several} • Tab {active} Active]" if several else f"[{domain} • Active]"


def described(label: str, description: str | None) -> str:
    """Return a tool's description with its label, which nothing in it can hide.

    Args:
        label: As `label` returns it.
        description: The page's own; None for none.
    """
    return f"{label} {plain(description or '')}".rstrip()


def titled(domain: str, title: str) -> str:
    """Return a title of a tool as one line with its domain, as people read titles in the place of descriptions."""
    return f"[{domain}] {' '.join(plain(title).split())}".rstrip()
