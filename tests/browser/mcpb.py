"""The official peers of MCP-B in a page: npm's `@mcp-b/transports` with the TypeScript SDK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
from playwright.async_api import Frame, Page

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.web.host_page import bundle_module
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import PAGES
from tests.browser.npm_scripts import beside

Json = dict[str, Any]
SCRIPT = "mcpb_page.js"


def bundle_peers(folder: Path, script: Path = PAGES / SCRIPT, packages: str = "mcp-b") -> str:
    """Bundle a script that imports the official peers into a folder; return its text.

    Args:
        folder: Where to write it, under its own name.
        script: The script; by default that of `mcpb.html`.
        packages: The folder of `tests/npm` with its packages.
    """
    target = folder / script.name
    bundle_module(str(beside(packages, script)), target, install_locked(checkout_dir()))
    return target.read_text("utf-8")


async def bring(page: Page | Frame, script: str) -> None:
    """Run the script in a page of ours, whose policy allows no other's scripts, and evaluates no text.

    What a test evaluates is exempt from that until it returns, which zod would notice and take for granted.
    """
    await page.evaluate(f"() => new Promise((done) => setTimeout(() => {{ {script}; done(); }}))")


class Peer:
    """One client of a page that has the script."""

    def __init__(self, page: Page | Frame, number: int) -> None:
        self.page = page
        self.number = number

    @classmethod
    async def tab(cls, page: Page | Frame, mode: str | None = None, channel: str = "mcp-default") -> Peer:
        """Connect a client to the page server in the page's own window."""
        with anyio.fail_after(BOOT_PATIENCE):
            return cls(page, await page.evaluate("given => mcpb.tabClient(...given)", [mode, channel]))

    @classmethod
    async def around(cls, page: Page, url: str, mode: str | None = None) -> Peer:
        """Frame a page server, unless it is there already, and connect a client to it."""
        with anyio.fail_after(BOOT_PATIENCE):
            return cls(page, await page.evaluate("given => mcpb.iframeClient(...given)", [url, mode]))

    @classmethod
    async def at_extension(cls, page: Page, id_: str, mode: str | None = None) -> Peer:
        """Connect a client to an extension."""
        with anyio.fail_after(BOOT_PATIENCE):
            return cls(page, await page.evaluate("given => mcpb.extensionClient(...given)", [id_, mode]))

    async def call(self, method: str, *parameters: Any) -> Json:
        """Call a method of the client; return its result or error."""
        given = [self.number, method, *parameters]
        with anyio.fail_after(BOOT_PATIENCE):
            answer: Json = await self.page.evaluate("given => mcpb.call(...given)", given)
        return answer

    async def tool(self, name: str, **arguments: Any) -> Json:
        """Call a tool, and return its result."""
        answer = await self.call("callTool", {"name": name, "arguments": arguments})
        result: Json = answer["result"]
        return result

    async def tools(self) -> list[str]:
        """Return the names of the server's tools."""
        return [tool["name"] for tool in (await self.call("listTools"))["result"]["tools"]]

    async def heard(self, what: str) -> str:
        """Wait until the client has heard something."""
        with anyio.fail_after(BOOT_PATIENCE):
            heard: str = await self.page.evaluate("given => mcpb.heard(...given)", [self.number, what])
        return heard


async def posted(page: Page | Frame) -> list[Json]:
    """Return the messages of MCP-B that the page has heard."""
    messages: list[Json] = await page.evaluate("() => mcpb.posted")
    return messages
