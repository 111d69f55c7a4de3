"""Which tab executes a call, and where one is opened that does."""

from __future__ import annotations

from collections.abc import Sequence

from mcpframe.hub.core.frames import page_tab
from mcpframe.hub.core.names import address_of, domain_of
from mcpframe.hub.core.registry import TabEntry


def best_tab(entries: Sequence[TabEntry], active: int | None) -> TabEntry | None:
    """Return the best one of the tabs that have a tool; None for none.

    Args:
        entries: The tabs.
        active: The one that the user looks at, which is the best; otherwise it is the one that was updated last.
    """
    return max(entries, key=lambda entry: (page_tab(entry.tab) == active, entry.updated, entry.tab), default=None)


def address_for(domain: str, known: str | None) -> str | None:
    """Return where a tab of a domain is opened; None where there is no such address.

    Args:
        domain: The domain.
        known: Where its page was, if that is known: taken only where it is an address of this domain.
    """
    return known if known is not None and domain_of(known) == domain else address_of(domain)
