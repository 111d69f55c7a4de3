"""Detect that the page is hidden or left: its last reliable chance to act."""

from __future__ import annotations

from collections.abc import Callable

import js
from pyodide.ffi import create_proxy


def on_hidden(act: Callable[[], None]) -> Callable[[], None]:
    """Call a function when the page is hidden, or begins to unload. Returns a function that ends this."""
    proxy = create_proxy(lambda event: act() if event.type == "pagehide" or js.document.hidden else None)
    places = ((js.document, "visibilitychange"), (js.window, "pagehide"))
    for target, name in places:
        target.addEventListener(name, proxy)

    def stop() -> None:
        for target, name in places:
            target.removeEventListener(name, proxy)
        proxy.destroy()

    return stop
