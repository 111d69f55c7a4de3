"""The list of a view's requests and notifications, and of its context for the model.

A page that floods its host costs the host little: above a rate, entries are only counted.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from inspector.results.result import json_tree, show_result
from mcpframe import Element, Page
from mcpframe.wire import TokenBucket

MOST = 200
"""The number of entries shown."""
BURST, PER_SECOND = 50, 10
"""The number of entries accepted at once, and then per second."""
_NEAR_END = 24
"""A list scrolled to within this many pixels of its end keeps following it."""

Json = Mapping[str, Any]


class Activity:
    """The list of one view."""

    def __init__(self, page: Page, place: Element, *, name: str = "Activity of the view") -> None:
        self._page = page
        self._tokens = TokenBucket(BURST, PER_SECOND, time.monotonic)
        self._missed = 0
        self._follows = True
        self._told: Element | None = None
        self._context_box = place.add("section", role="region", aria_label="Model context", hidden=True)
        self._context_box.add("h4", "Model context")
        self._context = self._context_box.add("div", class_="insp-model-context")
        self._box = place.add("section", hidden=True)
        self._box.add("h4", name)
        self._area = self._box.add("div", role="log", aria_label=name, class_="insp-activity", tabindex="0")
        self._list = self._area.add("ul")

    def note(self, what: str, text: str = "", blocks: Sequence[Json] = ()) -> Element | None:
        """Add an entry.

        Args:
            what: the view's action, in a few words.
            text: details.
            blocks: content blocks to show.

        Returns:
            The entry; None above the rate.
        """
        if not self._tokens.take():
            self._miss()
            return None
        self._box.hidden = False
        self._told = None
        area = self._area.js
        self._follows = area.scrollHeight - area.scrollTop - area.clientHeight < _NEAR_END
        entry = self._list.add("li")
        entry.add("time", datetime.now().astimezone().strftime("%H:%M:%S"), class_="quiet")
        entry.add("strong", what)
        if text:
            entry.add("span", text, class_="insp-text")
        if blocks:
            show_result(self._page, entry.add("div"), {"content": list(blocks)})
        self._cut()
        self.follow()
        return entry

    def follow(self) -> None:
        """Scroll to the end of the list if the end was visible before the last entry, which may have grown."""
        if self._follows:
            self._area.js.scrollTop = self._area.js.scrollHeight

    def _miss(self) -> None:
        """Count one more dropped entry in the last line."""
        if self._told is None:
            self._told, self._missed = self._list.add("li", class_="quiet"), 0
            self._cut()
        self._missed += 1
        self._told.text = f"{self._missed:,} more came too fast to be listed."

    def _cut(self) -> None:
        while self._list.js.childElementCount > MOST:
            self._list.js.firstElementChild.remove()

    def model_context(self, blocks: Sequence[Json], structured: Json | None) -> None:
        """Show the view's context for the model, in place of an earlier one."""
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
        self._told = None
        self._context.clear()
        self._box.hidden = self._context_box.hidden = True
