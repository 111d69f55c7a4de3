"""A large table in a page: some rows at a time, and buttons for those before and after. Only with kept values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from mcpframe.frame.results.html import table_html

if TYPE_CHECKING:
    from mcpframe.frame.page.elements import Element

SHOWN_ROWS = 100
"""The most rows that are shown at a time: a browser lays out some thousand cells without a pause."""

Shown = tuple[str, "Callable[[Element], None] | None"]
"""The display of an object: HTML, and a function that gets the element around it, to listen there."""
Read = Callable[[int, int], tuple[Iterable[str], Iterable[Iterable[Any]]]]


def browsed(total: int, read: Read) -> Shown:
    """Return a table in pages.

    Args:
        total: The number of its rows.
        read: Returns the columns and the rows from one number up to another.
    """
    start = 0

    def page_of_rows() -> str:
        return table_html(*read(start, min(start + SHOWN_ROWS, total)))

    def begin(element: Element) -> None:
        if total <= SHOWN_ROWS:
            return
        rows, bar = element.element(".mcpframe-rows"), element.element(".mcpframe-pages")
        before = bar.add("button", "Previous", type="button")
        place = bar.add("span", role="status")
        after = bar.add("button", "Next", type="button")

        def say() -> None:
            place.text = f"rows {start + 1:,} to {min(start + SHOWN_ROWS, total):,} of {total:,}"
            before.disabled, after.disabled = start == 0, start + SHOWN_ROWS >= total

        def move(by: int) -> None:
            nonlocal start
            start = max(0, min(start + by, (total - 1) // SHOWN_ROWS * SHOWN_ROWS))  # two clicks may come as one
            rows.unsafe_html = page_of_rows()  # escaped by table_html
            say()

        before.on("click", lambda: move(-SHOWN_ROWS))
        after.on("click", lambda: move(SHOWN_ROWS))
        say()

    return f'<div class="mcpframe-pages"></div><div class="mcpframe-rows">{page_of_rows()}</div>', begin
