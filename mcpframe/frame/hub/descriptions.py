"""Descriptions of tools as clients see them: the page's own text, after a label with its domain and tabs.

[shop.example] …                            one tab, or none
[shop.example • Active] …                   one tab, which the user looks at
[shop.example - 2 tabs] …
[shop.example - 2 tabs • Tab 2 Active] …    by its number in the names of its tools
"""

from __future__ import annotations

import re

_HIDING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""Characters that nobody sees: a description could hide its label with those that control or turn the text, and words
from a person, but not from a model, with the others. Those that join letters and emoji stay."""


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
    """Return a tool's description with its label; control characters are left out.

    Args:
        label: As `label` returns it.
        description: The page's own; None for none.
    """
    return f"{label} {_HIDING.sub('', description or '')}".rstrip()
