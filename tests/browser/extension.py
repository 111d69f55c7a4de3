"""A Chromium with the built extension, and the official client at one of its ports."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from playwright.async_api import BrowserContext, CDPSession, Error, Page, async_playwright

from mcpframe.frame.compat.sdk import SdkMessages
from mcpframe.frame.core import payload
from tests.browser.outers import PATIENCE
from tests.support.origins import chromium_options
from tests.support.polling import until

_PROXY = """
const port = chrome.runtime.connect({ name: "mcp-content-script-proxy" });
const tool = (name) => ({ name, description: `D ${name}`, inputSchema: { type: "object", properties: {} } });
port.onMessage.addListener(({ type, requestId, toolName, args }) => {
  if (type !== "execute-tool") return;
  const payload = { content: [{ type: "text", text: `${toolName} ${JSON.stringify(args)}` }] };
  port.postMessage({ type: "tool-result", requestId, data: { success: true, payload } });
  port.postMessage({ type: "tools-updated", tools: [tool("greet"), tool("part")] });
});
port.postMessage({ type: "register-tools", tools: [tool("greet")], tabUrl: location.href });
"""
"""A content script of MCP-B, as far as the hub sees one."""
_CLIENT_PAGE = '<!doctype html><meta charset="utf-8"><title>A client</title>'
_OPEN = """([name, heard, ended]) => {
  const port = chrome.runtime.connect({ name });
  port.onMessage.addListener((message) => globalThis[heard](JSON.stringify(message)));
  port.onDisconnect.addListener(() => globalThis[ended]());
  return (globalThis[`${heard}Port`] = port) && true;
}"""


@dataclass
class Extended:
    """A Chromium with the extension.

    Attributes:
        context: Its tabs.
        folder: The extension's folder.
        id: The extension's id.
        devtools: A session with the browser.
        client_page: A page of the extension's own, for clients.
    """

    context: BrowserContext
    folder: Path
    id: str
    devtools: CDPSession
    client_page: Page

    _ports: int = 0

    @property
    def origin(self) -> str:
        """The extension's origin."""
        return f"chrome-extension://{self.id}"

    async def _target(self, kind: str) -> str | None:
        found = (await self.devtools.send("Target.getTargets"))["targetInfos"]
        ids = [each["targetId"] for each in found if each["type"] == kind and each["url"].startswith(self.origin)]
        return ids[0] if ids else None

    async def stop_worker(self) -> None:
        """Stop the service worker, as the browser does when it has nothing to do.

        The next event starts it again, perhaps at once: so what the browser reports counts, and no later look at it.
        """
        session = await self.context.new_cdp_session(self.client_page)
        stopped = asyncio.Event()

        def heard(reported: dict[str, Any]) -> None:
            if any(
                version["runningStatus"] == "stopped" and version["scriptURL"].startswith(self.origin)
                for version in reported["versions"]
            ):
                stopped.set()

        session.on("ServiceWorker.workerVersionUpdated", heard)
        await session.send("ServiceWorker.enable")
        await session.send("ServiceWorker.stopAllWorkers")
        with anyio.fail_after(PATIENCE):
            await stopped.wait()
        await session.detach()

    async def end_hub(self) -> None:
        """End the hub's document, as a browser does that is short of memory."""
        target = await self._target("background_page")
        assert target
        await self.devtools.send("Target.closeTarget", {"targetId": target})

        async def is_gone() -> bool:
            return await self._target("background_page") != target

        await until(is_gone, PATIENCE, pause=0.05)

    async def reload(self) -> None:
        """Load the extension again, as an update does; its pages are closed."""
        await self.devtools.send("Extensions.loadUnpacked", {"path": str(self.folder)})
        self.client_page = await self.context.new_page()
        await self.client_page.goto(f"{self.origin}/client.html")

    @asynccontextmanager
    async def transport(self, name: str = "mcp") -> AsyncIterator[tuple[Any, Any]]:
        """Connect a client to a port; its streams end with the port."""
        messages = SdkMessages()
        incoming, read = anyio.create_memory_object_stream[Any](math.inf)
        write, outgoing = anyio.create_memory_object_stream[Any](math.inf)
        self._ports += 1
        heard, ended = f"heard{self._ports}", f"ended{self._ports}"
        page = self.client_page

        async def post() -> None:
            async for item in outgoing:
                with contextlib.suppress(Error):  # the port has ended
                    await page.evaluate(f"text => {heard}Port.postMessage(JSON.parse(text))", messages.text(item))

        def take(text: str) -> None:
            incoming.send_nowait(messages.read(payload.parse(text, **_LIMITS)))

        await page.expose_function(heard, take)
        await page.expose_function(ended, incoming.close)
        answer = await page.evaluate("chrome.runtime.sendMessage({ to: 'worker', call: 'ensureHub' })")
        assert "error" not in answer, answer
        await page.evaluate(_OPEN, [name, heard, ended])
        posting = asyncio.create_task(post())
        try:
            yield read, write
        finally:
            posting.cancel()
            with contextlib.suppress(Error):
                await page.evaluate(f"{heard}Port.disconnect()")
            for stream in (incoming, read, write, outgoing):
                stream.close()

    def client(self, mode: str = "auto") -> Client:
        """Return a client of the hub, at a port of the extension's own."""
        return Client(self.transport(), mode=mode, cache=None)


_LIMITS = {"max_bytes": 1 << 26, "max_nesting": 64}


@asynccontextmanager
async def chromium_with(
    extension: Path, folder: Path, *others: Path, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Extended]:
    """Run a Chromium with the extension.

    Args:
        extension: The built extension. It is copied, and given a page for clients, and a content script of MCP-B in
            pages of the site `proxied`.
        folder: A folder for the copy and the profile.
        others: Other extensions.
        environment: More variables.
    """
    loaded = folder / "extension"
    shutil.copytree(extension, loaded)
    manifest = json.loads((loaded / "manifest.json").read_text("utf-8"))
    matches = [each for each in manifest["host_permissions"] if "proxied" in each]
    if matches:
        manifest["content_scripts"].append({"matches": matches, "js": ["proxy.js"]})
    (loaded / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    (loaded / "proxy.js").write_text(_PROXY, "utf-8")
    (loaded / "client.html").write_text(_CLIENT_PAGE, "utf-8")
    options = chromium_options()
    folders = ",".join(str(each) for each in (loaded, *others))
    more = [
        f"--disable-extensions-except={folders}",
        f"--load-extension={folders}",
        "--enable-unsafe-extension-debugging",
    ]
    options["args"] = [*options["args"], *more]
    variables: dict[str, str | float | bool] = {**os.environ, **(environment or {})}
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(
            str(folder / "profile"),
            headless=True,
            ignore_default_args=["--disable-extensions"],
            env=variables,
            **options,
        )
        with anyio.fail_after(PATIENCE):
            while not context.service_workers:
                await context.wait_for_event("serviceworker")
        assert context.browser
        id_ = context.service_workers[0].url.split("/")[2]
        page = context.pages[0]
        await page.goto(f"chrome-extension://{id_}/client.html")
        yield Extended(context, loaded, id_, await context.browser.new_browser_cdp_session(), page)
        await context.close()
