"""The pytest plugin: the author's server in its frame, in a real browser, for one test at a time.

    async def test_add(framed_client):
        result = await framed_client.call_tool("add", {"a": 2, "b": 3})
        assert result.structured_content == {"result": 5}

Fixtures: `framed_client` and `client` (the same without a browser), `framed` (the frame itself), and `frame_page` (the
page in it, to click in); `app_host` (a host of MCP Apps) and `app_view` (the server as a view in it). They work with
pytest-asyncio and with anyio's plugin on asyncio. See `docs/how-to/testing.md`.

A test run without them imports only this module.
"""

from __future__ import annotations

import functools
import inspect
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from mcp import Client
    from playwright.async_api import Frame

    from mcpframe.kit.base.progress import Progress
    from mcpframe.kit.testing.app_bridge import AppBridgeHost
    from mcpframe.kit.testing.app_view import AppView
    from mcpframe.kit.testing.framed import FramedOptions, FramedServer
    from mcpframe.kit.testing.shared_browser import ServedBundle, SharedBrowser

_LOOP_SCOPES: tuple[Any, ...] = ("function", "class", "module", "package", "session")
_SETTINGS = {
    "project": "the folder or file of the server under test (the folder with the pytest configuration)",
    "origin": "the origin of the host page (the first that the server allows)",
    "era": "the protocol era: auto, 2026-07-28 or legacy (auto)",
    "dialect": "how the frame and its host speak MCP (the preferred dialect)",
    "snapshot": "on or off: whether the page starts from a snapshot (as the build decides)",
    "output": "where to keep the screenshot and the wire log of a failed test (mcpframe-results)",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, each for the command line and for the configuration."""
    group = parser.getgroup("mcpframe", "MCP servers in a browser frame")
    for name, text in _SETTINGS.items():
        group.addoption(f"--mcpframe-{name}", metavar="VALUE", help=text)
        parser.addini(f"mcpframe_{name}", text)
    memory = "connect framed_client in memory, without a browser; tests of the page are skipped"
    group.addoption("--mcpframe-memory", action="store_true", help=memory)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and the fixtures for pytest-asyncio if it is installed."""
    config.addinivalue_line(
        "markers", "mcpframe(project, origin, setup, visible, dialect, era, snapshot, …): how framed_client is framed"
    )
    if config.pluginmanager.hasplugin("asyncio"):
        config.pluginmanager.register(_asyncio_fixtures(), "mcpframe-asyncio")


@pytest.fixture(scope="session")
def _mcpframe_browser() -> Iterator[SharedBrowser]:
    from mcpframe.kit.testing.shared_browser import SharedBrowser

    with SharedBrowser() as browser:
        yield browser


@pytest.fixture
def framed(request: pytest.FixtureRequest) -> FramedServer:
    """The server in its frame: `client`, `outer`, `setup_result`, and `expect_complaint` for provoked errors."""
    server: FramedServer = request.getfixturevalue(_variant(request, "framed"))
    return server


@pytest.fixture
def framed_client(request: pytest.FixtureRequest) -> Client:
    """The official client, connected to the author's server in its frame in headless Chromium."""
    if request.config.getoption("--mcpframe-memory"):
        in_memory: Client = request.getfixturevalue("client")
        return in_memory
    server: FramedServer = request.getfixturevalue("framed")
    return server.client


@pytest.fixture
def frame_page(request: pytest.FixtureRequest) -> Frame:
    """The framed page as a Playwright `Frame`, with `locator`, `click` and so on, in the test's own event loop."""
    page: Frame = request.getfixturevalue(_variant(request, "page"))
    return page


@pytest.fixture
def app_host(request: pytest.FixtureRequest) -> AppBridgeHost:
    """A host of MCP Apps, with the official `AppBridge`; `open()` frames the server as a view, as `app_view` does."""
    host: AppBridgeHost = request.getfixturevalue(_variant(request, "app_host"))
    return host


@pytest.fixture
def app_view(request: pytest.FixtureRequest) -> AppView:
    """The server as a view, initialized, in the host of `app_host`: `frame` for Playwright's locators, tools, size."""
    view: AppView = request.getfixturevalue(_variant(request, "app_view"))
    return view


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Client:
    """The official client, connected to the author's server in this process: no frame, no browser."""
    connected: Client = request.getfixturevalue(_variant(request, "memory"))
    return connected


async def _framed(request: pytest.FixtureRequest, _mcpframe_browser: SharedBrowser) -> AsyncIterator[FramedServer]:
    from mcpframe.kit.testing.framed import framed_server

    options, bundle = _served(request, _mcpframe_browser)
    watching = _Watching(request)
    async with framed_server(_mcpframe_browser, bundle, options, failed=watching.keep) as server:
        with watching.watch(server):
            yield server
        complaints = await server.complaints()
    watching.fail_on(complaints)


async def _app_host(request: pytest.FixtureRequest, _mcpframe_browser: SharedBrowser) -> AsyncIterator[AppBridgeHost]:
    from mcpframe.kit.testing.app_bridge import app_bridge_host

    options, bundle = _served(request, _mcpframe_browser)
    modules = _mcpframe_browser.serve_app_bridge(progress_of(request.config))
    watching = _Watching(request)
    async with app_bridge_host(_mcpframe_browser, bundle, options, modules) as host:
        with watching.watch(host):
            yield host
        complaints = await host.complaints()
    watching.fail_on(complaints)


async def _app_view(request: pytest.FixtureRequest, app_host: AppBridgeHost) -> AsyncIterator[AppView]:
    from mcpframe.kit.base.errors import ViewFailed

    try:
        view = await app_host.open()
    except ViewFailed:
        await _Watching(request).keep(app_host)
        raise
    yield view


def _served(request: pytest.FixtureRequest, browser: SharedBrowser) -> tuple[FramedOptions, ServedBundle]:
    """Return a test's options and its bundle, once the browser runs; skip the test if no browser is available."""
    if request.config.getoption("--mcpframe-memory"):
        pytest.skip("needs the frame, and --mcpframe-memory is given")
    options = _options(request)
    progress = progress_of(request.config)
    browser.start(progress)
    project = Path(options.project or request.config.rootpath)
    return options, browser.serve(project, snapshot=options.snapshot, progress=progress)


def progress_of(config: pytest.Config) -> Progress:
    """Return a `Progress` that writes to pytest's own output, which shows nothing else during a fixture's setup."""
    from mcpframe.kit.base.progress import counting, silent

    reporter = config.pluginmanager.get_plugin("terminalreporter")
    capture = config.pluginmanager.get_plugin("capturemanager")
    if reporter is None or capture is None:  # a worker of pytest-xdist
        return silent

    def write(text: str, *, fresh: bool = False) -> None:
        with capture.global_and_fixture_disabled():
            if fresh:
                reporter.ensure_newline()
            reporter.write(text, flush=True)

    @contextmanager
    def step(what: str) -> Iterator[None]:
        start = time.monotonic()
        write(f"mcpframe: {what} ... ", fresh=True)
        try:
            with counting(lambda counted: write(f"{counted} ... ")):
                yield
        finally:
            write(f"{time.monotonic() - start:.1f} s\n")

    return step


async def _page(
    request: pytest.FixtureRequest, framed: FramedServer, _mcpframe_browser: SharedBrowser
) -> AsyncIterator[Frame]:
    from playwright.async_api import async_playwright

    from mcpframe.kit.testing.app_bridge import PATH
    from mcpframe.kit.testing.shared_browser import KEEPER

    # Playwright's objects belong to one loop: this is the test's own connection to the browser.
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(_mcpframe_browser.endpoint)
        pages = browser.contexts[0].pages
        page = next(page for page in pages if page.url.startswith("http") and not page.url.endswith((KEEPER, PATH)))
        iframe = await page.wait_for_selector("iframe", state="attached")
        frame = await iframe.content_frame() if iframe else None
        assert frame
        yield frame


async def _memory(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    from mcpframe.kit.testing.in_memory import connected_in_memory

    options = _options(request)
    async with connected_in_memory(Path(options.project or request.config.rootpath), options) as client:
        yield client


_VARIANTS: dict[str, Callable[..., Any]] = {
    "framed": _framed,
    "page": _page,
    "app_host": _app_host,
    "app_view": _app_view,
    "memory": _memory,
}
_mcpframe_framed_anyio = pytest.fixture(_framed)
_mcpframe_page_anyio = pytest.fixture(_page)
_mcpframe_app_host_anyio = pytest.fixture(_app_host)
_mcpframe_app_view_anyio = pytest.fixture(_app_view)
_mcpframe_memory_anyio = pytest.fixture(_memory)


def _asyncio_fixtures() -> object:
    """Return the fixtures for pytest-asyncio: one for each scope of a test's event loop."""
    import pytest_asyncio

    class Fixtures:
        pass

    for scope in _LOOP_SCOPES:
        for kind, function in _VARIANTS.items():
            # A copy of the function, as the decorator stores the loop's scope in it.
            declare: Any = pytest_asyncio.fixture(loop_scope=scope, name=f"_mcpframe_{kind}_asyncio_{scope}")
            setattr(Fixtures, f"{kind}_{scope}", staticmethod(declare(_copy(function))))
    return Fixtures


def _copy(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def same(*arguments: Any, **named: Any) -> AsyncIterator[Any]:
        async for value in function(*arguments, **named):
            yield value

    return same


def _variant(request: pytest.FixtureRequest, kind: str) -> str:
    """Return the name of the fixture that runs in the test's event loop."""
    if "anyio_backend" in request.fixturenames:
        backend = request.getfixturevalue("anyio_backend")
        name = backend if isinstance(backend, str) else backend[0]
        if name != "asyncio":
            _refuse(
                f"The fixtures of mcpframe run on asyncio, not on {name}: define a fixture anyio_backend that returns "
                '"asyncio".'
            )
        if request.node.get_closest_marker("asyncio"):  # its loop is another one: an await in the test would never end
            _refuse(
                "This test is for both anyio's plugin and pytest-asyncio, which have an event loop each: mark it for "
                "one of them; with @pytest.mark.anyio set asyncio_mode to strict."
            )
        return f"_mcpframe_{kind}_anyio"
    marker = request.node.get_closest_marker("asyncio")
    if marker is None or not request.config.pluginmanager.hasplugin("mcpframe-asyncio"):
        _refuse(
            "The fixtures of mcpframe are for async tests: mark the test with @pytest.mark.anyio, or with "
            "@pytest.mark.asyncio of pytest-asyncio."
        )
    scope = marker.kwargs.get("loop_scope") or request.config.getini("asyncio_default_test_loop_scope") or "function"
    return f"_mcpframe_{kind}_asyncio_{scope}"


def _options(request: pytest.FixtureRequest) -> FramedOptions:
    """Return a test's options: its markers have precedence over the command line, and that over the configuration."""
    from mcpframe.kit.testing.framed import DIALECTS, FramedOptions

    config = request.config
    settings: dict[str, Any] = {
        name: value
        for name in _SETTINGS
        if name != "output" and (value := config.getoption(f"--mcpframe-{name}") or config.getini(f"mcpframe_{name}"))
    }
    if "snapshot" in settings:
        if settings["snapshot"] not in ("on", "off"):
            _refuse(f"mcpframe-snapshot is on or off, not {settings['snapshot']!r}.")
        settings["snapshot"] = settings["snapshot"] == "on"
    known = [field.name for field in fields(FramedOptions)]
    for marker in reversed(list(request.node.iter_markers("mcpframe"))):
        if marker.args or (unknown := sorted(set(marker.kwargs) - set(known))):
            named = ", ".join(map(repr, marker.args)) or ", ".join(unknown)
            _refuse(f"@pytest.mark.mcpframe does not take {named}; it takes {', '.join(known)}, by name.")
        settings |= marker.kwargs
    options = replace(FramedOptions(), **settings)
    if options.dialect not in DIALECTS:
        _refuse(f"{options.dialect!r} is not a dialect of mcpframe; choose one of: {', '.join(DIALECTS)}.")
    if options.project is not None and not Path(options.project).is_absolute():
        options = replace(options, project=config.rootpath / options.project)
    return options


class _Watching:
    """Fails a test on errors logged by the page, and writes files for debugging a failure."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._node = request.node
        self._test = request.node.obj
        config = request.config
        output = config.getoption("--mcpframe-output") or config.getini("mcpframe_output") or "mcpframe-results"
        self._folder = config.rootpath / output / re.sub(r"[^\w.-]+", "-", request.node.nodeid).strip("-")

    @contextmanager
    def watch(self, server: FramedServer | AppBridgeHost) -> Iterator[None]:
        """Wrap the test function, as it runs in its own event loop."""
        if inspect.iscoroutinefunction(self._test):
            self._node.obj = self._watched(self._test, server)
        yield
        self._node.obj = self._test

    def fail_on(self, complaints: list[str]) -> None:
        """Fail a test whose page has complained, unless that was reported."""
        if complaints and not getattr(self._node, "_mcpframe_told", False):
            pytest.fail(_section(complaints), pytrace=False)

    async def keep(self, server: FramedServer | AppBridgeHost) -> None:
        """Write a screenshot, the wire log and the console to files; report their names and the complaints."""
        self._node._mcpframe_told = True
        complaints = await server.complaints()
        files = await server.keep(self._folder)
        text = "\n".join([*complaints, *(f"kept: {path}" for path in files)])
        self._node.add_report_section("call" if self._node.obj is not self._test else "setup", "mcpframe", text)

    def _watched(self, test: Callable[..., Any], server: FramedServer | AppBridgeHost) -> Callable[..., Any]:
        @functools.wraps(test)
        async def watched(*arguments: Any, **named: Any) -> None:
            __tracebackhide__ = True
            try:
                await test(*arguments, **named)
                complaints = await server.complaints()
                if complaints:
                    pytest.fail(_section(complaints), pytrace=False)
            except pytest.skip.Exception:
                raise
            except BaseException:
                await self.keep(server)
                raise

        return watched


def _refuse(sentence: str) -> NoReturn:
    pytest.fail(sentence, pytrace=False)


def _section(complaints: list[str]) -> str:
    return "\n".join(["The framed page complains:", *dict.fromkeys(complaints)])
