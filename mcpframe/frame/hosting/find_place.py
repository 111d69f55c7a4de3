"""The place that a host of this page names: in a browser, or a `Place` that is given."""

from __future__ import annotations

import sys
from typing import Any

from mcpframe.frame.core.errors import StateError
from mcpframe.frame.session.places import Place, Popup


def find_place(target: Any, *, popup: bool = False) -> Place:
    """Return the place for a selector or an element of this page, or a `Place`.

    Args:
        target: what the host of a page passes.
        popup: whether `POPUP` is a place, too. What needs a sandbox around it has none in a popup.

    Raises:
        StateError: if there is none, or this is no page and it is no `Place`.
    """
    if isinstance(target, Popup) and not popup:
        raise StateError("A popup has no sandbox: pass a selector or an element for an iframe.")
    if sys.platform == "emscripten":
        from mcpframe.frame.browser.frames import place_of

        return place_of(target)
    if callable(target):
        made: Place = target
        return made
    raise StateError(
        f"{target!r} is a place in a browser's page: outside of one pass a PlaywrightPlace (mcpframe.kit.testing)."
    )
