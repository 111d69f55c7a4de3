"""A host of MCP Apps for one test: the official `AppBridge` in a page of headless Chromium, driven from Python.

    async def test_forecast(app_host, app_view):
        await app_host.send_input({"place": "Wien"})
        await app_host.send_result({"content": [], "structuredContent": {"degrees": 21}})
        await expect(app_view.frame.get_by_text("21 °C")).to_be_visible()

The page's half is `static/testing/app-host.js`. Requests of the view are answered in the test's own event loop.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from playwright.async_api import Error, Frame, JSHandle, Page, async_playwright

from mcpframe.frame.core.places import SANDBOX, allow_attribute
from mcpframe.frame.dialects.available import view_dialects
from mcpframe.frame.hosting.mcp_apps.partial_arguments import partial_arguments
from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import ViewFailed
from mcpframe.kit.base.limits import START_SECONDS
from mcpframe.kit.browser.cross_loop_window import ask
from mcpframe.kit.testing.app_answers import Answer, AppAnswers, Json, Request, Told, plain
from mcpframe.kit.testing.app_bridge_modules import import_map
from mcpframe.kit.testing.app_view import AppView
from mcpframe.kit.testing.framed import FramedOptions
from mcpframe.kit.testing.shared_browser import ServedBundle, SharedBrowser
from mcpframe.kit.testing.wire_record import WireRecord

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

    from mcpframe.kit.browser.host_tab import HostTab

PATH = "/mcpframe-app-host"
"""The path of the page, to tell it from the page of `framed`."""
PATIENCE = 10.0
"""Seconds for everything else."""

CAPABILITIES: Json = {
    "openLinks": {},
    "downloadFile": {},
    "serverTools": {},
    "serverResources": {},
    "serverPrompts": {},
    "logging": {},
    "message": {"text": {}, "image": {}, "resource": {}},
    "updateModelContext": {"text": {}, "structuredContent": {}},
    "sampling": {},
}
"""The default capabilities of the host."""
CONTEXT: Json = {
    "theme": "light",
    "locale": "en-US",
    "timeZone": "UTC",
    "displayMode": "inline",
    "availableDisplayModes": ["inline", "fullscreen"],
    "platform": "web",
}
"""The default context of the host."""

_FAILED = """() => location.protocol === "chrome-error:"
  || document.getElementById("mcpframe-error")?.hidden === false"""

T = TypeVar("T")


class AppBridgeHost:
    """A host of MCP Apps that a test drives.

    Attributes:
        url: The address of the view.
        view: The view; None before `open` and after `teardown`.
        page: The host's page, in the test's event loop.
        context: The host's context, with all changes.
        capabilities: The host's capabilities.
    """

    def __init__(
        self,
        bundle: ServedBundle,
        tab: HostTab,
        page: Page,
        options: FramedOptions,
        browser: SharedBrowser,
        modules: str,
    ) -> None:
        self.url = bundle.url
        self.view: AppView | None = None
        self.page = page
        self.context: dict[str, Any] = {**CONTEXT, **options.context}
        self.capabilities: Json = CAPABILITIES if options.capabilities is None else options.capabilities
        self._options = options
        self._browser = browser
        self._modules = modules
        self._tab = tab
        self._wire = WireRecord()
        self._answers = AppAnswers(self._display_modes)
        self._expected: list[str] = []
        self._apps: JSHandle | None = None
        self._reader: asyncio.Task[None] | None = None
        self._answering: set[asyncio.Task[None]] = set()
        self._said: dict[str, Any] | None = None
        self._initialized = asyncio.Event()

    # The view

    async def open(self, *, timeout: float = START_SECONDS) -> AppView:  # noqa: ASYNC109
        """Frame the view, and wait until it is initialized. The fixture `app_view` does that.

        Args:
            timeout: The time-out in seconds.

        Raises:
            ViewFailed: It is not initialized in time, or is open already.
        """
        if self.view or self._apps:
            raise ViewFailed("The view has been opened already: a test opens it once, or uses the fixture app_view.")
        sandbox = self._options.sandbox
        options = {
            "imports": import_map(self._modules),
            "url": self.url,
            "sandbox": SANDBOX.get(sandbox, sandbox) if sandbox else None,
            "allow": allow_attribute(self._options.permissions),
            "capabilities": dict(self.capabilities),
            "context": self.context,
        }
        self._apps = await self.page.evaluate_handle(
            (static_dir() / "testing" / "app-host.js").read_text("utf-8"), options
        )
        opened = await self._apps.evaluate_handle("apps => apps.open()")
        self._reader = asyncio.create_task(self._read(self._apps))
        iframe = opened.as_element()
        frame = await iframe.content_frame() if iframe else None
        assert frame
        await self._started(frame, timeout)
        await ask(self._browser.loop, self._note_storage())
        self.view = AppView(frame, self._said or {}, self.call, partial(self.received, "size"))
        return self.view

    async def teardown(self, reason: str = "", *, timeout: float = PATIENCE) -> None:  # noqa: ASYNC109
        """Announce to the view that it will be removed, wait for its answer, and remove it.

        Raises:
            ViewFailed: It does not answer in time, or answers with another error than that it has no handler.
        """
        answer = await self._within(timeout, self._evaluate("call", "teardownResource", {"reason": reason}), "answer")
        if "error" in answer and answer["code"] != -32601:
            raise ViewFailed(f"The view answered ui/resource-teardown with an error: {answer['error']}")
        await self._evaluate("close")
        self.view = None

    # The tool call that the view shows

    async def send_input_partial(self, arguments: Json) -> None:
        """Send the arguments that the model has written so far."""
        await self._notify("sendToolInputPartial", {"arguments": dict(arguments)})

    async def stream_input(self, arguments: Json, steps: int = 8) -> None:
        """Send arguments in growing pieces, as a model writes them, then complete."""
        for part in partial_arguments(arguments, steps):
            await self.send_input_partial(part)
        await self.send_input(arguments)

    async def send_input(self, arguments: Json) -> None:
        """Send the complete arguments."""
        await self._notify("sendToolInput", {"arguments": dict(arguments)})

    async def send_result(self, result: Json | CallToolResult) -> None:
        """Send the result of the tool: a `CallToolResult`, or an object such as `{"content": [], …}`."""
        await self._notify("sendToolResult", {"content": [], **plain(result)})

    async def send_cancelled(self, reason: str = "") -> None:
        """Report that the call was cancelled."""
        await self._notify("sendToolCancelled", {"reason": reason})

    async def run_tool(self, client: Client, name: str, arguments: Json | None = None) -> CallToolResult:
        """Show the view a real call: stream the arguments, call the tool with this client, and send the result.

        Raises the errors of `client.call_tool`, after reporting to the view that the call was cancelled.
        """
        await self.stream_input(arguments or {})
        try:
            result = await client.call_tool(name, dict(arguments or {}))
        except Exception as error:
            await self.send_cancelled(str(error))
            raise
        await self.send_result(result)
        return result

    # The host's context

    async def set_context(self, **changes: Any) -> None:
        """Change the host's context, such as `theme="dark"`; the names are those of the specification."""
        self.context |= changes
        await self._evaluate("change", changes)

    # Requests of the view

    def answer(self, name: Request, answer: Answer) -> None:
        """Set the answer to a request of the view from now on; it replaces an earlier one.

        Unless set, links, downloads, messages and model context are accepted, an available display mode is granted, and
        a request to the server is answered with an error.

        Args:
            name: The request, by the name of the method of `session.host`.
            answer: The result, as an object or a model of the SDK; an exception, whose text and code become an error;
                or a function of the request's parameters, async or not, that returns one of them.
        """
        self._answers.set(name, answer)

    def use_server(self, client: Client) -> None:
        """Answer the view's requests to the server (tools, resources, prompts) with this client."""
        self._answers.use(client)

    def received(self, name: Request | Told) -> list[dict[str, Any]]:
        """Return the parameters of all requests or notifications of this name, oldest first."""
        return self._answers.received(name)

    async def wait_for(
        self,
        name: Request | Told,
        *,
        where: Callable[[dict[str, Any]], bool] = lambda _: True,
        timeout: float = PATIENCE,  # noqa: ASYNC109
    ) -> dict[str, Any]:
        """Return the next request or notification of the view not returned before; wait for it.

        Args:
            where: Skips those for which it is false.
            timeout: The time-out in seconds.

        Returns:
            Its parameters.

        Raises:
            ViewFailed: None arrives in time.
        """
        return await self._within(timeout, self._answers.take(name, where), f"send {name}")

    # Errors

    def expect_complaint(self, part: str) -> None:
        """Allow console errors that contain this text, such as those of an exception that the test provokes."""
        self._expected.append(part)

    async def complaints(self) -> list[str]:
        """Return unexpected console errors, uncaught errors, and exceptions of functions that answer the view."""
        await ask(self._browser.loop, self._tab.settled())
        answers = ["".join(traceback.format_exception(error)) for error in self._answers.failures]
        return [text for text in [*self._tab.complaints, *answers] if not any(part in text for part in self._expected)]

    async def keep(self, folder: Path) -> list[Path]:
        """Write a screenshot, the wire log and the complaints into a folder, and return the files.

        Raises:
            WriteError: The files cannot be written.
        """
        names = ("app-screenshot.png", "app-wire.jsonl", "app-console.txt")
        picture, wire, console = (folder / name for name in names)
        write_file(wire, self._wire.lines().encode())
        write_file(console, "\n".join([*self._tab.complaints, ""]).encode())
        write_file(picture, await ask(self._browser.loop, self._tab.page.screenshot()))
        return [picture, wire, console]

    async def call(self, method: str, params: Json, *, within: float = PATIENCE) -> Any:
        """Call a method of `AppBridge` that sends the view a request, and return its result.

        Raises:
            ViewFailed: The view answers with an error, or not in time.
        """
        answer = await self._within(within, self._evaluate("call", method, params), "answer")
        if "error" in answer:
            raise ViewFailed(f"The view answered {method} with an error: {answer['error']}")
        return answer["result"]

    # Internals

    async def _notify(self, method: str, params: Json) -> None:
        answer = await self._evaluate("call", method, params)
        if "error" in answer:
            raise ViewFailed(f"AppBridge.{method} failed: {answer['error']}")

    async def _evaluate(self, function: str, *arguments: Any) -> Any:
        if self._apps is None:
            raise ViewFailed("There is no view yet: await app_host.open(), or use the fixture app_view.")
        return await self._apps.evaluate("(apps, [name, values]) => apps[name](...values)", [function, list(arguments)])

    async def _within(self, seconds: float, work: Coroutine[Any, Any, T], what: str) -> T:
        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError:
            texts = await self.complaints()
            raise ViewFailed("\n".join([f"The view did not {what} within {seconds:g} seconds.", *texts])) from None

    async def _started(self, frame: Frame, seconds: float) -> None:
        """Wait until the view is initialized. Raises `ViewFailed` after that time, or once the page shows an error."""
        initialized = asyncio.create_task(self._initialized.wait())
        failed = asyncio.create_task(frame.wait_for_function(_FAILED, timeout=0, polling=100))
        try:
            await asyncio.wait((initialized, failed), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not initialized.done():
                begun = "sent ui/initialize, but did not become ready" if self._said else "did not send ui/initialize"
                end = "its page shows an error" if failed.done() else f"waited {seconds:g} seconds"
                allowed = "" if self._said else f" Does its page load, and allow the origin {self._tab.origin}?"
                raise ViewFailed("\n".join([f"The view {begun} ({end}).{allowed}", *await self.complaints()]))
        finally:
            for task in (initialized, failed):
                task.cancel()
            await asyncio.gather(initialized, failed, return_exceptions=True)

    async def _read(self, apps: JSHandle) -> None:
        while True:
            try:
                items = await apps.evaluate("apps => apps.take()")
            except Error:
                return  # the page is closed
            for item in items:
                self._handle(apps, item)

    def _handle(self, apps: JSHandle, item: Mapping[str, Any]) -> None:
        kind = item["kind"]
        if kind == "wire":
            self._wire.add(item["direction"], item.get("message"), origin=item["origin"])
        elif kind == "initialize":
            self._said = item["params"]
        elif kind == "initialized":
            self._initialized.set()
        elif kind == "error":
            self._tab.complaints.append(item["text"])
        else:
            self._answers.receive(item["name"], item["params"])
            if kind == "request":
                task = asyncio.create_task(self._answer(apps, item["id"], item["name"], item["params"]))
                self._answering.add(task)
                task.add_done_callback(self._answering.discard)

    async def _answer(self, apps: JSHandle, number: int, name: str, params: dict[str, Any]) -> None:
        answer = await self._answers.of(name, params)
        if name == "request_display_mode" and "mode" in answer.get("result", {}):
            self.context["displayMode"] = answer["result"]["mode"]
        with suppress(Error):  # the page is closed
            await apps.evaluate("(apps, [id, answer]) => apps.answer(id, answer)", [number, answer])

    async def _note_storage(self) -> None:
        [frame, *_] = self._tab.page.main_frame.child_frames
        await self._tab.note_storage(frame)

    def _display_modes(self) -> tuple[str, list[str]]:
        return self.context["displayMode"], self.context["availableDisplayModes"]

    async def _close(self) -> None:
        tasks = [*self._answering, *([self._reader] if self._reader else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def app_bridge_host(
    browser: SharedBrowser, bundle: ServedBundle, options: FramedOptions, modules: str
) -> AsyncIterator[AppBridgeHost]:
    """Open a page with a host for the duration of the block; it frames nothing yet.

    The block may be entered and left in different tasks of one event loop, as fixtures are.

    Args:
        modules: The origin of the modules of `AppBridge`, from `serve_app_bridge`.

    Raises:
        ConfigError: The server does not offer MCP Apps.
    """
    bundle.check_offered(*view_dialects())
    async with (
        browser.tab(options.origin or bundle.app_host, bundle, PATH) as tab,
        async_playwright() as playwright,  # Playwright's objects belong to one loop: this one is the test's
    ):
        connected = await playwright.chromium.connect_over_cdp(browser.endpoint)
        page = next(page for page in connected.contexts[0].pages if page.url.endswith(PATH))
        host = AppBridgeHost(bundle, tab, page, options, browser, modules)
        try:
            yield host
        finally:
            await host._close()
