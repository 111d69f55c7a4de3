"""What a view asks of its host and tells it, as a list, and what the model would know from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from mcpframe import Page
from mcpframe.frame.elements import Element
from results import json_tree, show_result

MOST = 200
"""How many entries are shown."""

Json = Mapping[str, Any]


class Activity:
    """The list of one view."""

    def __init__(self, page: Page, place: Element) -> None:
        """Build an empty list, which is hidden until there is something in it."""
        self._page = page
        self._context_box = place.add("section", role="region", aria_label="Model context", hidden=True)
        self._context_box.add("h4", "Model context")
        self._context = self._context_box.add("div", class_="insp-model-context")
        self._box = place.add("section", hidden=True)
        self._box.add("h4", "Activity of the view")
        self._list = self._box.add("ul", role="log", aria_label="Activity of the view", class_="insp-activity")

    def note(self, what: str, text: str = "", blocks: Sequence[Json] = ()) -> None:
        """Add an entry.

        Args:
            what: what the view did, in a few words.
            text: more about it.
            blocks: content blocks to show.
        """
        self._box.hidden = False
        entry = self._list.add("li")
        entry.add("time", datetime.now().astimezone().strftime("%H:%M:%S"), class_="quiet")
        entry.add("strong", what)
        if text:
            entry.add("span", text, class_="insp-text")
        if blocks:
            show_result(self._page, entry.add("div"), {"content": list(blocks)})
        while len(self._list.js.children) > MOST:
            self._list.js.firstElementChild.remove()

    def model_context(self, blocks: Sequence[Json], structured: Json | None) -> None:
        """Show what the view tells the model, in place of what it told before."""
        self._context_box.hidden = False
        self._context.clear()
        if blocks:
            show_result(self._page, self._context.add("div"), {"content": list(blocks)})
        if structured is not None:
            json_tree(self._page, self._context.add("div"), dict(structured), label="Structured model context")
        if not blocks and structured is None:
            self._context.add("p", "Nothing.", class_="quiet")

    def clear(self) -> None:
        """Remove everything."""
        self._list.clear()
        self._context.clear()
        self._box.hidden = self._context_box.hidden = True
