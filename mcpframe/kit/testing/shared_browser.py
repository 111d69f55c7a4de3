"""The browser shared by all tests of a run: one Chromium in its own thread, and servers for the bundles.

The profile is kept for the run, so that from the second test on a page's files are in the HTTP cache. The process of a
bundle's pages is kept, too, with their compiled code. With a new profile, each test would be a cold start. Every test
has its own tab and session, and the pages' stored data is removed between tests.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

from mcpframe.frame.core.allowed_origins import OPAQUE
from mcpframe.frame.dialects.available import view_dialects
from mcpframe.kit.base.cache import cache_dir
from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.base.extras import need
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.browser.chromium import devtools_address, ensure_chromium, launch_options
from mcpframe.kit.browser.cross_loop_window import ask
from mcpframe.kit.project.project import find_server

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

    from mcpframe.kit.browser.host_tab import HostTab
    from mcpframe.kit.bundle.output_root import BuildResult

_PATIENCE = 10_000  # milliseconds for clicks and inputs
KEEPER = "/mcpframe-keeper"
"""The path of host pages that belong to no test: see `SharedBrowser._keep`."""
_FRAME = """url => new Promise(loaded => {
  const frame = document.body.appendChild(document.createElement("iframe"));
  frame.onload = loaded;
  frame.src = url;
})"""


@dataclass(frozen=True)
class ServedBundle:
    """A served bundle.

    Attributes:
        url: The address to frame.
        origin: The origin of that address.
        host: The origin of a host page that may frame it.
        app_host: The origin of a host of MCP Apps that may frame it.
        manifest: Its manifest.
    """

    url: str
    origin: str
    host: str
    app_host: str
    manifest: Mapping[str, Any] = field(default_factory=dict)

    def check_offered(self, dialect: str) -> None:
        """Raise `ConfigError` if the bundle does not offer a dialect."""
        from mcpframe.kit.servers.published import not_offered

        if reason := not_offered(self.manifest, dialect):
            raise ConfigError(f"The server {reason}, or call it in this process (the fixture `client`).")


class SharedBrowser:
    """A Chromium and web servers, for the duration of a `with` block; each is started on first use."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._served: dict[tuple[Path, bool | None], ServedBundle] = {}
        self._portal: BlockingPortal | None = None
        self._context: BrowserContext | None = None
        self._endpoint = ""
        self._app_bridge = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._kept: dict[str, AbstractAsyncContextManager[HostTab]] = {}

    def __enter__(self) -> SharedBrowser:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Playwright's event loop."""
        assert self._loop, "start() comes first"
        return self._loop

    @property
    def endpoint(self) -> str:
        """The address at which Playwright can connect to this Chromium (`chromium.connect_over_cdp`)."""
        assert self._endpoint, "start() comes first"
        return self._endpoint

    def start(self, progress: Progress = silent) -> None:
        """Start the browser, once.

        Raises:
            ExtraMissing: Playwright is not installed.
            ChromiumMissing: Chromium is not installed.
            BrowserGone: It does not start.
        """
        if self._context:
            return
        need("test", "A test in the browser")
        with progress("Starting the browser"):
            self._start()

    def _start(self) -> None:
        chromium = ensure_chromium()
        # Chromium may still write into its profile while it exits.
        profile = self._stack.enter_context(scratch("test"))
        self._portal = self._stack.enter_context(start_blocking_portal("asyncio"))
        self._loop = self._portal.call(_running_loop)
        launching = self._portal.wrap_async_context_manager(_launched(chromium, profile))
        self._context = self._stack.enter_context(launching)
        self._endpoint = self._portal.call(devtools_address, profile)

    def serve(self, project: Path, *, snapshot: bool | None = None, progress: Progress = silent) -> ServedBundle:
        """Build a project and serve it, once per run.

        Args:
            project: As for `build`.
            snapshot: Whether the page starts from a snapshot; None to let the build decide.
            progress: Reports long steps.

        Raises:
            KitError: It cannot be built.
        """
        from mcpframe.kit.bundle.assembly.built_manifest import origins_of
        from mcpframe.kit.servers.published import host_in
        from mcpframe.kit.web.serve import serve_app
        from mcpframe.kit.web.site import Site

        key = (project.absolute(), snapshot)
        if key not in self._served:
            built, folder = build_for_tests(project, snapshot=snapshot, progress=progress)
            origins = origins_of(built.manifest)
            host, (view,) = host_in(origins.common), view_dialects()
            app_host = host_in(origins.own.get(view, origins.common))
            # For a page of opaque origin even its own files are cross-origin.
            readers = [OPAQUE] if OPAQUE in origins.all else []
            served = self._stack.enter_context(serve_app(Site(folder, readers=readers)))
            self._served[key] = ServedBundle(
                f"{served.origin}/{built.url_path}", served.origin, host, app_host, built.manifest
            )
        return self._served[key]

    def serve_app_bridge(self, progress: Progress = silent) -> str:
        """Serve the modules of npm's `AppBridge`, once per run, and return the origin.

        Args:
            progress: Reports a download.

        Raises:
            KitError: They cannot be fetched.
        """
        from mcpframe.kit.testing.app_bridge_modules import HEADERS, app_bridge_modules
        from mcpframe.kit.web.serve import serve_folder

        if not self._app_bridge:
            folder = app_bridge_modules(progress)
            self._app_bridge = self._stack.enter_context(serve_folder(folder, headers=HEADERS)).origin
        return self._app_bridge

    @asynccontextmanager
    async def tab(self, host: str, bundle: ServedBundle, path: str = "/") -> AsyncIterator[HostTab]:
        """Open an empty page of the origin `host`; at the end, remove the stored data of the page and the bundle.

        It runs in the caller's event loop; the tab belongs to `loop`.
        """
        from mcpframe.kit.browser.host_tab import host_tab

        assert self._context, "start() comes first"
        opening = host_tab(self._context, host, path)
        tab = await ask(self.loop, opening.__aenter__())
        try:
            yield tab
        finally:
            await ask(self.loop, tab.forget(bundle.origin))
            await ask(self.loop, self._keep(bundle))
            await ask(self.loop, opening.__aexit__(None, None, None))

    async def _keep(self, bundle: ServedBundle) -> None:
        """Frame a file of the bundle for the rest of the run, to keep the process of its pages alive."""
        from mcpframe.kit.browser.host_tab import host_tab

        if bundle.origin in self._kept or not self._context:
            return
        self._kept[bundle.origin] = opening = host_tab(self._context, bundle.host, KEEPER)
        keeper = await opening.__aenter__()  # the context closes it
        await keeper.page.evaluate(_FRAME, f"{bundle.url}manifest.json")


def build_for_tests(
    project: Path,
    *,
    snapshot: bool | None = None,
    pages: bool = False,
    url: str | None = None,
    progress: Progress = silent,
) -> tuple[BuildResult, Path]:
    """Build a project into the cache, so that an unchanged project is not rebuilt.

    Args:
        project: As for `build`.
        snapshot: Whether the page starts from a snapshot; None to let the build decide.
        pages: Whether to accept a page that is not a server.
        url: As for `build`.
        progress: Reports long steps.

    Returns:
        The bundle, and the folder to serve.

    Raises:
        ConfigError: It is a page, not a server.
        KitError: It cannot be built.
    """
    from mcpframe.kit.bundle.pipeline import build

    if not pages:
        find_server(project)
    name = hashlib.sha256(f"{project.resolve()}\n{snapshot}{url or ''}".encode()).hexdigest()[:16]
    folder = cache_dir() / "testing" / name
    return build(project, folder, snapshot=snapshot, url=url, progress=progress), folder


async def _running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


@asynccontextmanager
async def _launched(chromium: Path, profile: Path) -> AsyncIterator[BrowserContext]:
    from playwright.async_api import async_playwright

    from mcpframe.kit.browser.devtools.host_page import OFF

    options = launch_options(chromium, off=OFF)
    options["args"] = [*options["args"], "--remote-debugging-port=0"]
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(profile, **options)
        context.set_default_timeout(_PATIENCE)
        yield context
        await context.close()
