"""The controls of a page's surroundings: theme, display mode, size, locale, and options of its frame."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from inspector.views.context import FOLLOWS, HEIGHTS, MODES, THEMES, WIDTHS, Surroundings
from mcpframe import Element, Page
from mcpframe.hosts import HOST_PROFILES, HostProfile

PATIENCE: Final = 120
"""Seconds that an action of a page waits for its answer, by default."""
LONGEST: Final = 3600

SHOWN_AS: Final = {
    name: profile.title for name, profile in HOST_PROFILES.items() if profile.storage and profile.top == "https"
}
"""The profiles of hosts that this page can stand for, and their visible names. Others need another browser or page."""

Reload = Callable[[], Awaitable[None]]


class Controls:
    """A row of controls.

    Attributes:
        surroundings: the current choice.
    """

    def __init__(self, page: Page, place: Element, changed: Callable[[], None], label: str) -> None:
        """Build an empty row, with this browser's preferences.

        Args:
            changed: called after each change of the surroundings.
            label: the accessible name of the row.
        """
        self._changed = changed
        window = page.js.defaultView
        dark = bool(window.matchMedia("(prefers-color-scheme: dark)").matches)
        self.surroundings = Surroundings(
            theme="dark" if dark else "light",
            locale=str(window.navigator.language or ""),
            time_zone=str(window.Intl.DateTimeFormat().resolvedOptions().timeZone or ""),
        )
        self._row = place.add("div", class_="insp-row insp-bar", role="group", aria_label=label)
        self._mode: Element | None = None

    def choose_mode(self, mode: str) -> None:
        """Show a display mode requested by the view; `changed` is not called."""
        assert self._mode is not None
        self._mode.value = mode
        self.surroundings = replace(self.surroundings, mode=mode)

    def _choose(self, **chosen: str) -> None:
        self.surroundings = replace(self.surroundings, **chosen)
        self._changed()

    def _offer(self, label: str, name: str, options: Mapping[str, str]) -> Element:
        """Add a choice of the surroundings."""
        select = self._select(label, options)
        select.value = getattr(self.surroundings, name)
        select.on("change", lambda: self._choose(**{name: select.value}))
        return select

    def _select(self, label: str, options: Mapping[str, str]) -> Element:
        select = self._row.add("label", label).add("select")
        for value, text in options.items():
            select.add("option", text, value=value)
        return select

    def _check(self, label: str, place: Element | None = None) -> Element:
        line = (place or self._row).add("label", class_="insp-check")
        box = line.add("input", type="checkbox")
        line.add("span", label)
        return box


class ViewControls(Controls):
    """The controls of a view of MCP Apps.

    Attributes:
        granted: the permissions that the user grants of those requested by the view; empty at first.
    """

    def __init__(self, page: Page, place: Element, changed: Callable[[], None], reload: Reload) -> None:
        super().__init__(page, place, changed, "Surroundings of the view")
        self.granted: tuple[str, ...] = ()
        self._reload = reload
        self._asked: tuple[str, ...] = ()
        self._permissions = place.add("div", class_="insp-row", role="group", hidden=True)
        self._permissions.set("aria-label", "Permissions that the view asks for")
        self._offer("Theme", "theme", THEMES)
        self._mode = self._offer("Display", "mode", MODES)
        self._offer("Width", "width", WIDTHS)
        self._offer("Height", "height", HEIGHTS)
        locale = self._row.add("label", "Locale").add("input", size="7", spellcheck="false", placeholder="en-US")
        locale.value = self.surroundings.locale
        locale.on("change", lambda: self._choose(locale=locale.value.strip()))
        self._profile = self._select("Show as in", {"": "This inspector", **SHOWN_AS})
        self._profile.on("change", reload)
        self._stream = self._check("Stream the arguments")
        self._wasm = self._check("Allow WebAssembly")

    def show_permissions(self, asked: tuple[str, ...]) -> None:
        """Offer to grant the view's requested permissions, from the next time that it is shown."""
        self.granted = tuple(name for name in self.granted if name in asked)
        if asked == self._asked:
            return
        self._asked = asked
        self._permissions.clear()
        self._permissions.hidden = not asked
        self._permissions.add("span", "It asks for", class_="quiet")
        for name in asked:
            box = self._check(name, self._permissions)
            box.checked = name in self.granted
            box.on("change", lambda name=name, box=box: self._grant(name, box.checked))

    async def _grant(self, name: str, granted: bool) -> None:
        kept = tuple(each for each in self.granted if each != name)
        self.granted = (*kept, name) if granted else kept
        await self._reload()

    @property
    def streams(self) -> bool:
        """Whether the view gets arguments in growing pieces, as a model writes them."""
        return self._stream.checked

    @property
    def wasm(self) -> bool:
        """Whether the view's own page may run WebAssembly, which some hosts forbid. A profile decides that itself."""
        return self._wasm.checked

    @property
    def profile(self) -> HostProfile | None:
        """The host that the view is shown as in; None for the inspector itself."""
        return HOST_PROFILES.get(self._profile.value)


class UiControls(Controls):
    """The controls of the page of a UI resource."""

    def __init__(self, page: Page, place: Element, changed: Callable[[], None], reload: Reload) -> None:
        """Build the row.

        Args:
            changed: called after each change of the surroundings.
            reload: shows the page again, as some choices only apply then.
        """
        super().__init__(page, place, changed, "Surroundings of the page")
        self._mode = self._offer("Display", "mode", MODES)
        self._offer("Width", "width", WIDTHS)
        self._follows = self._select("Frame", FOLLOWS)
        self._follows.on("change", reload)
        self._tools = self._select("Tool calls", {"": "Answer by hand", "call": "Call the tool"})
        self._wait = self._row.add("label", "Seconds to answer").add(
            "input", type="number", min="1", max=str(LONGEST), value=str(PATIENCE)
        )

    @property
    def follows(self) -> Any:
        """The parts of its reported size that the frame follows: `auto_resize` of `UiHost`."""
        return {"both": True, "": False}.get(self._follows.value, self._follows.value)

    @property
    def calls_tools(self) -> bool:
        """Whether the page's tool calls go to the server without a question to the user."""
        return self._tools.value == "call"

    @property
    def patience(self) -> float:
        """Seconds that an action waits for its answer."""
        try:
            seconds = float(self._wait.value)
        except ValueError:
            return PATIENCE
        return seconds if 0 < seconds <= LONGEST else PATIENCE
