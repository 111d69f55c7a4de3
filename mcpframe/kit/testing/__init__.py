"""Tests of authors: their servers in a real browser or in memory; and `PlaywrightPlace`, a frame in a Playwright page.

`PlaywrightPlace` is imported on first use, as it needs Playwright.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpframe.kit.browser.playwright_window import PlaywrightPlace as PlaywrightPlace

__all__ = ["PlaywrightPlace"]


def __getattr__(name: str) -> object:
    if name != "PlaywrightPlace":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mcpframe.kit.browser import playwright_window

    return playwright_window.PlaywrightPlace
