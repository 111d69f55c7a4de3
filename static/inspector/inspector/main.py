"""The inspector: a host for framed servers that shows all of their features. A page bundle, like any author's."""

from __future__ import annotations

import asyncio
import warnings

from mcp.shared.exceptions import MCPDeprecationWarning

from inspector.app.shell import Shell
from inspector.forms.patterns import PATTERNS, BrowserWorker
from mcpframe import Page
from mcpframe.hosts import visible


async def main(page: Page) -> None:
    """Show the inspector while its page is open."""
    warnings.simplefilter("ignore", MCPDeprecationWarning)  # it supports every era of the protocol, on purpose
    page.text_filter = visible  # nearly all that it shows is another's
    await page.show("app.html")
    PATTERNS.start = lambda: BrowserWorker(page)
    await Shell(page).begin()
    await asyncio.Event().wait()
