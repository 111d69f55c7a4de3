"""Tabs, with the keyboard use of the ARIA Authoring Practices: one Tab stop, arrow keys between the tabs."""

from __future__ import annotations

from itertools import count
from typing import Any

from mcpframe import Element, Page, PageEvent

_numbers = count(1)


class Tabs:
    """A row of tabs and their panels."""

    def __init__(self, page: Page, place: Element, label: str) -> None:
        """Build an empty row; `add` adds tabs.

        Args:
            label: the accessible name of the row.
        """
        self._page = page
        self._list = place.add("div", role="tablist", aria_label=label, class_="insp-tabs")
        self._place = place
        self._tabs: list[tuple[Element, Element]] = []
        self._list.on("keydown", self._on_key)

    def add(self, label: str) -> Element:
        """Add a tab and return its panel."""
        number = next(_numbers)
        tab = self._list.add(
            "button", label, type="button", role="tab", id=f"insp-tab-{number}", aria_controls=f"insp-panel-{number}"
        )
        panel = self._place.add(
            "div",
            role="tabpanel",
            id=f"insp-panel-{number}",
            aria_labelledby=f"insp-tab-{number}",
            class_="insp-panel",
            tabindex="0",
        )
        at = len(self._tabs)
        tab.on("click", lambda: self.choose(at))
        self._tabs.append((tab, panel))
        self.choose(0)
        return panel

    def count(self, panel: Element, text: str) -> None:
        """Show a number, or another short text, on a panel's tab."""
        for tab, its_panel in self._tabs:
            if its_panel == panel:
                for old in tab.elements("span"):
                    old.remove()
                if text:
                    tab.add("span", text, class_="insp-count")

    def open(self, panel: Element) -> None:
        """Show a panel."""
        self.choose(next(at for at, (_, its_panel) in enumerate(self._tabs) if its_panel == panel))

    def choose(self, at: int, *, focus: bool = False) -> None:
        """Show a tab's panel."""
        for number, (tab, panel) in enumerate(self._tabs):
            tab.set("aria-selected", "true" if number == at else "false")
            tab.set("tabindex", "0" if number == at else "-1")
            panel.hidden = number != at
        if focus:
            self._tabs[at][0].focus()

    def _on_key(self, event: PageEvent) -> None:
        chosen = next(at for at, (tab, _) in enumerate(self._tabs) if tab.get("aria-selected") == "true")
        moves: dict[str, int] = {"ArrowLeft": chosen - 1, "ArrowRight": chosen + 1, "Home": 0, "End": -1}
        if event.key in moves:
            js: Any = event.js
            js.preventDefault()
            self.choose(moves[event.key] % len(self._tabs), focus=True)
