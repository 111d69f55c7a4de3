"""The rig: one headless Chromium, three origins, and a page that fails its test on any error it doesn't expect.

    bundle.localhost     the framed pages
    host.localhost       the host pages
    stranger.localhost   everybody else

Browsers resolve every name under `localhost` to the loopback address, and treat these as different sites.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, WebError, async_playwright

from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.browser.chromium import set_third_party_storage
from mcpframe.kit.dev.inspector import Inspecting, serve_inspector
from mcpframe.kit.static_hosts.rules import SANDBOX_HEADERS
from mcpframe.kit.web.host_page import bundle_client, bundle_module, copy_host_modules
from mcpframe.kit.web.serve import serve_folder
from tests.browser import apps_hosts
from tests.browser.engines import KINDS, Engine, Kind
from tests.browser.hosts import Host, JavaScriptHost, PythonHost
from tests.browser.inspecting import InspectorPage
from tests.browser.outers import PATIENCE, JavaScriptOuter, Outer, PlaywrightOuter
from tests.support.built import built, built_public_site, one_browser  # noqa: F401  a fixture
from tests.support.origins import PORT, chromium_options, served_port
from tests.support.settling import USUAL
from tests.support.suites import extended, mark_folder, newest_first

PAGES = Path(__file__).parent / "pages"
EXAMPLES = ("everything", "authored", "inspected", "computing", "pi-calculator", "json-analyzer")
"""The servers that the inspector offers."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_folder(items, "tests/browser/", "browser")


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """Playwright is for asyncio."""
    return USUAL


@pytest.fixture(scope="module", autouse=True)
def builds(one_browser: None) -> None:  # noqa: F811
    """All builds of a module share a browser."""


@dataclass(frozen=True)
class Origins:
    """The three origins of the test pages, on one port."""

    port: int

    @property
    def bundle(self) -> str:
        """Where framed pages are."""
        return f"http://bundle.localhost:{self.port}"

    @property
    def host(self) -> str:
        """Where host pages are."""
        return f"http://host.localhost:{self.port}"

    @property
    def neighbour(self) -> str:
        """An origin on the host's site, so that its pages run in the host page's process."""
        return f"http://neighbour.host.localhost:{self.port}"

    @property
    def sandbox(self) -> str:
        """The address of the sandbox proxy of views, on an origin of its own."""
        return f"http://sandbox.localhost:{self.port}/sandbox.html"

    @property
    def stranger(self) -> str:
        """Where everybody else is."""
        return f"http://stranger.localhost:{self.port}"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that all three origins serve."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(PAGES, folder, dirs_exist_ok=True)
    copy_host_modules(folder)
    shutil.copy(static_dir() / "app" / "sandbox.html", folder)
    headers = "".join(f"  {name}: {value}\n" for name, value in SANDBOX_HEADERS.items())
    (folder / "_headers").write_text(f"/sandbox.html\n{headers}")
    return folder


@pytest.fixture(scope="session")
def origins(site: Path) -> Iterator[Origins]:
    """The three origins, being served."""
    with serve_folder(site, served_port()):
        yield Origins(PORT)


@pytest.fixture(scope="session")
def typescript_client(site: Path) -> None:
    """The official TypeScript client, as a module of the site."""
    shutil.copy(bundle_client(install_locked(checkout_dir())), site / "mcp-client.js")


@pytest.fixture(scope="session")
def resumed_client(site: Path) -> None:
    """`resumed.html`: the official TypeScript client of 1.x, which takes its session for a resumed one."""
    page = PAGES / "resumed_page.js"
    bundle_module(str(page), site / page.name, install_locked(checkout_dir()), external=["./host.js"])


@dataclass(frozen=True)
class Bundle:
    """A built server that is being served.

    Attributes:
        folder: the folder that is served.
        origin: the origin of its pages.
        path: its own folder in there.
    """

    folder: Path
    origin: str
    path: str

    @property
    def url(self) -> str:
        """The address to frame."""
        return f"{self.origin}/{self.path}"


BundleOf = Callable[..., Bundle]


@pytest.fixture(scope="session")
def bundle_of() -> Iterator[BundleOf]:
    """Serves a bundle: by the name of its project or its folder, at one of the names under `localhost`.

    Further arguments are those of `built`. Each has a port of its own.
    """
    with ExitStack() as stack:

        def serve(project: Path | str, *, at: str = "bundle", **options: Any) -> Bundle:
            folder, result = built(project, **options)
            served = stack.enter_context(serve_folder(folder))
            return Bundle(folder, f"http://{at}.localhost:{served.port}", result.url_path)

        yield serve


class TemplateSite:
    """The site of the built templates."""

    def __init__(self, bundle_of: BundleOf) -> None:
        self._bundle_of = bundle_of
        self._served: dict[str, Bundle] = {}

    def url(self, name: str, *, stored: bool = True) -> str:
        """Build a template, unless it is there, and return its address.

        Args:
            name: The template.
            stored: Whether Chromium lets its page keep values. In a profile like Playwright's, which is an incognito
                one, it does not let frames of another site.
        """
        bundle = self._served.get(name) or self._served.setdefault(name, self._bundle_of(name))
        return bundle.url if not stored else bundle.url.replace("//bundle.", "//neighbour.host.")


@pytest.fixture(scope="session")
def everything(bundle_of: BundleOf) -> Bundle:
    """The bundle of `servers/everything`, which the host's origin may embed."""
    return bundle_of("everything")


@pytest.fixture(scope="session")
def everything_of_mcp_1(bundle_of: BundleOf) -> Bundle:
    """The bundle of `servers/mcp1-everything`, which the host's origin may embed."""
    return bundle_of("mcp1-everything")


@pytest.fixture(scope="session")
def view(bundle_of: BundleOf) -> Bundle:
    """The bundle of `servers/view`, which the host's origin may embed."""
    return bundle_of("view")


@pytest.fixture(scope="session", params=newest_first(apps_hosts.VERSIONS))
def app_bridge(request: pytest.FixtureRequest, site: Path) -> str:
    """Each version of the host's `AppBridge`, as a module of the site."""
    version = str(request.param)
    apps_hosts.bundle_script(PAGES / "apps_host_page.js", version, site / f"apps_host_{version}.js")
    return version


@pytest.fixture(scope="session", params=newest_first(apps_hosts.VERSIONS))
def official_view(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The HTML text of a view with the official `App`, of each version."""
    target = tmp_path_factory.mktemp("official") / "view.js"
    apps_hosts.bundle_script(PAGES / "apps_rows_page.js", request.param, target)
    script = target.read_text("utf-8").replace("</script", "<\\/script")
    return f'<!doctype html><meta charset="utf-8"><title>A view</title><script type="module">{script}</script>'


@asynccontextmanager
async def chromium(*arguments: str) -> AsyncIterator[Browser]:
    """Run a Chromium, with further arguments, for the duration of the block."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**chromium_options(*arguments))
        yield browser
        await browser.close()


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The one Chromium of this run."""
    async with chromium() as browser:
        yield browser


@asynccontextmanager
async def profile_with_third_party_storage(folder: Path) -> AsyncIterator[BrowserContext]:
    """Run a Chromium that lets pages keep values that another site frames.

    Args:
        folder: The folder of the new profile.
    """
    set_third_party_storage(folder, allowed=True)
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(folder, **chromium_options())
        context.set_default_timeout(PATIENCE * 1000)
        yield context
        await context.close()


_LEFT_WHILE_REGISTERING = "An unknown error occurred when fetching the script."
"""What Chromium says of a page that is closed while it fetches its service worker: four seconds after its load."""


def _of_an_ended_server(message: ConsoleMessage) -> bool:
    """Return whether a page misses a server that it was loaded from: a test may end that before the page."""
    if "ERR_CONNECTION_REFUSED" not in message.text or message.page is None:
        return False
    asked = urlsplit(message.location["url"]).netloc
    return any(urlsplit(frame.url).netloc == asked for frame in message.page.frames)


class Troubles:
    """The complaints of a context's pages: each fails the test, unless it was expected."""

    def __init__(self, context: BrowserContext) -> None:
        """Collect from every page of a context."""
        self._context = context
        self._found: list[str] = []
        self._heard: list[str] = []
        self._expected = [_LEFT_WHILE_REGISTERING]
        self._changed = anyio.Event()
        context.on("console", self._on_console)
        context.on("weberror", self._on_error)

    def stop(self) -> None:
        """Collect no more."""
        self._context.remove_listener("console", self._on_console)
        self._context.remove_listener("weberror", self._on_error)

    def _on_console(self, message: ConsoleMessage) -> None:
        self._heard.append(message.text)
        if message.type == "error" and not _of_an_ended_server(message):
            self._found.append(message.text)
        self._changed.set()

    def _on_error(self, error: WebError) -> None:
        self._found.append(f"uncaught: {error.error}")

    def expect(self, part: str) -> None:
        """Allow complaints that hold this text."""
        self._expected.append(part)

    async def said(self, part: str) -> None:
        """Wait until something with this text is in the console, at whatever level."""
        with anyio.fail_after(PATIENCE):
            while not any(part in text for text in self._heard):
                self._changed = anyio.Event()
                await self._changed.wait()

    @property
    def heard(self) -> list[str]:
        """All that was in the console."""
        return list(self._heard)

    def unexpected(self) -> list[str]:
        """The complaints that nobody expected."""
        return [text for text in self._found if not any(part in text for part in self._expected)]


@asynccontextmanager
async def new_profile(browser: Browser) -> AsyncIterator[BrowserContext]:
    """Return a fresh profile: nothing cached, nothing stored."""
    context = await browser.new_context()
    context.set_default_timeout(PATIENCE * 1000)
    try:
        yield context
    finally:
        await context.close()


@asynccontextmanager
async def watched(context: BrowserContext) -> AsyncIterator[Troubles]:
    """Collect what the pages of a profile complain about, close them at the end, and fail on what nobody expected."""
    troubles = Troubles(context)
    try:
        yield troubles
    finally:
        with anyio.fail_after(PATIENCE):  # Playwright has no deadline here
            for page in context.pages:
                await page.close()
        troubles.stop()
    assert troubles.unexpected() == []


@asynccontextmanager
async def new_context(browser: Browser) -> AsyncIterator[tuple[BrowserContext, Troubles]]:
    """Return a fresh profile whose pages must not complain."""
    async with new_profile(browser) as context, watched(context) as troubles:
        yield context, troubles


@pytest.fixture(scope="module")
async def webmcp_browser() -> AsyncIterator[Browser]:
    """A Chromium whose documents have a `modelContext`."""
    async with chromium("--enable-features=WebMCP") as browser:
        yield browser


@pytest.fixture
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    """A profile of the test's own."""
    async with new_profile(browser) as context:
        yield context


@pytest.fixture(scope="module")
async def profile(browser: Browser) -> AsyncIterator[BrowserContext]:
    """A profile for all tests of a module, so that a bundle's files come from its cache."""
    async with new_profile(browser) as context:
        yield context


@pytest.fixture
async def troubles(context: BrowserContext) -> AsyncIterator[Troubles]:
    """The complaints of `context`'s pages."""
    async with watched(context) as troubles:
        yield troubles


@pytest.fixture
async def host_page(context: BrowserContext, troubles: Troubles, origins: Origins) -> Page:
    """A page at the host's origin."""
    page = await context.new_page()
    await page.goto(f"{origins.host}/host.html")
    await page.wait_for_function("() => window.lab")
    return page


@pytest.fixture
async def page(context: BrowserContext, troubles: Troubles, origins: Origins) -> Page:
    """A page by hand (`pages/page.js`) at the host's origin."""
    page = await context.new_page()
    await page.goto(f"{origins.host}/page.html")
    return page


@pytest.fixture(params=[JavaScriptOuter, extended(PlaywrightOuter)], ids=["host.js", "python"])
def outer_kind(request: pytest.FixtureRequest) -> type[Outer]:
    """Each of the two outer frames; the one in Python mainly in `--all`, as `tests/unit/contract` has its rules.

    The usual suite has both where `tests.browser.outers.both_kinds` is imported.
    """
    kind: type[Outer] = request.param
    return kind


@pytest.fixture
async def outer(outer_kind: type[Outer], host_page: Page) -> AsyncIterator[Outer]:
    """Each of the two outer frames, in a page of the host's origin."""
    async with outer_kind(host_page) as outer:
        yield outer


@pytest.fixture(scope="session")
def templates(bundle_of: BundleOf) -> TemplateSite:
    """The templates, each served when it is first asked for."""
    return TemplateSite(bundle_of)


@pytest.fixture(params=[JavaScriptHost, extended(PythonHost)], ids=["host.js", "python"])
async def host(
    request: pytest.FixtureRequest,
    context: BrowserContext,
    origins: Origins,
    templates: TemplateSite,
    template: str,
    typescript_client: None,
) -> Host:
    """Each of the two hosts of the server that the test module's fixture `template` names."""
    kind: type[Host] = request.param
    page = await context.new_page()
    await page.goto(f"{origins.host}/template.html")
    return kind(page, templates.url(template))


@pytest.fixture(scope="session")
def public_site() -> Path:
    """The folder of the public site, two levels below one to serve."""
    return built_public_site()


@pytest.fixture(scope="session")
def playground(public_site: Path) -> Iterator[str]:
    """The address of the playground."""
    with serve_folder(public_site) as site:
        yield f"http://localhost:{site.port}/playground/"


@pytest.fixture(scope="session")
def inspecting() -> Iterator[Inspecting]:
    """The inspector, being served, with bundles as its examples."""
    folders = [root / result.name for root, result in map(built, EXAMPLES)]
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            # On the inspector's site: in private profiles, as these tests have, frames of another one keep nothing.
            patch.setattr("mcpframe.kit.dev.inspector.FRAMED_HOST", "127.0.0.1")
            served = stack.enter_context(serve_inspector(bundles=folders))
        yield served


@pytest.fixture
async def inspector(context: BrowserContext, troubles: Troubles, inspecting: Inspecting) -> InspectorPage:
    """The inspector in a fresh profile."""
    return await InspectorPage.open(context, inspecting)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Each other browser, with a fresh profile."""
    kind: Kind = request.param
    program = kind.find()
    if program is None:
        pytest.skip(f"no {kind.title} is installed, and none could be: install {kind.package}")
    with kind.running(program, tmp_path / "profile") as engine:
        yield engine
