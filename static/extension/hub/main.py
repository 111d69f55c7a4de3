"""The hub in the extension's offscreen document. A page bundle, like any author's."""

from __future__ import annotations

from mcpframe import Page
from mcpframe.frame.browser.extension_runtime import ExtensionRuntime
from mcpframe.hub.homes.extension.home import serve


async def main(page: Page) -> None:
    """Serve for as long as the document is there."""
    await serve(ExtensionRuntime())
