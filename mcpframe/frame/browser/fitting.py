"""The fit of a page into the page around it: the host's theme, and its own size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import js
from pyodide.ffi import create_proxy


class HostAppearance:
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


def follow_size(report: Callable[[int, int], None], *, drawn: bool) -> Callable[[], None]:
    """Report the size that this page wants, once it has drawn and whenever that changes: see `static/page/fitting.js`.

    Args:
        report: called with the width and the height, in CSS pixels.
        drawn: whether the author's code draws nothing that must be waited for.

    Returns:
        A function that stops it.
    """
    on_size = create_proxy(lambda width, height: report(int(width), int(height)))
    end = js.mcpframeFollowSize(on_size, drawn)

    def stop() -> None:
        end()
        on_size.destroy()

    return stop
