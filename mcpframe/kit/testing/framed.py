"""A server in its frame, for one test: its setup, its client, its errors, and the files for a failed test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mcp import Client

from mcpframe.frame.dialects.available import dialects
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.frame.session.setup_phase import SetupResult
from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.errors import SetupNotDone
from mcpframe.kit.browser.cross_loop_window import DistantPlace, ask
from mcpframe.kit.browser.setup_answers import Answers, answer_setup, page_started
from mcpframe.kit.testing.shared_browser import ServedBundle, SharedBrowser
from mcpframe.kit.testing.wire_record import WireRecord

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

    from mcpframe.kit.browser.host_tab import HostTab

DIALECTS = tuple(each.name for each in dialects() if each.initializes)
"""The dialects in which a frame and its host can speak MCP after their own handshake."""

T = TypeVar("T")


@dataclass(frozen=True)
class FramedOptions:
    """The options of a test's server: the arguments of `@pytest.mark.mcpframe(...)`.

    Attributes:
        project: The server's folder or file; by default the folder with the pytest configuration.
        origin: The origin of the host page; by default the first that the server allows.
        setup: True runs the server's setup before the test. For a setup with a form: the values by field, or an async
            function that gets the framed page and runs in the browser's event loop. None runs no setup.
        visible: Whether the frame is shown; by default the server decides.
        dialect: The dialect of the frame and its host.
        era: The protocol era: `"auto"` (the newest), `"2026-07-28"` or `"legacy"` (the `mode` of `mcp.Client`).
        snapshot: Whether the page starts from a snapshot; by default the build decides.
        sandbox: The iframe's sandbox, as for `OuterFrame`.
        permissions: The browser permissions that the host grants.
        session_id: The id of the session; by default a new one.
        client: Further options of `mcp.Client`, such as its callbacks.
        context: For `app_host`: members of the host's context in MCP Apps, such as its theme.
        capabilities: For `app_host`: the host's capabilities; by default it has all of them.
    """

    project: str | Path | None = None
    origin: str | None = None
    setup: bool | Answers | None = None
    visible: bool | None = None
    dialect: str = DIALECTS[0]
    era: str = "auto"
    snapshot: bool | None = None
    sandbox: str | None = "standard"
    permissions: tuple[str, ...] = ()
    session_id: str | None = None
    client: Mapping[str, Any] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] | None = None


class FramedServer:
    """A server in its frame, and the client that talks to it.

    Attributes:
        client: The official client, connected.
        outer: The outer frame: `show`, `hide`, the session's id.
        setup_result: The result of the setup; None if it did not run.
        url: The framed address.
    """

    client: Client

    def __init__(self, bundle: ServedBundle, tab: HostTab, options: FramedOptions, browser: SharedBrowser) -> None:
        from mcpframe.kit.browser.playwright_window import PlaywrightPlace  # not installed for tests in memory alone

        self.url = bundle.url
        self.setup_result: SetupResult | None = None
        self.outer = OuterFrame(
            bundle.url,
            session_id=options.session_id,
            sandbox=options.sandbox,
            permissions=options.permissions,
        )
        self._options = options
        self._browser = browser
        self._tab = tab
        self._wire = WireRecord()
        self._place = PlaywrightPlace(tab.page)
        self._expected: list[str] = []
        self._reported = 0

    def expect_complaint(self, part: str) -> None:
        """Allow console errors that contain this text, such as those of an exception that the test provokes."""
        self._expected.append(part)

    async def complaints(self) -> list[str]:
        """Return unexpected console errors and uncaught errors; those of Python have a traceback."""
        await ask(self._browser.loop, self._tab.settled())
        return [text for text in self._tab.complaints if not any(part in text for part in self._expected)]

    async def keep(self, folder: Path) -> list[Path]:
        """Write a screenshot, the wire log and the complaints into a folder, and return the files.

        Raises:
            WriteError: The files cannot be written.
        """
        picture, wire, console = (folder / name for name in ("screenshot.png", "wire.jsonl", "console.txt"))
        write_file(wire, self._wire.lines().encode())
        write_file(console, "\n".join([*self._tab.complaints, ""]).encode())
        write_file(picture, await ask(self._browser.loop, self._photograph()))
        return [picture, wire, console]

    async def _photograph(self) -> bytes:
        page: Page = self._tab.page
        # Also show a hidden page, which may explain the failure.
        await page.evaluate(
            "for (const frame of document.querySelectorAll('iframe'))"
            " { frame.hidden = false; frame.style = 'width: 100%; height: 90vh'; }"
        )
        return await page.screenshot()

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[None]:
        place = self._wire.recording(DistantPlace(self._place, self._browser.loop))
        if self._options.setup is not None and self._options.setup is not False:
            await self._set_up(place)
        connecting = self.outer.connect(place, visible=self._options.visible)
        async with Client(connecting, mode=self._options.era, **self._options.client) as self.client:
            await ask(self._browser.loop, self._note_storage())
            yield

    async def _set_up(self, place: Any) -> None:
        answers = self._options.setup
        async with self.outer.setup(place) as setup:
            await ask(self._browser.loop, self._note_storage())
            if answers is not True and answers:
                await ask(self._browser.loop, self._answer(answers))
            elif setup.requires_visible:
                raise SetupNotDone(
                    "The server's setup shows a form: give the values to enter with @pytest.mark.mcpframe(setup={...})."
                )
            self.setup_result = await setup.result()
        if self.setup_result.error_code:
            raise SetupNotDone(
                f"The server's setup failed ({self.setup_result.error_code}): {self.setup_result.error_message}"
            )

    async def _note_storage(self) -> None:
        assert self._place.window
        await self._tab.note_storage(await self._place.window.frame())

    async def _answer(self, answers: Any) -> None:
        assert self._place.window
        frame: Frame = await self._place.window.frame()
        await page_started(frame, self.outer.options.handshake_timeout)
        await answer_setup(frame, answers)


@asynccontextmanager
async def framed_server(
    browser: SharedBrowser,
    bundle: ServedBundle,
    options: FramedOptions,
    *,
    failed: Callable[[FramedServer], Awaitable[None]],
) -> AsyncIterator[FramedServer]:
    """Frame a server in a tab of its own, run its setup if requested, and connect, for the duration of the block.

    The block may be entered and left in different tasks of one event loop, as fixtures are.

    Args:
        failed: Called if the session cannot be opened, before the page is closed.

    Raises:
        SessionError: The handshake fails.
        SetupNotDone: The setup fails, or needs answers.
    """
    bundle.check_offered(options.dialect)
    async with AsyncExitStack() as stack:
        tab = await stack.enter_async_context(browser.tab(options.origin or bundle.host, bundle))
        framed = FramedServer(bundle, tab, options, browser)
        try:
            await stack.enter_async_context(in_one_task(framed._connected()))
        except Exception:
            await failed(framed)
            raise
        yield framed


@asynccontextmanager
async def in_one_task(context: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """Enter and leave a context manager in one task, as cancel scopes require.

    The block itself may be entered and left in different tasks of one event loop, as fixtures are.
    """
    over = asyncio.Event()
    entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    async def hold() -> None:
        async with context as value:
            entered.set_result(value)
            await over.wait()

    holding = asyncio.create_task(hold())
    try:
        await asyncio.wait((holding, entered), return_when=asyncio.FIRST_COMPLETED)
        if holding.done():
            entered.cancel()
            holding.result()
        yield entered.result()
    finally:
        over.set()
        if not holding.done():
            await holding
