"""The headless Chromium of a build, which reaches nothing but the build's own web server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar

from mcpframe.kit.base.errors import BrowserGone, ChromiumMissing
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.browser.chromium import HOW, find_chromium
from mcpframe.kit.browser.devtools.browsers import OpenTab
from mcpframe.kit.browser.devtools.driven_page import DevToolsPage
from mcpframe.kit.browser.devtools.launch import StartedChromium, launch
from mcpframe.kit.browser.page_window import PageGone
from mcpframe.kit.bundle.snapshot.build_site import BuildSite, JobPage
from mcpframe.kit.web.serve import serve_app

Result = TypeVar("Result")

FAILED = "mcpframe: the page has failed"
"""The message in the console of a page that shows an error in place of its server."""
_SAY_FAILURE = f"""
addEventListener("DOMContentLoaded", () => {{
  const page = document.getElementById("mcpframe-page");
  const look = () => page.dataset.state === "failed" && console.log({FAILED!r});
  if (page) new MutationObserver(look).observe(page, {{ attributes: true }});
}});
"""
_AGENT = "a build of mcpframe"
_ARGUMENTS = (
    "--disable-field-trial-config",  # the same on every machine
    "--disable-back-forward-cache",  # a page's memory is of no use once the next job has begun
    "--disable-dev-shm-usage",  # small in containers
    "--disable-breakpad",
    "--disable-extensions",
    "--disable-component-extensions-with-background-pages",
    # V8 optimizes WebAssembly that runs for long, on another thread: a page of a build ends before that pays.
    "--js-flags=--wasm-tiering-budget=1000000000",
)


@dataclass(frozen=True)
class PageSettings:
    """The facts that a page reads from its browser.

    Attributes:
        width: The width of the page in CSS pixels.
        height: Its height.
        agent: The name of the browser; empty for its own.
    """

    width: int = 800
    height: int = 600
    agent: str = _AGENT


class NoBrowser(Exception):
    """No browser was found, or it does not start; the message has the remedy."""


class BuildPage(DevToolsPage):
    """A page of a build's browser, whose settings are the same on every machine.

    Args:
        browser: The browser.
        target: The id of its tab.
        context: The id of its browser context.
    """

    def __init__(self, browser: StartedChromium, target: str, context: str) -> None:
        super().__init__(OpenTab(browser.devtools, target))
        self._context = context
        self._browser = browser

    @classmethod
    async def open(cls, browser: StartedChromium, settings: PageSettings) -> BuildPage:
        """Open an empty page with a cache and stored data of its own.

        Raises:
            PageGone: The browser has ended, or its page does not answer.
        """
        try:
            answer = await browser.devtools.command("Target.createBrowserContext")
            context = answer["browserContextId"]
            tab = await browser.devtools.command("Target.createTarget", url="about:blank", browserContextId=context)
        except BrowserGone as error:
            raise PageGone(str(error)) from error
        page = cls(browser, tab["targetId"], context)
        async with page.opening():
            # Values that a page reads from its browser are in memory afterwards.
            size = {"width": settings.width, "height": settings.height, "deviceScaleFactor": 1, "mobile": False}
            if settings.agent:
                await page.command("Emulation.setUserAgentOverride", userAgent=settings.agent, acceptLanguage="en-US")
            await page.command("Emulation.setLocaleOverride", locale="en-US")
            await page.command("Emulation.setTimezoneOverride", timezoneId="UTC")
            await page.command("Emulation.setDeviceMetricsOverride", **size)
            await page.command("Page.addScriptToEvaluateOnNewDocument", source=_SAY_FAILURE)
        return page

    async def close(self) -> None:
        """Close the page with all its state."""
        await super().close()
        with suppress(BrowserGone):
            await self._browser.devtools.command("Target.disposeBrowserContext", browserContextId=self._context)


class Chromium:
    """The browser of a build. It starts on first use, and belongs to one thread, which has an event loop for it."""

    def __init__(self, *, is_shared: bool = False) -> None:
        """Create it without starting the browser.

        Args:
            is_shared: Whether all authors whose code runs in it trust each other.
        """
        self._is_shared = is_shared
        self._has_run_authors = False
        self.is_stopped = threading.Event()  # set by any thread
        self._stack = ExitStack()
        self._browser: StartedChromium | None = None
        self._page: BuildPage | None = None

    @cached_property
    def program(self) -> Path:
        """The browser's program.

        Raises:
            NoBrowser: None is installed; the message has the remedy.
        """
        try:
            program = find_chromium()
        except ChromiumMissing as error:
            raise NoBrowser(str(error)) from error
        if program is None:
            raise NoBrowser(HOW)
        return program

    @property
    def identity(self) -> str:
        """A string that differs between browsers, and changes when the browser is updated."""
        status = self.program.stat()
        return f"{self.program} {status.st_size} {status.st_mtime_ns}"

    @property
    def version(self) -> str:
        """The browser's version.

        Raises:
            NoBrowser: No browser is installed, or it does not start.
        """
        answer = self.run(self.started().devtools.command("Browser.getVersion"))
        return str(answer["product"]).rpartition("/")[2]

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Return the result of asynchronous work with the browser."""
        return self._runner.run(work)

    def started(self) -> StartedChromium:
        """Return the running browser.

        Raises:
            NoBrowser: No browser is installed, or it does not start.
        """
        browser = self._browser
        if browser is None or not self.run(_answers(browser)):
            self._browser = self._page = None
            if browser is not None:
                self.run(browser.close())
            try:
                browser = self._browser = self.run(self._launched(self.program))
            except BrowserGone as error:
                raise NoBrowser(str(error).rstrip(".")) from error
        return browser

    async def _launched(self, program: Path) -> StartedChromium:
        folder = Path(mkdtemp(dir=self._folder))  # an earlier browser may still write into its own
        return await launch(program, folder, addresses={}, arguments=[*_ARGUMENTS, *_only(self._site.origin)])

    @cached_property
    def _folder(self) -> Path:
        return self._stack.enter_context(scratch("build-browser"))

    @cached_property
    def _runner(self) -> asyncio.Runner:
        return self._stack.enter_context(asyncio.Runner())

    def page_for(self, *, own: bool) -> BuildPage:
        """Return the page for a step, without any state that an author's module left, unless the step is the author's.

        Args:
            own: Whether the author's code runs in it.
        """
        if self._has_run_authors and not own and not self._is_shared:
            self.forget()
        self._has_run_authors = self._has_run_authors or own
        return self.page()

    def page(self) -> BuildPage:
        """Return the page, shared by all steps: its process caches compiled code for the next step.

        Raises:
            NoBrowser: No browser is installed, or it does not start.
            PageGone: It has ended meanwhile.
        """
        if self._page is None or self._page.gone.done():
            self._page = self._opened()
        return self._page

    def forget(self) -> None:
        """Close the page with all its state."""
        page, self._page, self._has_run_authors = self._page, None, False
        if page is not None:
            self.run(page.close())

    def _opened(self) -> BuildPage:
        return self.run(BuildPage.open(self.started(), PageSettings()))

    @cached_property
    def _site(self) -> BuildSite:
        site = BuildSite()
        site.origin = self._stack.enter_context(serve_app(site)).origin
        return site

    def show(self, page: JobPage) -> str:
        """Serve a page in place of the previous one, and return the origin."""
        self._site.page = page
        return self._site.origin

    def close(self) -> None:
        """End the browser. It may have ended already, as Ctrl-C reaches it, too."""
        browser, self._browser, self._page = self._browser, None, None
        if browser is not None:
            self.run(browser.close())
        self._stack.close()
        for name in ("_folder", "_runner", "_site"):  # it may be used again
            self.__dict__.pop(name, None)


async def _answers(browser: StartedChromium) -> bool:
    """Return whether a browser is still there: nothing was read from it since the last work with it."""
    try:
        await browser.devtools.command("Browser.getVersion")
    except BrowserGone:
        return False
    return True


def _only(origin: str) -> list[str]:
    """Return Chromium's arguments for a browser that can reach one origin only.

    The page runs the author's code. All requests but those to its own server, and name lookups, go to a nonexistent
    proxy.
    """
    return [
        "--proxy-server=http://127.0.0.1:9",  # the port `discard`, which no browser connects to
        f"--proxy-bypass-list=<-loopback>;{origin.partition('://')[2]}",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    ]
