"""The whole hub: a browser, its tabs, the core, and the edge for clients."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import platformdirs

from mcpframe.frame.core.allowed_origins import ANY, parse_allowed_origins
from mcpframe.frame.waiting.clock import LoopClock
from mcpframe.hub.core.consent import Consent
from mcpframe.hub.core.hub import Hub
from mcpframe.hub.core.limits import NAME_CHARACTERS
from mcpframe.hub.core.names import origin_of
from mcpframe.hub.core.options import HubOptions
from mcpframe.hub.core.transport import PortTransport
from mcpframe.hub.serving.server import HubServer
from mcpframe.hub.serving.tasks import HubTasks
from mcpframe.kit.base.signals import ended_by_signals
from mcpframe.kit.browser.chromium import ensure_chromium
from mcpframe.kit.browser.profile import open_profile
from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.hub.consent_page import BrowserAsks
from mcpframe.kit.hub.folder_store import FolderStore
from mcpframe.kit.hub.http import serve_http
from mcpframe.kit.hub.log import hub_log
from mcpframe.kit.hub.stdio import serve_stdio
from mcpframe.kit.hub.tabs.browser_tabs import BrowserTabs
from mcpframe.kit.hub.tabs.browsers import AttachedBrowser, HubBrowser, OwnBrowser

log = logging.getLogger(__name__)

_START_SECONDS = 20.0
"""Pages in Python take seconds to start on a slow machine."""


@dataclass(frozen=True)
class HubSettings:
    """The options of the command.

    Attributes:
        pages: The addresses to open at the start.
        sites: The origins whose pages' tools are offered; empty for all.
        ask: Whether to ask the user before each call.
        attach: The address of a browser's DevTools; None for a browser of the hub's own.
        profile: The profile folder of the hub's own browser; None for the usual one.
        headless: Whether the hub's own browser has no window.
        longest_name: The longest name of a tool.
        log: The file for the log; None for none.
    """

    pages: Sequence[str] = ()
    sites: Sequence[str] = ()
    ask: bool = False
    attach: str | None = None
    profile: Path | None = None
    headless: bool = False
    longest_name: int = NAME_CHARACTERS
    log: Path | None = None

    def allows(self) -> Callable[[str], bool]:
        """Return a function that returns whether the tools of a page are offered, given its address.

        Raises:
            OriginError: A site can never match.
        """
        allowed = parse_allowed_origins(self.sites or [ANY])
        return lambda url: origin_of(url) in allowed


def default_folder() -> Path:
    """Return the usual profile folder of the hub's own browser."""
    return platformdirs.user_data_path("mcpframe", appauthor=False) / "hub" / "profile"


def hub_stdio(settings: HubSettings) -> None:
    """Serve one client on the standard streams until they end.

    Raises:
        McpFrameError: The browser does not start, or a site can never match.
    """
    run_hub(settings, serve_stdio)


def hub_http(settings: HubSettings, port: int, access: Access) -> None:
    """Serve Streamable HTTP until it is interrupted.

    Args:
        port: The port; 0 takes a free one.
        access: Where it listens, and who is answered.

    Raises:
        PortTaken: Another program listens on the port.
        McpFrameError: The browser does not start, or as by `Access.check`.
    """
    access.check()
    run_hub(settings, lambda server: serve_http(server, port, access))


def run_hub(settings: HubSettings, serve: Callable[[HubServer], Awaitable[None]]) -> None:
    """Run the hub until `serve` ends.

    Args:
        serve: Called with the hub's server, which is running.

    Raises:
        McpFrameError: The browser does not start, or a site can never match.
    """
    allows = settings.allows()
    with ExitStack() as stack:
        stack.enter_context(hub_log(settings.log))
        browser: HubBrowser
        if settings.attach is not None:
            digest = hashlib.sha256(settings.attach.encode()).hexdigest()[:12]
            folder = default_folder().parent / f"attached-{digest}"
            browser = AttachedBrowser(settings.attach, pages=settings.pages)
        else:
            chromium = ensure_chromium()
            profile = stack.enter_context(open_profile(settings.profile or default_folder()))
            if profile.is_copy:
                log.warning("Another hub uses this profile: this one works on a copy, which is not kept.")
            folder = profile.folder
            browser = OwnBrowser(chromium, profile.chromium, headless=settings.headless, pages=settings.pages)
        asyncio.run(_main(settings, allows, browser, FolderStore(folder / "tools"), serve))


async def _main(
    settings: HubSettings,
    allows: Callable[[str], bool],
    browser: HubBrowser,
    store: FolderStore,
    serve: Callable[[HubServer], Awaitable[None]],
) -> None:
    clock = LoopClock()
    transport = PortTransport(clock)
    tabs = BrowserTabs(browser, transport, clock, allows)
    consents = Consent(BrowserAsks(tabs)) if settings.ask else None
    options = HubOptions(
        longest_name=settings.longest_name, start_seconds=_START_SECONDS, allows=allows, consents=consents
    )
    hub = Hub(transport, tabs, store, clock, options)
    tabs.on_active = hub.activated
    server = HubServer(hub, version=version("mcpframe"), tasks=HubTasks(hub))
    failure: Exception | None = None
    with ended_by_signals():
        try:
            async with hub.running(), server.running():
                try:
                    await _both(tabs, serve(server))
                except Exception as error:  # noqa: BLE001  raised below: a task group would wrap it
                    failure = error
        finally:
            await tabs.close_all()
    if failure is not None:
        raise failure


async def _both(tabs: BrowserTabs, work: Awaitable[None]) -> None:
    """Serve clients, and keep the browser running. Clients are served before it starts, and after it ends."""
    keeping = asyncio.create_task(tabs.keep())
    serving = asyncio.ensure_future(work)
    try:
        await asyncio.wait({keeping, serving}, return_when=asyncio.FIRST_COMPLETED)
        if keeping.done() and not serving.done():
            keeping.result()
            log.warning("The browser has ended: its tools are gone. It starts again when a tool needs a tab.")
        await serving
    finally:
        keeping.cancel()
        serving.cancel()
        await asyncio.wait({keeping, serving})
