"""The controls of a view's surroundings: theme, display mode, size, locale, and how it gets its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from mcpframe import Page
from mcpframe.frame.elements import Element
from view_context import HEIGHTS, MODES, THEMES, WIDTHS, Surroundings


class ViewControls:
    """A row of controls.

    Attributes:
        surroundings: what is chosen.
    """

    def __init__(self, page: Page, place: Element, changed: Callable[[], None]) -> None:
        """Build the row, with what this browser prefers.

        Args:
            page: the page.
            place: where to.
            changed: called after each change of the surroundings.
        """
        self._changed = changed
        window = page.js.defaultView
        dark = bool(window.matchMedia("(prefers-color-scheme: dark)").matches)
        self.surroundings = Surroundings(
            theme="dark" if dark else "light",
            locale=str(window.navigator.language or ""),
            time_zone=str(window.Intl.DateTimeFormat().resolvedOptions().timeZone or ""),
        )
        row = place.add("div", class_="insp-row insp-bar", role="group", aria_label="Surroundings of the view")
        self._select(row, "Theme", "theme", THEMES)
        self._mode = self._select(row, "Display", "mode", MODES)
        self._select(row, "Width", "width", WIDTHS)
        self._select(row, "Height", "height", HEIGHTS)
        locale = row.add("label", "Locale").add("input", size="7", spellcheck="false", placeholder="en-US")
        locale.value = self.surroundings.locale
        locale.on("change", lambda: self._choose(locale=locale.value.strip()))
        self._stream = self._check(row, "Stream the arguments")
        self._wasm = self._check(row, "Allow WebAssembly")

    @property
    def streams(self) -> bool:
        """Whether the view gets arguments in growing pieces, as a model writes them."""
        return self._stream.checked

    @property
    def wasm(self) -> bool:
        """Whether the view's own page may run WebAssembly, which some hosts forbid."""
        return self._wasm.checked

    def choose_mode(self, mode: str) -> None:
        """Show a display mode that the view has asked for; `changed` is not called."""
        self._mode.value = mode
        self.surroundings = replace(self.surroundings, mode=mode)

    def _choose(self, **chosen: str) -> None:
        self.surroundings = replace(self.surroundings, **chosen)
        self._changed()

    def _select(self, row: Element, label: str, name: str, options: Mapping[str, str]) -> Element:
        select = row.add("label", label).add("select")
        for value, text in options.items():
            select.add("option", text, value=value)
        select.value = getattr(self.surroundings, name)
        select.on("change", lambda: self._choose(**{name: select.value}))
        return select

    def _check(self, row: Element, label: str) -> Element:
        line = row.add("label", class_="insp-check")
        box = line.add("input", type="checkbox")
        line.add("span", label)
        return box
