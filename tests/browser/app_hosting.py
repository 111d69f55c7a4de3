"""`AppHost` in CPython, around a view of any HTML text that runs in Chromium behind the sandbox proxy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import Client
from mcp.server.apps import Apps, ResourceCsp, ResourcePermissions
from mcp.server.mcpserver import Context, MCPServer
from playwright.async_api import Frame, Page

from mcpframe.frame.hosting.mcp_apps.host import AppHost
from mcpframe.frame.hosting.mcp_apps.view import RunningView
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.clients import BOOT_PATIENCE

Json = dict[str, Any]
URI = "ui://weather/forecast"


@dataclass
class Asked:
    """What a view has asked of its host: the hooks of `AppHost`, which note it and answer from `answers`.

    Attributes:
        answers: by hook, what it returns; True where there is nothing.
    """

    notes: list[tuple[str, Any]] = field(default_factory=list)
    answers: Json = field(default_factory=dict)
    _changed: anyio.Event = field(default_factory=anyio.Event)

    def note(self, kind: str, value: Any) -> None:
        """Take note of something."""
        self.notes.append((kind, value))
        self._changed.set()
        self._changed = anyio.Event()

    async def taken(self, kind: str) -> Any:
        """Wait for something that was noted, and forget it."""
        with anyio.fail_after(BOOT_PATIENCE):
            while True:
                for number, (each, value) in enumerate(self.notes):
                    if each == kind:
                        del self.notes[number]
                        return value
                await self._changed.wait()

    @property
    def hooks(self) -> dict[str, Callable[..., Any]]:
        """All hooks of `AppHost`."""
        asked = ("link", "message", "download", "model_context", "display_mode", "sampling")
        return {
            **{f"on_{name}": self._hook(name) for name in asked},
            **{f"on_{name}": self._told(name) for name in ("log", "tools_changed", "teardown_request")},
        }

    def _hook(self, name: str) -> Callable[..., Any]:
        async def hook(*given: Any) -> Any:
            self.note(name, given[0] if len(given) == 1 else list(given))
            answer = self.answers.get(name, True)
            if answer is None:
                try:
                    await anyio.sleep_forever()
                except asyncio.CancelledError:
                    self.note("cancelled", name)
                    raise
            return answer

        return hook

    def _told(self, name: str) -> Callable[..., None]:
        return lambda *given: self.note(name, list(given))


def weather(html: str, asked: Asked | None = None, **csp: list[str]) -> MCPServer:
    """Return a server with a view of this text, and with tools for models, for views, and for both."""
    apps = Apps()

    @apps.tool(resource_uri=URI)
    def forecast(place: str) -> dict[str, Any]:
        """Forecasts the weather."""
        return {"place": place, "degrees": 21}

    @apps.tool(resource_uri=URI, visibility=["app"])
    async def refresh(ctx: Context, days: int = 1) -> list[int]:
        """Is for views only."""
        await ctx.report_progress(1, 2, "half")
        return list(range(days))

    @apps.tool(resource_uri=URI, visibility=["model"])
    def erase() -> str:
        """Is for models only."""
        if asked:
            asked.note("erased", True)
        return "erased"

    permissions = ResourcePermissions(clipboard_write={})
    apps.add_html_resource(URI, html, csp=ResourceCsp(**csp), permissions=permissions, prefers_border=True)
    server = MCPServer("weather", extensions=[apps])

    @server.resource("data://stations")
    def stations() -> str:
        return "Wien"

    @server.resource("data://station/{name}")
    def station(name: str) -> str:
        return name

    @server.prompt()
    def ask() -> str:
        return "How is the weather?"

    return server


@dataclass
class Shown:
    """A view that is shown.

    Attributes:
        page: the host's page.
        running: the host's side.
        asked: what the view has asked.
    """

    page: Page
    running: RunningView
    asked: Asked

    @property
    def frames(self) -> list[Frame]:
        """The proxy's frame, and the view's."""
        (proxy,) = self.page.main_frame.child_frames
        return [proxy, *proxy.child_frames]

    async def inside(self, script: str, argument: Any = None) -> Any:
        """Run a function of JavaScript in the view."""
        with anyio.fail_after(BOOT_PATIENCE):
            return await self.frames[1].evaluate(script, argument)

    async def heard(self, kind: str, wanted: Any = None) -> Any:
        """Wait for something that the view has heard, or for just this; return the last of its kind."""
        script = "kind => view.heard.filter(([each]) => each === kind).at(-1)"
        with anyio.fail_after(BOOT_PATIENCE):
            while not (found := await self.inside(script, kind)) or wanted not in (None, found[1]):
                await self.inside("() => new Promise((done) => requestAnimationFrame(done))")
        return found[1]


@asynccontextmanager
async def showing(
    page: Page,
    sandbox: str,
    html: str,
    *,
    tool: str = "forecast",
    server: Callable[[str, Asked], MCPServer] = weather,
    csp: Mapping[str, list[str]] | None = None,
    ready: bool = True,
    **options: Any,
) -> AsyncIterator[Shown]:
    """Show a view in a page for as long as the block lasts.

    Args:
        page: the host's page.
        sandbox: the address of the sandbox proxy.
        html: the view.
        tool: the tool that it is of.
        server: makes the server.
        csp: the domains that the view declares, as `ResourceCsp` takes them.
        ready: whether to wait until the view is.
        options: of `AppHost`.
    """
    asked = Asked()
    made = weather(html, asked, **(csp or {})) if server is weather else server(html, asked)
    async with Client(made) as client:
        host = AppHost(client, tool, sandbox=sandbox, **{**asked.hooks, **options})
        async with host.show(PlaywrightPlace(page)) as running:
            if ready:
                with anyio.fail_after(BOOT_PATIENCE):
                    await running.initialized()
            yield Shown(page, running, asked)
