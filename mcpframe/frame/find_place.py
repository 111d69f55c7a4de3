"""The place that a host of this page names: in a browser, or a `Place` that is given."""

from __future__ import annotations

import sys
from typing import Any

from mcpframe.frame.core.errors import StateError
from mcpframe.frame.places import Place


def find_place(target: Any) -> Place:
    """Return the place for a selector or an element of this page, `POPUP`, or a `Place`.

    Raises:
        StateError: if there is none, or this is no page and it is no `Place`.
    """
    if sys.platform == "emscripten":
        from mcpframe.frame.browser.frames import place_of

        return place_of(target)
    if callable(target):
        made: Place = target
        return made
    raise StateError(
        f"{target!r} is a place in a browser's page: outside of one pass a PlaywrightPlace (mcpframe.kit.testing)."
    )
