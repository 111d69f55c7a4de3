"""Short notices that disappear by themselves, and are read out by screen readers."""

from __future__ import annotations

import asyncio

from mcpframe import Page
from mcpframe.frame.page.elements import Element

LASTING = 8.0
"""How long a notice stays, in seconds; the user may dismiss it earlier."""


class Toasts:
    """The notices of the page."""

    def __init__(self, page: Page) -> None:
        """Show notices in an element of the page: a live region has to exist before its content."""
        self._place = page.element("#insp-toasts")
        self._page = page

    def show(self, text: str) -> None:
        """Show a notice."""
        toast = self._place.add("div", class_="insp-toast")
        toast.add("span", text)
        toast.add("button", "Dismiss", type="button", class_="plain").on("click", lambda: toast.remove())
        self._page.run(lambda: self._remove(toast), "A notice")

    async def _remove(self, toast: Element) -> None:
        await asyncio.sleep(LASTING)
        toast.remove()
