"""Paginated lists: the next request, and the end of the list."""

from __future__ import annotations

from typing import Any

from mcpframe.frame.core.limits import LISTED_PAGES


class Paging:
    """A walk through the pages of a list, without I/O.

        pages = Paging()
        while pages.more:
            result = await request("tools/list", pages.params)
            pages.follow(result.get("nextCursor"))

    Attributes:
        more: whether there is a page to ask for.
        cursor: its cursor; None for the first page.
        endless: whether the walk was given up: a cursor was repeated, or there are too many pages.
    """

    def __init__(self, most: int = LISTED_PAGES) -> None:
        """Begin with the first page.

        Args:
            most: the most pages that are requested.
        """
        self.more, self.endless = True, False
        self.cursor: str | None = None
        self._most = most
        self._seen: set[str | None] = {None}

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the request for the page."""
        return {} if self.cursor is None else {"cursor": self.cursor}

    def follow(self, cursor: Any) -> None:
        """Move to the next page.

        Args:
            cursor: `nextCursor` of the page that was read. The list ends if it is not a text.
        """
        self.more = isinstance(cursor, str)
        if self.more and (cursor in self._seen or len(self._seen) >= self._most):
            self.more, self.endless = False, True
        if self.more:
            self._seen.add(cursor)
            self.cursor = cursor
