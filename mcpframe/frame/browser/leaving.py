"""Notices that the page is hidden or left: the last time that it surely has to do something."""

from __future__ import annotations

from collections.abc import Callable

import js
from pyodide.ffi import create_proxy


def on_hidden(act: Callable[[], None]) -> Callable[[], None]:
    """Have a function called where the page is hidden, or begins to be unloaded.

    Args:
        act: The function.

    Returns:
        A function that ends it.
    """
    proxy = create_proxy(lambda event: act() if event.type == "pagehide" or js.document.hidden else None)
    places = ((js.document, "visibilitychange"), (js.window, "pagehide"))
    for target, name in places:
        target.addEventListener(name, proxy)

    def stop() -> None:
        for target, name in places:
            target.removeEventListener(name, proxy)
        proxy.destroy()

    return stop
