"""A host page with the official `AppBridge` of npm's `@modelcontextprotocol/ext-apps`, and a view to put into it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from playwright.async_api import BrowserContext, Page

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.web.host_page import bundle_module
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.npm_scripts import beside

if TYPE_CHECKING:
    from tests.browser.conftest import Origins

Json = dict[str, Any]
VERSIONS = ("2.0.4", "1.7.5")
"""Of the host's `AppBridge`: today's, and the last one for mcp 1.x."""
CONTEXT = {
    "theme": "dark",
    "locale": "de-AT",
    "timeZone": "Europe/Vienna",
    "displayMode": "inline",
    "availableDisplayModes": ["inline", "fullscreen"],
    "containerDimensions": {"width": 400, "maxHeight": 600},
    "platform": "desktop",
    "deviceCapabilities": {"touch": False, "hover": True},
    "safeAreaInsets": {"top": 1, "right": 2, "bottom": 3, "left": 4},
    "styles": {
        "variables": {"--color-text-primary": "rgb(1, 2, 3)"},
        "css": {"fonts": "@font-face { font-family: Hosts; src: local(Arial); }"},
    },
    "toolInfo": {"id": 7, "tool": {"name": "forecast", "inputSchema": {"type": "object"}}},
}


def bundle_script(source: Path, version: str, target: Path) -> None:
    """Bundle a module that imports the official SDK of MCP Apps in a version."""
    modules = install_locked(checkout_dir())
    if version != VERSIONS[0]:
        source = beside("ext-apps-1.7", source)
    bundle_module(str(source), target, modules)


class AppsHost:
    """The page of the host, with one view in it."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url

    @classmethod
    async def load(cls, context: BrowserContext, origins: Origins, url: str, version: str) -> AppsHost:
        """Open the host's page.

        Args:
            context: the profile.
            origins: the test's origins.
            url: the view.
            version: the version of `AppBridge`.
        """
        page = await context.new_page()
        page.set_default_timeout(BOOT_PATIENCE * 1000)
        await page.goto(f"{origins.host}/apps_host.html?{version}")
        await page.wait_for_function("document.documentElement.dataset.state === 'loaded'")
        return cls(page, url)

    async def open(self, **options: Any) -> Json:
        """Frame the view; return what it said of itself."""
        said: Json = await self._run("([url, options]) => apps.open(url, options)", [self.url, options])
        return said

    async def call(self, method: str, params: Any = None, **options: Any) -> Any:
        """Call a method of the bridge."""
        script = "([method, params, options]) => apps.call(method, params, options)"
        return await self._run(script, [method, params or {}, options])

    async def raw(self, message: Json) -> Json:
        """Send a request of JSON-RPC past the bridge; return the answer."""
        answer: Json = await self._run("message => apps.raw(message)", message)
        return answer

    async def tool(self, name: str, **arguments: Any) -> Any:
        """Call a tool of the view, and return its structured content."""
        answered = await self.call("callTool", {"name": name, "arguments": arguments})
        assert not answered["result"].get("isError"), answered
        return answered["result"]["structuredContent"]

    async def ask(self, method: str, *, within: float = 60, **arguments: Any) -> Json:
        """Let the view use its host API; the host has so many seconds."""
        answer: Json = await self.tool("ask", method=method, arguments=arguments, within=within)
        return answer

    async def taken(self, kind: str) -> Any:
        """Wait for something that the bridge was told."""
        return await self._run("kind => apps.taken(kind)", kind)

    async def _run(self, script: str, argument: Any) -> Any:
        with anyio.fail_after(BOOT_PATIENCE):
            return await self.page.evaluate(script, argument)


class Hand:
    """A page around a view, which a test plays by hand."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @classmethod
    async def load(cls, context: BrowserContext, origin: str) -> Hand:
        """Open a page of an origin."""
        page = await context.new_page()
        await page.goto(f"{origin}/apps_by_hand.html")
        return cls(page)

    async def run(self, script: str, argument: Any = None) -> Any:
        """Run a function of JavaScript in the page."""
        with anyio.fail_after(BOOT_PATIENCE):
            return await self.page.evaluate(script, argument)

    async def say(self, method: str, params: Json) -> None:
        """Post a notification."""
        await self.post({"jsonrpc": "2.0", "method": method, "params": params})

    async def post(self, *messages: Any) -> None:
        """Post messages, of which each may have keys such as `__proto__`."""
        texts = [json.dumps(each) for each in messages]
        await self.run("texts => texts.forEach((text) => say(JSON.parse(text)))", texts)

    async def hears(self, method: str) -> Json:
        """Wait for a message of the view."""
        heard: Json = await self.run("method => hand.hears((data) => data.method === method)", method)
        return heard

    async def tool(self, id_: str | int, name: str, **arguments: Any) -> Json:
        """Call a tool of the view."""
        params = {"name": name, "arguments": arguments}
        answer = await self.run("([id, params]) => hand.ask(id, 'tools/call', params)", [id_, params])
        result: Json = answer["result"]["structuredContent"]
        return result
