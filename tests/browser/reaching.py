"""The hosts of one and the same bundle, `templates/pi-calculator`: how each reaches it, behind one small interface."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from mcp.client.stdio import StdioServerParameters, stdio_client
from playwright.async_api import BrowserContext, FrameLocator, JSHandle, Page, expect

from mcpframe.kit.dev.inspector import Inspecting
from tests.bridge.clients import BridgedClient
from tests.bridge.programs import ROOT, environment
from tests.browser.apps_hosts import AppsHost
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Origins, chromium, new_context
from tests.browser.hosts import JavaScriptHost
from tests.browser.inspecting import InspectorPage, ServerPart
from tests.browser.mcpb import Peer, bring
from tests.browser.test_webmcp import HELPERS

Json = dict[str, Any]
Own = Page | FrameLocator
"""The page of the bundle."""

BOOT = BOOT_PATIENCE * 1000
LISTS = ("resources", "prompts")


@dataclass(frozen=True)
class Stage:
    """The parts of hosts.

    Attributes:
        context: the profile.
        origins: the test's origins.
        url: the bundle.
        framing: the page bundle of `servers/framing`.
        inspecting: the inspector.
        peers: the script with the clients of MCP-B, as text.
        folder: for a profile of the bridge.
    """

    context: BrowserContext
    origins: Origins
    url: str
    framing: str
    inspecting: Inspecting
    peers: str
    folder: Path

    async def page(self, name: str) -> Page:
        """Open a page of the host's origin, once its script has run."""
        page = await self.context.new_page()
        page.set_default_timeout(BOOT)
        await page.goto(name if name.startswith("http") else f"{self.origins.host}/{name}")
        if "template" not in name:
            await page.wait_for_selector("html[data-state=loaded]", state="attached")
        return page


class Reached:
    """The server as one host reaches it.

    Attributes:
        own: the bundle's page, where the host shows it.
    """

    own: Own | None = None

    async def call(self, tool: str, **arguments: Any) -> Json:
        """Call a tool; `progress` in the result is what was reported meanwhile."""
        raise NotImplementedError

    async def calls(self, expected: Json, tool: str, **arguments: Any) -> None:
        """Call a tool that must answer exactly this, progress included. In `_meta` the protocol eras differ."""
        result = await self.call(tool, **arguments)
        assert {name: result.get(name) for name in expected} == expected

    async def cancel(self, tool: str, **arguments: Any) -> None:
        """Call a tool, and cancel the call at its first progress."""
        raise NotImplementedError

    async def answers(self, kind: str) -> bool:
        """Return whether the host can list the server's resources or prompts."""
        return False

    async def message(self) -> str:
        """Wait for what the page sends to the conversation; where there is none, for what it says of that."""
        assert self.own
        await expect(self.own.locator("#note")).to_contain_text("does not offer ui/message")
        return await self.own.locator("#note").inner_text()


CALL = """async ([client, name, args, stop]) => {
    const progress = [];
    const abort = new AbortController();
    const onprogress = (step) => {
        progress.push(step.progress);
        if (stop) abort.abort("enough");
    };
    const options = { onprogress, signal: abort.signal, timeout: 120_000 };
    try {
        return { ...(await client.callTool({ name, arguments: args }, options)), progress };
    } catch (error) {
        if (!stop) throw error;
        return { progress };
    }
}"""
"""Calls a tool of a client, and cancels the call at its first progress if that is asked for."""
_LIST = """async ([client, verb, kind]) =>
    typeof client[verb] === "function" && Array.isArray((await client[verb]({}))[kind])"""


class ScriptClient(Reached):
    """A client of the TypeScript SDK, or what is called like one, in a page."""

    def __init__(self, page: Page, client: JSHandle, own: Own) -> None:
        self.page = page
        self.client = client
        self.own = own

    async def call(self, tool: str, **arguments: Any) -> Json:
        with anyio.fail_after(BOOT_PATIENCE):
            result: Json = await self.page.evaluate(CALL, [self.client, tool, arguments, False])
        return result

    async def cancel(self, tool: str, **arguments: Any) -> None:
        with anyio.fail_after(BOOT_PATIENCE):
            await self.page.evaluate(CALL, [self.client, tool, arguments, True])

    async def answers(self, kind: str) -> bool:
        verb = {"resources": "listResources", "prompts": "listPrompts"}[kind]
        with anyio.fail_after(BOOT_PATIENCE):
            return bool(await self.page.evaluate(_LIST, [self.client, verb, kind]))


@asynccontextmanager
async def host_js(stage: Stage) -> AsyncIterator[Reached]:
    """host.js, and npm's client."""
    page = await stage.page("template.html")
    async with JavaScriptHost(page, stage.url).connect() as connected:
        await connected.show(True)
        yield ScriptClient(page, await page.evaluate_handle("lab.client"), page.frame_locator("iframe"))


class FramingPage(Reached):
    """The page bundle with an `OuterFrame`."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.own = page.frame_locator("iframe")

    async def _ask(self, *request: Any) -> Any:
        with anyio.fail_after(BOOT_PATIENCE):
            return json.loads(await self.page.evaluate("text => ask(text)", json.dumps(request)))

    async def call(self, tool: str, **arguments: Any) -> Json:
        result: Json = await self._ask("call", tool, arguments)
        return result

    async def cancel(self, tool: str, **arguments: Any) -> None:
        await self._ask("cancel", tool, arguments)

    async def answers(self, kind: str) -> bool:
        return isinstance(await self._ask("list", kind, None), int)


@asynccontextmanager
async def outer_frame(stage: Stage) -> AsyncIterator[Reached]:
    """`OuterFrame`, and the SDK's client, in a page in Python."""
    page = await stage.page(stage.framing)
    with anyio.fail_after(BOOT_PATIENCE):
        await page.evaluate("url => ask(JSON.stringify(url))", stage.url)
    yield FramingPage(page)


class View(ScriptClient):
    """The bundle as a view in `AppBridge`."""

    async def message(self) -> str:
        with anyio.fail_after(BOOT_PATIENCE):
            told = await self.page.evaluate("apps.taken('onmessage')")
        return str(told["content"][0]["text"])


@asynccontextmanager
async def app_bridge(stage: Stage) -> AsyncIterator[Reached]:
    """`AppBridge` of npm's `@modelcontextprotocol/ext-apps`."""
    host = await AppsHost.load(stage.context, stage.origins, stage.url, "2.0.4")
    await host.open(answers={"onmessage": {}})
    yield View(host.page, await host.page.evaluate_handle("apps.bridge"), host.page.frame_locator("iframe"))


class EmbeddedPage(Reached):
    """The bundle as a page of mcp-ui, whose hosts call no tools of it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.own = page.frame_locator("iframe")

    async def message(self) -> str:
        with anyio.fail_after(BOOT_PATIENCE):
            while True:
                action = await self.page.evaluate("ui.taken('action')")
                if action.get("type") == "prompt":
                    return str(action["payload"]["prompt"])


@asynccontextmanager
async def ui_renderer(stage: Stage) -> AsyncIterator[Reached]:
    """`UIResourceRenderer` of npm's `@mcp-ui/client`."""
    page = await stage.page("ui_host.html")
    resource = {"uri": "ui://pi/calculator", "mimeType": "text/uri-list", "text": stage.url}
    await page.evaluate("resource => ui.open(resource, { answers: {} })", resource)
    yield EmbeddedPage(page)


@asynccontextmanager
async def plain_mcp(version: str, stage: Stage) -> AsyncIterator[Reached]:
    """npm's `Client` over plain MCP, of a version of `plain_hosts`."""
    page = await stage.page(f"plain_host.html?{version}")
    with anyio.fail_after(BOOT_PATIENCE):
        await page.evaluate("url => plain.connect(url)", stage.url)
    yield ScriptClient(page, await page.evaluate_handle("plain.client"), page.frame_locator("iframe"))


async def _peer(peer: Peer, page: Page, own: Own) -> Reached:
    return ScriptClient(page, await page.evaluate_handle("number => mcpb.clients[number]", peer.number), own)


@asynccontextmanager
async def mcpb_iframe(stage: Stage) -> AsyncIterator[Reached]:
    """`IframeParentTransport` of npm's `@mcp-b/transports`."""
    page = await stage.page("mcpb.html")
    yield await _peer(await Peer.around(page, stage.url), page, page.frame_locator("iframe"))


@asynccontextmanager
async def mcpb_tab(stage: Stage) -> AsyncIterator[Reached]:
    """`TabClientTransport` of npm's `@mcp-b/transports`, in the bundle's own tab."""
    page = await stage.context.new_page()
    await page.goto(stage.url)
    await page.wait_for_selector("#mcpframe-page[data-state=standalone]", timeout=BOOT)
    await bring(page, stage.peers)
    yield await _peer(await Peer.tab(page), page, page)


class Tools(Reached):
    """The tools of a document. Where nothing but WebMCP calls the bundle, its own page is not drawn."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def call(self, tool: str, **arguments: Any) -> Json:
        with anyio.fail_after(BOOT_PATIENCE):
            result: Json = await self.page.evaluate("given => call(...given)", [tool, arguments])
        return {**result, "progress": []}


@asynccontextmanager
async def webmcp(stage: Stage) -> AsyncIterator[Reached]:
    """Chromium's own `executeTool`, in the bundle's tab."""
    async with chromium("--enable-features=WebMCP") as browser, new_context(browser) as (context, _):
        await context.add_init_script(HELPERS)
        page = await context.new_page()
        await page.goto(stage.url)
        with anyio.fail_after(BOOT_PATIENCE):
            await page.evaluate("changed(['calculate_pi', 'reset'])")
        yield Tools(page)


class Bridged(Reached):
    """The official client at the bridge."""

    def __init__(self, client: BridgedClient) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> Json:
        progress: list[float] = []

        async def note(done: float, total: float | None, message: str | None) -> None:
            progress.append(done)

        with anyio.fail_after(BOOT_PATIENCE):
            result = await self.client.client.call_tool(tool, arguments, progress_callback=note)
        return {**result.model_dump(mode="json", by_alias=True, exclude_none=True), "progress": progress}

    async def cancel(self, tool: str, **arguments: Any) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: self.client.text(tool, **arguments))
            await self.client.next("progress")
            tasks.cancel_scope.cancel()

    async def answers(self, kind: str) -> bool:
        with anyio.fail_after(BOOT_PATIENCE):
            client = self.client.client
            found = await (client.list_resources() if kind == "resources" else client.list_prompts())
        return isinstance(getattr(found, kind), list)


@asynccontextmanager
async def bridge(stage: Stage) -> AsyncIterator[Reached]:
    """`mcpframe bridge`, and the official client over stdio."""
    arguments = ["-m", "mcpframe", "bridge", stage.url, "--profile", str(stage.folder)]
    arguments += ["--timeout", str(BOOT_PATIENCE)]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment(), cwd=ROOT)
    async with AsyncExitStack() as stack:
        errors = stack.enter_context((stage.folder / "stderr.txt").open("w"))
        client = BridgedClient(stdio_client(parameters, errlog=errors), "modern")
        await client.open(stack)
        yield Bridged(client)


class Inspected(Reached):
    """The inspector, used as a person does."""

    def __init__(self, part: ServerPart) -> None:
        self.part = part
        self.own = part.frame

    async def calls(self, expected: Json, tool: str, **arguments: Any) -> None:
        await self.part.call(tool, **{name: str(value) for name, value in arguments.items()})
        await self.part.answers(expected["content"][0]["text"])
        for value in expected["structuredContent"].values():
            await expect(self.part.result).to_contain_text(str(value))

    async def cancel(self, tool: str, **arguments: Any) -> None:
        await self.part.call(tool, **{name: str(value) for name, value in arguments.items()})
        panel = self.part.view.get_by_role("tabpanel", name="Tools")
        await panel.get_by_role("button", name="Cancel", exact=True).click()
        await expect(self.part.view.get_by_text("Cancelled.", exact=True)).to_be_visible()

    async def answers(self, kind: str) -> bool:
        await self.part.tab(kind.title())
        await expect(self.part.view.get_by_role("tabpanel", name=kind.title())).to_be_visible()
        return True


@asynccontextmanager
async def inspector(stage: Stage) -> AsyncIterator[Reached]:
    """`mcpframe inspect`."""
    site = stage.inspecting
    page = InspectorPage(await stage.context.new_page(), site)
    await page.page.goto(site.url_with(stage.url))
    part = await page.server("Pi calculator")
    await part.button("Show page").click()
    yield Inspected(part)


HOSTS: Mapping[str, Callable[[Stage], AbstractAsyncContextManager[Reached]]] = {
    "host.js": host_js,
    "OuterFrame": outer_frame,
    "AppBridge": app_bridge,
    "@mcp-ui/client": ui_renderer,
    "PostMessageTransport": partial(plain_mcp, "2.x"),
    "mcp-browser-transport": partial(plain_mcp, "port"),
    "@mcp-b, iframe": mcpb_iframe,
    "@mcp-b, tab": mcpb_tab,
    "WebMCP": webmcp,
    "mcpframe bridge": bridge,
    "the inspector": inspector,
}
"""How each host reaches the bundle, by its name in `tests/support/known_hosts.py`."""
