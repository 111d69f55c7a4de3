"""The fit of a page into the page around it: the host's theme, and its own size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import js
from pyodide.ffi import create_proxy


class Dress:
    """The host's appearance, applied to this page. Omitted parts keep the author's values."""

    def __init__(self) -> None:
        self._fonts: Any = None
        self._variables: set[str] = set()

    def apply(
        self,
        *,
        theme: str | None,
        variables: Mapping[str, str],
        fonts: str | None,
        insets: tuple[float, float, float, float] | None,
    ) -> None:
        """Apply it, in place of the previous one.

        Args:
            theme: `"light"` or `"dark"`: the attribute `data-theme` and the colour scheme of the document.
            variables: CSS variables of the document.
            fonts: CSS with font faces. It is adopted as a style sheet, as the page's policy allows no inline styles.
            insets: top, right, bottom and left, in CSS pixels: padding of the document.
        """
        root = js.document.documentElement
        if theme in ("light", "dark"):
            root.setAttribute("data-theme", theme)
            root.style.colorScheme = theme
        for name in self._variables - set(variables):
            root.style.removeProperty(name)
        for name, value in variables.items():
            root.style.setProperty(name, value)
        self._variables = set(variables)
        if fonts and self._fonts is None:
            self._fonts = js.CSSStyleSheet.new()
            js.document.adoptedStyleSheets.push(self._fonts)
        if self._fonts is not None:
            self._fonts.replaceSync(fonts or "")
        if insets is not None:
            root.style.padding = " ".join(f"{inset:g}px" for inset in insets)


def follow_size(measured: Callable[[int, int, int], None]) -> Callable[[], None]:
    """Measure the preferred size of this page, now and whenever it may change, at most once per animation frame.

    The height is the content's, independent of the frame's: otherwise a host that applies it would make the page grow
    without end.

    Args:
        measured: called with the preferred width and height and the height of its frame, in CSS pixels.

    Returns:
        A function that stops it.
    """
    waiting = 0

    def measure(*_: Any) -> None:
        nonlocal waiting
        waiting = 0
        root = js.document.documentElement
        height = root.style.height
        root.style.height = "max-content"
        sizes = (js.innerWidth, root.getBoundingClientRect().height, js.innerHeight)
        root.style.height = height
        measured(*(int(js.Math.ceil(size)) for size in sizes))

    def changed(*_: Any) -> None:
        nonlocal waiting
        waiting = waiting or js.requestAnimationFrame(on_frame)

    on_frame, on_change = create_proxy(measure), create_proxy(changed)
    observer = js.ResizeObserver.new(on_change)
    observer.observe(js.document.documentElement)
    observer.observe(js.document.body)
    measure()

    def stop() -> None:
        observer.disconnect()
        if waiting:
            js.cancelAnimationFrame(waiting)
        on_frame.destroy()
        on_change.destroy()

    return stop
