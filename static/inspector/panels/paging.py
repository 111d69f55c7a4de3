"""Lists that a server returns in pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

MOST_PAGES = 100
"""The maximum of pages, for a server whose list never ends."""


async def all_pages(ask: Callable[..., Awaitable[Any]], name: str) -> list[Any]:
    """Return all entries of a list.

    Args:
        ask: requests a page, by its `cursor`.
        name: the attribute of the answer that has the entries.
    """
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await ask(cursor=cursor)
        found += getattr(page, name)
        cursor = page.next_cursor
        if cursor is None:
            break
    return found
