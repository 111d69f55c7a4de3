"""A list beside the details of the chosen item: the layout of most panels."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND

from inspector.session.telling import sentence
from mcpframe import Element, PageEvent


@dataclass(frozen=True)
class Item:
    """One item of the list.

    Attributes:
        name: its visible name.
        note: a line about it.
        data: the item on the wire; while it is unchanged, its details are not rendered again.
    """

    key: str
    name: str
    note: str = ""
    data: dict[str, Any] = field(default_factory=dict)


class Listing:
    """A list with details."""

    def __init__(self, place: Element, label: str, nothing: str, show: Callable[[Item, Element], None]) -> None:
        """Build an empty list.

        Args:
            label: the accessible name of the list.
            nothing: the text for an empty list.
            show: shows the details of an item in an empty element.
        """
        self._show = show
        self._items: dict[str, Item] = {}
        self._chosen = ""
        self._root = place.add("div", class_="insp-listing")
        side = self._root.add("nav", aria_label=label)
        self._list = side.add("ul")
        self._list.on("keydown", self._on_key)
        self._no_items = nothing
        self._nothing = side.add("p", "Not known before the server is connected.", class_="quiet")
        self._detail = self._root.add("div", class_="insp-detail")

    def fill(self, items: Sequence[Item], failure: Exception | None = None) -> None:
        """Replace the items. The chosen one stays chosen if it is still there.

        Args:
            failure: why the list, or a part of it, could not be read.

        Raises:
            Exception: the failure, once the items are shown.
        """
        before = self._items.get(self._chosen)
        self._items = {item.key: item for item in items}
        self._nothing.text = f"The server does not list them: {sentence(failure)}" if failure else self._no_items
        self._nothing.hidden = bool(items) and failure is None
        self._list.clear()
        for item in items:
            button = self._list.add("li").add("button", type="button", data_key=item.key)
            button.add("span", item.name)
            if item.note:
                button.add("small", item.note)
            button.on("click", lambda key=item.key: self.choose(key))
        if self._chosen not in self._items:
            self._chosen = next(iter(self._items), "")
        self._mark()
        if before is None or self._items.get(self._chosen) != before:
            self._open()
        if failure is not None:
            raise failure

    def choose(self, key: str) -> None:
        if key != self._chosen:
            self._chosen = key
            self._mark()
            self._open()

    def _on_key(self, event: PageEvent) -> None:
        """Move through the list with the arrow keys; Tab works as well."""
        step = {"ArrowUp": -1, "ArrowDown": 1}.get(event.key)
        keys = list(self._items)
        if step and event.target and (key := event.target.get("data-key")) in keys:
            event.js.preventDefault()
            to = keys[(keys.index(key) + step) % len(keys)]
            self.choose(to)
            next(button for button in self._list.elements("button") if button.get("data-key") == to).focus()

    def _mark(self) -> None:
        for button in self._list.elements("button"):
            button.set("aria-current", "true" if button.get("data-key") == self._chosen else None)

    def _open(self) -> None:
        self._detail.clear()
        if item := self._items.get(self._chosen):
            self._show(item, self._detail)


MOST_PAGES = 100
"""The maximum of pages, for a server whose list never ends."""


async def all_pages(ask: Callable[..., Awaitable[Any]], name: str) -> list[Any]:
    """Return all entries of a list.

    Args:
        ask: requests a page, given its `cursor`.
        name: the attribute of the result with the entries.
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


async def entries_or_failure(ask: Callable[..., Awaitable[Any]], name: str) -> tuple[list[Any], Exception | None]:
    """Return all entries of a list, and why it could not be read; a server without the method has no entries.

    Each list is its own: one that fails leaves the others as they are. See `all_pages` for the parameters.
    """
    try:
        return await all_pages(ask, name), None
    except Exception as error:  # noqa: BLE001  any error of the server or of the SDK is shown
        lacks_it = isinstance(error, MCPError) and error.error.code == METHOD_NOT_FOUND
        return [], None if lacks_it else error
