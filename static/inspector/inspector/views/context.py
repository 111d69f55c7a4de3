"""The host's context for a view, and the user's choices of it. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

MODES: Final = {"inline": "Inline", "fullscreen": "Full screen", "pip": "Picture in picture"}
"""The display modes of MCP Apps, and their visible names."""

THEMES: Final = {"light": "Light", "dark": "Dark"}
WIDTHS: Final = {"": "As wide as here", "320": "320 px", "480": "480 px", "768": "768 px"}
HEIGHTS: Final = {"": "As high as it is", "200": "At most 200 px", "400": "At most 400 px", "800": "At most 800 px"}
FOLLOWS: Final = {"height": "Follows its height", "both": "Follows its size", "": "Keeps its size"}
"""The parts of a page's reported size that its frame follows."""


@dataclass(frozen=True)
class Surroundings:
    """The surroundings of a view.

    Attributes:
        theme: one of `THEMES`.
        mode: one of `MODES`.
        width: one of `WIDTHS`.
        height: one of `HEIGHTS`.
        locale: a language tag, such as `"de-AT"`; empty for none.
        time_zone: the name of the time zone; empty for none.
    """

    theme: str = "light"
    mode: str = "inline"
    width: str = ""
    height: str = ""
    locale: str = ""
    time_zone: str = ""

    def context(self) -> dict[str, Any]:
        """Return the host's context in the names of MCP Apps."""
        container: dict[str, int] = {}
        if self.width:
            container["width"] = int(self.width)
        if self.height:
            container["maxHeight"] = int(self.height)
        context: dict[str, Any] = {
            "theme": self.theme,
            "displayMode": self.mode,
            "availableDisplayModes": list(MODES),
            "containerDimensions": container,
            "platform": "web",
        }
        if self.locale:
            context["locale"] = self.locale
        if self.time_zone:
            context["timeZone"] = self.time_zone
        return context


def view_of(tool: Mapping[str, Any]) -> str | None:
    """Return the address of a tool's view, from `tools/list`; None if it has no view.

    Servers before 2026-01-26 use the flat name in `_meta`.
    """
    meta = tool.get("_meta")
    if not isinstance(meta, Mapping):
        return None
    ui = meta.get("ui")
    uri = ui.get("resourceUri") if isinstance(ui, Mapping) else None
    uri = meta.get("ui/resourceUri") if uri is None else uri
    return uri if isinstance(uri, str) and uri.startswith("ui://") else None
