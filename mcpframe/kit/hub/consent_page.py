"""Asks for consent to calls on a page of the hub's own, in the browser whose pages are called.

Standard input belongs to the client, so a question on the terminal is not possible. The page is an empty one that the
hub fills over DevTools: it has no address, so no other page can open, frame or read it, or answer for the user.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import BrowserGone

_SIZE = {"width": 640, "height": 640}


class AskPage(Protocol):
    """A page for questions: see `tab_page.HubPage`."""

    async def show(self, html: str, expression: str) -> Any:
        """Show a page, and return the result of an expression in it."""
        ...


class AskTabs(Protocol):
    """The tabs, for questions: see `browser_tabs.BrowserTabs`."""

    def asking(self) -> Any: ...

    async def new_page(self, **options: Any) -> Any:
        """Open an empty page."""
        ...

    def close(self, page: Any) -> None: ...


class BrowserAsks:
    """Asks in a window of the browser."""

    def __init__(self, tabs: AskTabs) -> None:
        self._tabs = tabs

    async def __call__(self, question: Mapping[str, Any]) -> str:
        folder = static_dir() / "hub"
        html = (folder / "consent.html").read_text("utf-8")
        script = (folder / "consent.js").read_text("utf-8").rstrip().rstrip(";")
        with self._tabs.asking():
            page: AskPage = await self._tabs.new_page(newWindow=True, background=False, **_SIZE)
            try:
                return str(await page.show(html, f"({script})({json.dumps(question)})"))
            except BrowserGone:
                return "deny"  # the user has closed it
            finally:
                self._tabs.close(page)
