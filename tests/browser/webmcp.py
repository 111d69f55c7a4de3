"""A Chromium whose documents have a `modelContext` (WebMCP), and what tests ask of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, BrowserContext

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Troubles, watched


@asynccontextmanager
async def profile(browser: Browser, *scripts: str) -> AsyncIterator[tuple[BrowserContext, Troubles]]:
    """Return a fresh profile, whose pages must not complain, and begin with these scripts."""
    context = await browser.new_context()
    context.set_default_timeout(BOOT_PATIENCE * 1000)
    for script in scripts:
        await context.add_init_script(script)
    async with watched(context) as troubles:
        yield context, troubles
    await context.close()


def polyfill_text() -> str:
    """Return the text of npm's `@mcp-b/webmcp-polyfill`, which begins where it is loaded."""
    packages = install_locked(checkout_dir() / "tests" / "npm" / "mcp-b")
    return (packages / "@mcp-b" / "webmcp-polyfill" / "dist" / "index.iife.js").read_text("utf-8")
